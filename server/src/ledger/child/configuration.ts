import { childLimits } from "./limits.ts";

/**
 * The engine's configuration file. Sizes are for a gateway's own machine: with these the idle process keeps about
 * 50 MB of its own beside the pages of the library, and its background threads use about 3 ms of CPU a second.
 * fsync is on for every table: an INSERT is answered when its part is on disk.
 * `archives` is the one folder that copies are written to and read from; `users` is the file of `accessControl`.
 */
export function engineConfiguration(paths: { readonly archives: string; readonly users: string }): string {
  const entries: ReadonlyArray<readonly [string, string | number]> = [
    ["timezone", "UTC"],
    ["max_server_memory_usage", childLimits.engineMemoryBytesMax],
    ["mark_cache_size", 64 * 1024 * 1024],
    ["index_mark_cache_size", 16 * 1024 * 1024],
    ["primary_index_cache_size", 64 * 1024 * 1024],
    ["uncompressed_cache_size", 0],
    ["query_condition_cache_size", 8 * 1024 * 1024],
    ["compiled_expression_cache_size", 16 * 1024 * 1024],
    ["mmap_cache_size", 128],
    ["background_pool_size", 2],
    ["background_schedule_pool_size", 1],
    ["background_schedule_pool_initial_size", 1],
    ["max_thread_pool_size", 256],
    ["max_thread_pool_free_size", 8],
  ];
  const lines = entries.map(([name, value]) => `  <${name}>${value}</${name}>`);
  return [
    "<clickhouse>",
    "  <logger><level>none</level></logger>",
    ...lines,
    "  <merge_tree><fsync_after_insert>1</fsync_after_insert><fsync_part_directory>1</fsync_part_directory></merge_tree>",
    `  <backups><allowed_path>${escaped(paths.archives)}</allowed_path></backups>`,
    `  <users_config>${escaped(paths.users)}</users_config>`,
    "</clickhouse>",
    "",
  ].join("\n");
}

const escaped = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
