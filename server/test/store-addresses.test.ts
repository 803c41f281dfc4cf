/** Three whole processes on one PostgreSQL, Redis and ledger, each of which reaches them by other addresses. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually, freePort } from "@sluice/lib/testing";
import { redisBinary, startRedis } from "../src/hot/testing/redis-process.ts";
import { migrations } from "../src/ledger/migrations.ts";
import { newAuthority } from "../src/net/tls/testing/private-authority.ts";
import {
  createPostgres,
  giveToServer,
  pgbouncerBinary,
  postgresPrograms,
  serverDirectory,
  startPgbouncer,
  startPostgres,
} from "../src/state/testing/postgres-process.ts";
import { type Gateway, sluice, startGateway } from "./testing/gateway.ts";
import { startLedgerServer } from "./testing/ledger-server.ts";
import { runSluice } from "./testing/network.ts";
import { ask, freshKey, spend } from "./testing/replicas.ts";
import { startStubNode } from "./testing/stub-node.ts";

const isRun = postgresPrograms !== null && pgbouncerBinary !== null && redisBinary !== null;
if (!isRun)
  console.warn("NOT RUN: three processes by addresses of several forms (no initdb, pgbouncer or redis-server)");

const resources = new AsyncDisposableStack();
/** What the three have in common, and what each has of its own. */
let common: Record<string, string> = {};
let addresses: readonly Record<string, string>[] = [];
const gateways: Gateway[] = [];

function gateway(index: number): Gateway {
  const found = gateways[index];
  if (found === undefined) throw new Error(`there is no process ${index}`);
  return found;
}

const environmentOf = (index: number): Record<string, string> => ({ ...common, ...addresses[index] });

/** The addresses of one PostgreSQL and one Redis, as three operators might write them. */
async function startStores(directory: string): Promise<readonly Record<string, string>[]> {
  const authority = await newAuthority(directory);
  const { certificate, key } = await authority.server("stores", ["127.0.0.1"]);
  const redisTls = ["--tls-cert-file", certificate, "--tls-key-file", key, "--tls-ca-cert-file", authority.caFile];
  const [port, tlsPort, socket] = [await freePort(), await freePort(), join(directory, "redis.sock")];
  const listening = ["--bind", "127.0.0.1", "--port", String(port), "--tls-port", String(tlsPort)];
  const user = ["--user", "sluice", "on", ">se,cr/et", "~sluice:*", "&sluice:*", "+@all"];
  const own = [...listening, "--unixsocket", socket, "--tls-auth-clients", "no", ...redisTls, ...user];
  resources.use(await startRedis(directory, own));

  for (const path of [certificate, key]) giveToServer(path);
  const data = serverDirectory(directory, "postgres");
  createPostgres(data);
  const tls = ["ssl=on", `ssl_cert_file=${certificate}`, `ssl_key_file=${key}`, "max_connections=80"];
  const server = resources.use(await startPostgres(data, tls));
  await server.execute("create database sluice");
  const pooler = { port: server.port, connections: 10 };
  const bouncer = resources.use(await startPgbouncer(serverDirectory(directory, "pgbouncer"), pooler));
  const verified = `sslmode=verify-full&sslrootcert=${authority.caFile}`;
  return [
    {
      DATABASE_URL: `postgres://postgres@127.0.0.1:1,127.0.0.1:${server.port}/sluice?${verified}`,
      REDIS_URL: `rediss://127.0.0.1:${tlsPort}/3?ca_file=${authority.caFile}`,
    },
    {
      DATABASE_URL: `postgres://postgres@127.0.0.1:${bouncer.port}/sluice`,
      REDIS_URL: `redis+unix://${socket}?db=3`,
    },
    {
      DATABASE_URL: `postgres://postgres@/sluice?host=${data}&port=${server.port}`,
      REDIS_URL: `redis://sluice:se%2Ccr%2Fet@127.0.0.1:${port}/3`,
    },
  ];
}

