import { expect, test } from "bun:test";
import { ManualClock } from "@sluice/lib";
import { loadConfig } from "../config/index.ts";
import { createMetrics } from "../observe/index.ts";
import { openFlows } from "./streams.ts";

test("streams are opened when the logs of all networks have been told of, so that no client comes before", async () => {
  const env = { MASTER_KEY: "5e".repeat(32), UPSTREAMS_MAINNET: "a=http://a", ROLES: "gateway,ingest,streams" };
  const loaded = loadConfig({ mode: "serve", env });
  if (!loaded.ok) throw new Error("the configuration has faults");
  const clock = new ManualClock();
  const told = Promise.withResolvers<Disposable>();
  await using resources = new AsyncDisposableStack();
  const metrics = resources.use(createMetrics({}, { clock }));
  const silent = { info: () => undefined, warn: () => undefined, error: () => undefined, debug: () => undefined };
  let isOpen = false;
  const opening = openFlows(loaded.config, {
    chainLogs: { networks: ["mainnet"], follow: () => told.promise },
    stores: { ledger: { chainReads: {} } },
    ...{ clock, metrics, resources, log: silent },
    // What else a server has takes no part in this.
  } as never).then(() => {
    isOpen = true;
  });
  await new Promise((resolve) => setImmediate(resolve));
  expect(isOpen).toBe(false);
  told.resolve({ [Symbol.dispose]: () => undefined });
  await opening;
  expect(isOpen).toBe(true);
});
