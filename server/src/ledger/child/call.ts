import { raise } from "./exceptions.ts";
import { childLimits } from "./limits.ts";

/** One request of ClickHouse's HTTP interface, read from URL and headers; the body follows. */
export interface Call {
  readonly queryId: string;
  /** The statement, or its beginning, from the URL; "" without one. */
  readonly query: string;
  readonly database: string | null;
  readonly defaultFormat: string | null;
  readonly roles: readonly string[];
  readonly settings: Map<string, string>;
  readonly parameters: Map<string, string>;
  readonly gzipAnswer: boolean;
  /** The answer begins when the statement has ended, so that its status and its figures are those of the end. */
  readonly waitsForEnd: boolean;
}

/** Names in the URL that are neither settings nor parameters. */
const reserved = new Set([
  "query",
  "database",
  "default_format",
  "query_id",
  "role",
  "user",
  "password",
  "quota_key",
  "buffer_size",
  "wait_end_of_query",
]);
const refused = new Set(["session_id", "session_timeout", "session_check", "compress", "decompress", "stacktrace"]);
const nameForm = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;

/** What every statement starts from; a request may change all of it but the time limit's ceiling. */
const baseSettings: ReadonlyArray<readonly [string, string]> = [
  ["output_format_json_quote_64bit_integers", "1"],
  ["implicit_select", "0"],
  ["max_execution_time", String(childLimits.executionSecondsDefault)],
  ["max_memory_usage", String(childLimits.statementMemoryBytesMax)],
];

function readOne(call: Call, roles: string[], name: string, value: string): void {
  if (refused.has(name)) throw raise("NOT_IMPLEMENTED", `'${name}' is not supported by the embedded ledger`);
  if (name === "role") roles.push(value);
  if (reserved.has(name)) return;
  if (!nameForm.test(name)) throw raise("BAD_ARGUMENTS", `'${name.slice(0, 80)}' is no name of a setting`);
  if (name.startsWith("param_")) call.parameters.set(name.slice("param_".length), value);
  else call.settings.set(name, value);
}

/** Keeps the time limit of a statement within (0, ceiling]; "0" means none to ClickHouse, and is the default here. */
function boundExecutionTime(settings: Map<string, string>): void {
  const seconds = Number(settings.get("max_execution_time"));
  if (!(seconds > 0)) settings.set("max_execution_time", String(childLimits.executionSecondsDefault));
  else if (seconds > childLimits.executionSecondsMax) {
    settings.set("max_execution_time", String(childLimits.executionSecondsMax));
  }
}

/**
 * Reads a request's URL and headers. `freshId` names the call when the caller has not.
 * Throws EngineException: sessions, native compression and malformed names are refused.
 */
export function readCall(request: Request, url: URL, freshId: () => string): Call {
  const get = request.method === "GET";
  const roles: string[] = [];
  const call: Call = {
    queryId: url.searchParams.get("query_id") || freshId(),
    query: url.searchParams.get("query") ?? "",
    database: url.searchParams.get("database") || request.headers.get("x-clickhouse-database") || null,
    defaultFormat: url.searchParams.get("default_format") || request.headers.get("x-clickhouse-format") || null,
    roles,
    settings: new Map(baseSettings),
    parameters: new Map(),
    gzipAnswer: false,
    waitsForEnd: url.searchParams.get("wait_end_of_query") === "1",
  };
  for (const [name, value] of url.searchParams) readOne(call, roles, name, value);
  boundExecutionTime(call.settings);
  // As in ClickHouse, a GET cannot change anything.
  if (get && (call.settings.get("readonly") ?? "0") === "0") call.settings.set("readonly", "2");
  const wantsCompression = ["1", "true"].includes(call.settings.get("enable_http_compression") ?? "0");
  const gzipAnswer = wantsCompression && /\bgzip\b/i.test(request.headers.get("accept-encoding") ?? "");
  return { ...call, gzipAnswer };
}
