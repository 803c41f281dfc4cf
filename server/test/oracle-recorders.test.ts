/** Two oracle processes on one ledger: one records, the other goes on when it ends. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { eventually } from "@sluice/lib/testing";
import { newSchema, type Schema } from "../src/state/testing/schema.ts";
import { type LedgerServer, startLedgerServer } from "./testing/ledger-server.ts";
import { type Network, startNetwork } from "./testing/network.ts";

setDefaultTimeout(90_000);

const databaseUrl = Bun.env["DATABASE_URL"] ?? "";
if (databaseUrl === "") console.warn("NOT RUN: oracles that share a ledger, on PostgreSQL (DATABASE_URL is not set)");

let schema: Schema;
let ledger: LedgerServer;
let one: Network;
let other: Network;

async function metric({ dev }: Network, name: string): Promise<number> {
  const text = await (await fetch(`${dev.doors["metrics"]}`)).text();
  const start = `sluice_lease_${name}{network="devnet",job="oracle-recorder"} `;
  return Number(
    text
      .split("\n")
      .find((line) => line.startsWith(start))
      ?.slice(start.length),
  );
}

async function ask(sql: string): Promise<number> {
  const { origin, username, password } = new URL(ledger.url);
  const headers = { Authorization: `Basic ${btoa(`${username}:${password}`)}` };
  const answer = await fetch(origin, { method: "POST", headers, body: sql });
  const text = await answer.text();
  if (!answer.ok) throw new Error(text);
  return Number(text);
}

const newestRound = (): Promise<number> =>
  ask("select toUnixTimestamp64Milli(max(at)) from sluice.oracle_rounds_by_second");

if (databaseUrl !== "") {
  beforeAll(async () => {
    [schema, ledger] = await Promise.all([newSchema(databaseUrl), startLedgerServer()]);
    const env = { DATABASE_URL: schema.url, CLICKHOUSE_URL: ledger.url };
    one = await startNetwork({ env });
    other = await startNetwork({ env });
  }, 90_000);
  afterAll(async () => {
    await Promise.all([one, other].map((network) => network?.[Symbol.asyncDispose]()));
    await ledger?.[Symbol.asyncDispose]();
    await schema?.[Symbol.asyncDispose]();
  }, 60_000);

  test("one holds the lease, and what both see is stored once", async () => {
    await eventually("prices are stored", async () => (await newestRound()) > 0);
    const before = await newestRound();
    // Two batches of whoever writes.
    await eventually("more prices", async () => (await newestRound()) > before + 11_000, 40_000);
    expect([await metric(one, "held"), await metric(other, "held")]).toEqual([1, 0]);
    // Of a source and a symbol one tick in ten seconds is stored, by each process that records.
    const ticks = "select count() c from sluice.oracle_ticks group by source, symbol, intDiv(toUnixTimestamp(at), 10)";
    expect(await ask(`select max(c) from (${ticks})`)).toBe(1);
  });

  test("when it is killed the other one records", async () => {
    await one.end("SIGKILL");
    const killedAt = Date.now();
    await eventually("the other one holds the lease", async () => (await metric(other, "held")) === 1);
    expect([await metric(other, "epoch"), await metric(other, "takeovers_total")]).toEqual([2, 1]);
    await eventually("prices of after the kill", async () => (await newestRound()) > killedAt + 1_000, 40_000);
  });
}
