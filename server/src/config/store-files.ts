import { readFileSync } from "node:fs";
import type { Config } from "./config.ts";
import type { ConfigFault } from "./faults.ts";
import { show } from "./masking.ts";
import { readRedisUrl } from "./redis-url.ts";

/** A file that the URL of a store names. */
interface NamedFile {
  readonly key: "REDIS_URL";
  readonly path: string;
}

function namedFiles({ stores }: Config): NamedFile[] {
  const redis = stores.redisUrl === null ? null : readRedisUrl(stores.redisUrl);
  const redisCa = redis?.ok === true ? (redis.value.tls?.caFile ?? null) : null;
  return redisCa === null ? [] : [{ key: "REDIS_URL", path: redisCa }];
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
