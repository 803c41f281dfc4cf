import { expect, test } from "bun:test";
import { loadConfig } from "./load.ts";

const shared = {
  MASTER_KEY: "5e".repeat(32),
  DATABASE_URL: "postgres://a/b",
  CLICKHOUSE_URL: "http://a:8123/b",
  REDIS_URL: "redis://a",
};

/** The faults of a configuration, as key and what is expected. */
function faultsOf(env: Record<string, string>, mode: "serve" | "dev" = "serve"): string[] {
  const outcome = loadConfig({ mode, env });
  return outcome.ok ? [] : outcome.faults.map(({ key, expected }) => `${key}: ${expected}`);
}

test("several workers need every store that they meet in, and each that is missing is named with the reason", () => {
  expect(faultsOf({ ...shared, WORKERS: "4" })).toEqual([]);
  for (const key of ["DATABASE_URL", "CLICKHOUSE_URL", "REDIS_URL"] as const) {
    const { [key]: _missing, ...others } = shared;
    const faults = faultsOf({ ...others, WORKERS: "4" });
    expect(faults).toEqual([expect.stringMatching(new RegExp(`^${key}: .*WORKERS is 4`))]);
    expect(faultsOf({ ...others, WORKERS: "1" })).toEqual([]);
  }
});

test("workers serve the gateway: without that role there are none", () => {
  expect(faultsOf({ ...shared, WORKERS: "2", ROLES: "oracle" })).toEqual([
    "WORKERS: 1, since workers serve the gateway, and ROLES has none",
  ]);
  expect(faultsOf({ ...shared, WORKERS: "2", ROLES: "gateway" })).toEqual([]);
});

test("dev is one process, whatever is set", () => {
  expect(faultsOf({ WORKERS: "4" }, "dev")).toEqual([]);
});
