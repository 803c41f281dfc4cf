/**
 * What an operator may write into CLICKHOUSE_URL, from the environment to the requests that servers get. The servers
 * are stand-ins: what ClickHouse makes of the requests is not shown here.
 */

import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Serial, systemClock } from "@sluice/lib";
import { loadConfig } from "../config/index.ts";
import { newAuthority } from "../net/tls/testing/private-authority.ts";
import { type Ledger, type LedgerDependencies, openLedger } from "./ledger.ts";
import { migrations } from "./migrations.ts";
import { type FakeClickhouse, startFakeClickhouse } from "./testing/fake-clickhouse.ts";
import { recordingLog } from "./testing/ledger-directory.ts";

const directory = mkdtempSync(join(tmpdir(), "sluice-clickhouse-"));
afterAll(() => rmSync(directory, { recursive: true }));

/** Opens the ledger of an environment, as the server does. */
async function openFrom(
  environment: Record<string, string>,
  dependencies: Partial<LedgerDependencies> = {},
): Promise<Ledger> {
  const outcome = loadConfig({ mode: "dev", env: environment });
  if (!outcome.ok) throw new Error(JSON.stringify(outcome.faults));
  const { clickhouseUrl, clickhouseCluster } = outcome.config.stores;
  const options = { directory, clickhouseUrl, cluster: clickhouseCluster };
  return openLedger(options, { clock: systemClock, log: recordingLog(), ...dependencies });
}

const row = { at: Date.UTC(2026, 10, 5), request_id: "req_1", account_id: "a" };
const insertsOf = ({ statements }: FakeClickhouse) => statements.filter(({ sql }) => sql.startsWith("INSERT INTO req"));

test("one server gets user, password and database, and INSERTs without a quorum", async () => {
  await using server = startFakeClickhouse();
  const url = `http://us%40er:p%2Fw@127.0.0.1:${server.port}/facts`;
  await using ledger = await openFrom({ CLICKHOUSE_URL: url });
  await ledger.insert("requests", [row]);
  const [insert] = insertsOf(server);
  expect(insert?.user).toBe("us@er:p/w");
  expect(insert?.settings.get("database")).toBe("facts");
  expect(insert?.settings.get("async_insert")).toBe("0");
  expect(insert?.settings.has("insert_quorum")).toBe(false);
});

test("a server of a cluster gets INSERTs that most replicas must have before they are answered", async () => {
  await using server = startFakeClickhouse();
  const url = `http://127.0.0.1:${server.port}`;
  await using ledger = await openFrom({ CLICKHOUSE_URL: url, CLICKHOUSE_CLUSTER: "main" });
  await ledger.insert("requests", [row]);
  const [insert] = insertsOf(server);
  expect(insert?.settings.get("insert_quorum")).toBe("auto");
  expect(Number(insert?.settings.get("insert_quorum_timeout"))).toBeGreaterThan(0);
});

test("https trusts the authority that is named, and no other", async () => {
  const authority = await newAuthority(directory);
  const { certificate, key } = await authority.server("clickhouse", ["127.0.0.1"]);
  const tls = { cert: readFileSync(certificate, "utf8"), key: readFileSync(key, "utf8") };
  await using server = startFakeClickhouse({ tls });
  const url = `https://127.0.0.1:${server.port}/facts`;
  await using ledger = await openFrom({ CLICKHOUSE_URL: `${url}?ca_file=${authority.caFile}` });
  expect(await ledger.ping()).toBe(true);
  await expect(openFrom({ CLICKHOUSE_URL: url })).rejects.toThrow(/certificate/);
});

/** Servers of one cluster: what one records of migrations, all of them know. */
function cluster(count: number): FakeClickhouse[] {
  const shared: object[] = [];
  return Array.from({ length: count }, () => startFakeClickhouse({ migrations: shared }));
}

const urlOf = (servers: readonly { readonly port: number }[]): Record<string, string> => ({
  CLICKHOUSE_URL: `http://${servers.map(({ port }) => `127.0.0.1:${port}`).join(",")}/facts`,
  CLICKHOUSE_CLUSTER: "main",
});

test("of several servers the first that can be reached is used", async () => {
  const [server] = cluster(1);
  if (server === undefined) throw new Error("no server");
  await using _server = server;
  await using ledger = await openFrom(urlOf([{ port: 1 }, server]));
  await ledger.insert("requests", [row]);
  expect(insertsOf(server)).toHaveLength(1);
});

test("an INSERT whose server goes away before it answers is repeated at the next, under its token", async () => {
  const [first, second] = cluster(2);
  if (first === undefined || second === undefined) throw new Error("no servers");
  await using _first = first;
  await using _second = second;
  await using ledger = await openFrom(urlOf([first, second]));
  first.breaksInserts = true;
  await ledger.insert("requests", [row]);
  const [lost] = insertsOf(first);
  const [repeated, ...rest] = insertsOf(second);
  const token = "insert_deduplication_token";
  expect(repeated?.settings.get(token)).toBe(lost?.settings.get(token) ?? "none");
  expect(rest).toEqual([]);
  await ledger.insert("requests", [row]);
  expect(insertsOf(first)).toHaveLength(1);
  expect(insertsOf(second)).toHaveLength(2);
});

test("a server that takes connections and answers nothing is left within seconds", async () => {
  const [first, second] = cluster(2);
  if (first === undefined || second === undefined) throw new Error("no servers");
  await using _first = first;
  await using _second = second;
  first.isSilent = true;
  await using ledger = await openFrom(urlOf([first, second]));
  await ledger.insert("requests", [row]);
  expect(insertsOf(second)).toHaveLength(1);
}, 20_000);

test("processes that start together in their turns apply each migration once", async () => {
  const [server] = cluster(1);
  if (server === undefined) throw new Error("no server");
  await using _server = server;
  const turns = new Serial();
  const inTurn = (work: () => Promise<void>): Promise<void> => turns.run(work);
  const ledgers = await Promise.all([1, 2, 3].map(() => openFrom(urlOf([server]), { inTurn })));
  expect(server.migrations).toHaveLength(migrations.length);
  for (const ledger of ledgers) await ledger[Symbol.asyncDispose]();
});