if (isRun) {
  beforeAll(async () => {
    const directory = mkdtempSync(join(tmpdir(), "sluice-addresses-"));
    chmodSync(directory, 0o755);
    resources.defer(() => rmSync(directory, { recursive: true, force: true }));
    addresses = await startStores(directory);
    const ledger = resources.use(await startLedgerServer());
    const node = startStubNode();
    resources.defer(() => node.stop(true));
    common = {
      CLICKHOUSE_URL: ledger.url,
      MASTER_KEY: "5e".repeat(32),
      NETWORK_DEFAULT: "devnet",
      ORACLE: "off",
      GENESIS_ALLOW_UNKNOWN: "stub",
      UPSTREAMS_DEVNET: `stub=http://127.0.0.1:${node.port};ws=ws://127.0.0.1:${node.port}`,
    };
    const homes = addresses.map((_, index) => mkdtempSync(join(directory, `home-${index}-`)));
    // All at once, on an empty database and an empty ledger: each migration is applied by one of them.
    gateways.push(...(await Promise.all(homes.map((home, index) => startGateway(home, environmentOf(index))))));
    for (const each of gateways) {
      await eventually("three replicas", async () => (await each.metric("sluice_replicas")) === 3);
    }
  }, 180_000);

  afterAll(async () => {
    await Promise.all(gateways.map((each) => each.end()));
    await resources.disposeAsync();
  }, 60_000);

  test("an address that cannot be connected is refused with a sentence, by config check and at the start", async () => {
    const wrong: readonly (readonly [string, string, string])[] = [
      ["REDIS_URL", "redis://a:7001,redis://b:7002", "one host: several are redis+cluster://"],
      ["CLICKHOUSE_URL", "http://a,b/s", "CLICKHOUSE_CLUSTER"],
    ];
    const options = (env: Record<string, string>) => ({ directory: gateway(0).directory, env });
    const checks = wrong.map(([key, url]) => runSluice(["config", "check"], options({ ...common, [key]: url })));
    for (const [index, { code, out, err }] of (await Promise.all(checks)).entries()) {
      expect(code).toBe(1);
      expect(out + err).toContain(wrong[index]?.[2] ?? "");
    }
    const [key, url, sentence] = wrong[0] ?? ["", "", ""];
    const { code, out, err } = await runSluice(["serve"], options({ ...environmentOf(0), [key]: url }));
    expect(code).toBe(1);
    expect(out + err).toContain(sentence);
    expect(out + err).not.toMatch(/^\s+at /m);
  }, 60_000);

  test("each migration of the ledger was applied once, and every line of the logs is a record", async () => {
    const records = gateways.flatMap(({ said }) =>
      said()
        .trim()
        .split("\n")
        .map((line): { msg?: string; number?: number } => JSON.parse(line)),
    );
    const applied = records.filter(({ msg }) => msg === "ledger migration applied").map(({ number = 0 }) => number);
    expect(applied.toSorted((one, other) => one - other)).toEqual(migrations.map(({ number }) => number));
  });

  test("a key that one process makes works at all, is counted once by all, and is refused by all when it is revoked", async () => {
    const { key, keyId } = await freshKey(gateway(0), environmentOf(0), 1_000);
    for (const each of gateways) for (let calls = 0; calls < 4; calls += 1) expect(await ask(each, key)).toBe(200);
    for (const each of gateways) {
      await eventually("the same bill at each", async () => {
        const response = await fetch(`${each.url}/api/v1/usage?group_by=key`, { headers: { "x-api-key": key } });
        const { items } = (await response.json()) as { items: { requests: number }[] };
        return items[0]?.requests === 12;
      });
    }
    await sluice(gateway(2), environmentOf(2), "keys", "revoke", keyId);
    for (const each of gateways) {
      await eventually("the refusal", async () => (await ask(each, key)) === 401);
    }
  }, 90_000);

  test("three processes together give the rate of one bucket", async () => {
    const rate = 40;
    const { key } = await freshKey(gateway(1), environmentOf(1), rate);
    const { answered, refused, other, seconds } = await spend(gateways, key, 3_000);
    expect(answered).toBeLessThanOrEqual((rate * 2 + rate * seconds) * 1.001 + 1);
    expect(answered).toBeGreaterThan((rate * 2 + rate * seconds) * 0.8);
    expect([refused > 0, other]).toEqual([true, 0]);
  }, 60_000);

  test("one that is killed under load takes no credits with it, and the others go on", async () => {
    const { key, accountId } = await freshKey(gateway(2), environmentOf(2), 100_000);
    const counts = { asked: 0, answered: 0, after: 0, other: 0 };
    const killed = gateway(1);
    const loop = async (each: Gateway): Promise<void> => {
      while (counts.after < 200) {
        counts.asked += 1;
        const status = await ask(each, key).catch(() => null);
        if (status === null && each === killed) return;
        if (status !== 200) counts.other += 1;
        counts.answered += 1;
        if (each !== killed && killed.process.killed) counts.after += 1;
        if (counts.answered === 400) killed.process.kill("SIGKILL");
      }
    };
    await Promise.all(gateways.flatMap((each) => [loop(each), loop(each)]));
    await killed.process.exited;
    expect(counts.other).toBe(0);
    gateways[1] = await startGateway(killed.directory, environmentOf(1));
    // The others give back what they hold when they end: what was served is charged then, and nothing that was not.
    await Promise.all([gateway(0).end(), gateway(2).end()]);
    const settled = await eventually("the settlement", async () => {
      const used = Number((await sluice(gateway(1), environmentOf(1), "accounts", "credits", accountId)).used);
      return used <= counts.asked && used;
    });
    expect(settled).toBeGreaterThanOrEqual(counts.answered);
  }, 120_000);
}
