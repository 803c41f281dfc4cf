import { expect, test } from "bun:test";
import { ManualClock } from "@sluice/lib";
import { createLog, createMetrics, createServerEvents } from "../observe/index.ts";
import { StoreWatch } from "./store-watch.ts";

/** Stores that answer, fail or keep silent as a test says. */
function boot() {
  const clock = new ManualClock(1_790_000_000_000);
  const lines: { level: string; msg: string; reason?: string }[] = [];
  const log = createLog({ level: "info", destination: { write: (line) => lines.push(JSON.parse(line)) } });
  const metrics = createMetrics({}, { clock });
  const failures = new Map<string, Error>();
  const silent = new Set<string>();
  const store = (name: string, driver: string) => ({
    driver,
    reach: async () => {
      if (silent.has(name)) await new Promise(() => undefined);
      const failure = failures.get(name);
      if (failure !== undefined) throw new Error("not available", { cause: failure });
    },
  });
  const stores = {
    state: store("state", "postgres"),
    ledger: store("ledger", "clickhouse"),
    hot: store("hot", "redis"),
  };
  const watch = new StoreWatch(stores, { clock, events: createServerEvents({ log, metrics }) });
  const second = async (): Promise<void> => {
    clock.advance(1_000);
    for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
  };
  return { clock, lines, metrics, failures, silent, watch, second };
}

test("a store that does not answer is told once, with the cause, and once again when it is back; metrics follow", async () => {
  const { clock, lines, metrics, failures, watch, second } = boot();
  await second();
  failures.set("state", new Error("connect ECONNREFUSED"));
  const lostMs = clock.now();
  for (let at = 0; at < 10; at += 1) await second();
  expect(lines.map(({ level, msg }) => `${level} ${msg}`)).toEqual(["warn a store does not answer"]);
  expect(lines[0]).toMatchObject({ store: "state", driver: "postgres", reason: "connect ECONNREFUSED" });
  expect(watch.conditions.map(({ store, isUp }) => [store, isUp])).toEqual([
    ["state", false],
    ["ledger", true],
    ["hot", true],
  ]);
  expect(watch.conditions[0]).toMatchObject({ sinceMs: lostMs + 1_000, lastFailure: { atMs: clock.now() } });
  const text = await metrics.render();
  expect(text).toContain('sluice_store_up{store="state",driver="postgres"} 0\n');
  expect(text).toContain('sluice_store_up{store="ledger",driver="clickhouse"} 1\n');
  expect(text).toContain('sluice_store_failures_total{store="state"} 10\n');
  failures.clear();
  for (let at = 0; at < 3; at += 1) await second();
  expect(lines.map(({ msg }) => msg)).toEqual(["a store does not answer", "a store answers again"]);
  expect(watch.conditions[0]).toMatchObject({ isUp: true, lastFailure: { reason: "connect ECONNREFUSED" } });
  await metrics[Symbol.asyncDispose]();
});

test("a store that keeps silent keeps no other from being asked", async () => {
  const { metrics, silent, failures, watch, second } = boot();
  silent.add("ledger");
  for (let at = 0; at < 6; at += 1) await second();
  failures.set("hot", new Error("away"));
  await second();
  expect(watch.conditions.map(({ store, isUp }) => [store, isUp])).toEqual([
    ["state", true],
    ["ledger", true],
    ["hot", false],
  ]);
  await metrics[Symbol.asyncDispose]();
});
