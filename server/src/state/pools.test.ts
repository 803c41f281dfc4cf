import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { systemClock, systemRandom } from "@sluice/lib";
import { eventually } from "@sluice/lib/testing";
import { Client } from "pg";
import { createLog, createMetrics } from "../observe/index.ts";
import { createStateEvents } from "./events.ts";
import { openState } from "./open.ts";
import { usualPools } from "./pools.ts";
import type { State } from "./records.ts";
import { newSchema, type Schema } from "./testing/schema.ts";

setDefaultTimeout(60_000);

const databaseUrl = Bun.env["DATABASE_URL"] ?? "";
if (databaseUrl === "") console.warn("NOT RUN: pools of connections to PostgreSQL (DATABASE_URL is not set)");

if (databaseUrl !== "") {
  let schema: Schema;
  let state: State;
  let blocker: Client;
  const metrics = createMetrics({}, { clock: systemClock });
  const log = createLog({ level: "silent" });
  const pools = { ...usualPools, unknown_keys: { ...usualPools.unknown_keys, statementTimeoutMs: 500 } };

  /** The number of a metric of one pool. */
  async function figure(name: string, pool: string): Promise<number> {
    const line = new RegExp(`^${name}\\{pool="${pool}"\\} (\\S+)$`, "m").exec(await metrics.render());
    return Number(line?.[1]);
  }

  beforeAll(async () => {
    schema = await newSchema(databaseUrl);
    state = await openState(
      { directory: "", databaseUrl: schema.url, pools },
      { clock: systemClock, random: systemRandom, log, events: createStateEvents({ metrics }) },
    );
    blocker = new Client({ connectionString: schema.url });
    await blocker.connect();
  });
  afterAll(async () => {
    await blocker?.end();
    await state?.[Symbol.asyncDispose]();
    await metrics[Symbol.asyncDispose]();
    await schema?.[Symbol.asyncDispose]();
  });

  test("with the table of keys locked and look-ups of made-up keys waiting, beats, fenced writes and credits go on", async () => {
    const { id } = await state.accounts.create({ name: "in use" });
    const lease = await state.leases.take("test-lease", "holder", null);
    if (lease === null) throw new Error("the lease is to be had");
    await blocker.query("begin; lock table api_keys in access exclusive mode");
    const flood = Array.from({ length: 40 }, (_, at) =>
      state.keys.findByHash(at.toString(16).padStart(64, "0"), { isKnown: false }).then(
        () => "found",
        (error: { code: string }) => error.code,
      ),
    );
    await eventually("the look-ups hold their pool", async () => {
      return (await figure("sluice_database_pool_connections_in_use", "unknown_keys")) === 3;
    });
    expect(await figure("sluice_database_pool_waiting", "unknown_keys")).toBeGreaterThan(0);
    for (let beat = 0; beat < 20; beat += 1) expect(await state.leases.beat(lease)).toBe(true);
    await state.engine.of("mainnet").under(lease).cursors.set("place", "1");
    expect(await state.credits.lease(id, "2026-11", 5n, 100n)).toBe(5n);
    // None is found, and none outlives its time although the lock does.
    const outcomes = await Promise.all(flood);
    expect(outcomes.filter((outcome) => outcome !== "OVERLOADED" && outcome !== "STORE_UNAVAILABLE")).toEqual([]);
    const waiting = "select count(*)::int as n from pg_locks where not granted and relation = 'api_keys'::regclass";
    expect((await blocker.query(waiting)).rows).toEqual([{ n: 0 }]);
    await blocker.query("rollback");
    expect(await state.keys.findByHash("0".repeat(64), { isKnown: false })).toBeNull();
    expect(await figure("sluice_database_pool_connections_in_use", "unknown_keys")).toBe(0);
    expect(await figure("sluice_database_pool_max_connections", "unknown_keys")).toBe(3);
  });
}
