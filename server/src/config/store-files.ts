import { readFileSync } from "node:fs";
import { parseClickhouseUrl } from "./clickhouse-url.ts";
import type { Config } from "./config.ts";
import type { ConfigFault } from "./faults.ts";
import { parseLogUrl } from "./log-url.ts";
import { show } from "./masking.ts";
import { parsePostgresUrl } from "./postgres-url.ts";
import { parseRedisUrl } from "./redis-url.ts";

/** A file that the URL of a store names. */
interface NamedFile {
  readonly key: "CLICKHOUSE_URL" | "DATABASE_URL" | "LOG_URL" | "REDIS_URL";
  readonly path: string;
}

function namedFiles({ stores }: Config): NamedFile[] {
  const log = stores.log.url === null ? null : parseLogUrl(stores.log.url).tls;
  const redis = stores.redisUrl === null ? null : parseRedisUrl(stores.redisUrl).tls;
  const postgres = stores.databaseUrl === null ? null : parsePostgresUrl(stores.databaseUrl).tls;
  const clickhouse = stores.clickhouseUrl === null ? null : parseClickhouseUrl(stores.clickhouseUrl);
  const named: readonly (readonly [NamedFile["key"], string | null | undefined])[] = [
    ["DATABASE_URL", postgres?.rootFile],
    ["DATABASE_URL", postgres?.certificateFile],
    ["DATABASE_URL", postgres?.keyFile],
    ["CLICKHOUSE_URL", clickhouse?.caFile],
    ["LOG_URL", log?.caFile],
    ["REDIS_URL", redis?.caFile],
  ];
  return named.flatMap(([key, path]) => (path === null || path === undefined ? [] : [{ key, path }]));
}

function holdsPem(path: string): boolean {
  try {
    return readFileSync(path, "utf8").includes("-----BEGIN ");
  } catch {
    return false;
  }
}

/** Faults of the files with certificates that stores' URLs name: a connection would fail for want of them. */
export function checkStoreFiles(config: Config): ConfigFault[] {
  return namedFiles(config)
    .filter(({ path }) => !holdsPem(path))
    .map(({ key, path }) => {
      const expected = "the path of a readable PEM file";
      return { key, source: "rule", given: `the file ${show(path, "open")}`, expected, suggestion: null };
    });
}
