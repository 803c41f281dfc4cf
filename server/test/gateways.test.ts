/** Two whole gateways on one PostgreSQL and one Redis, which is reached through a proxy that can be cut. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually } from "@sluice/lib/testing";
import { newSchema } from "../src/state/testing/schema.ts";
import { type CutProxy, startCutProxy } from "./testing/cut-proxy.ts";
import { type Gateway, sluice, startGateway } from "./testing/gateway.ts";
import { startLedgerServer } from "./testing/ledger-server.ts";
import { post } from "./testing/network.ts";
import { ask, freshKey, heightCall, spend } from "./testing/replicas.ts";
import { startStubNode } from "./testing/stub-node.ts";

const databaseUrl = Bun.env["DATABASE_URL"] ?? "";
const redisUrl = Bun.env["REDIS_URL"] ?? "";
const isRun = databaseUrl !== "" && redisUrl !== "";
if (!isRun) console.warn("NOT RUN: two gateways on PostgreSQL and Redis (DATABASE_URL or REDIS_URL is not set)");

const resources = new AsyncDisposableStack();
let environment: Record<string, string> = {};
let proxy: CutProxy;
let first: Gateway;
let second: Gateway;

/** A PubSub connection that is open, and the code with which it will be closed. */
async function connect(gateway: Gateway, key: string): Promise<{ closed: Promise<number> }> {
  const socket = new WebSocket(`${gateway.pubsubUrl}/?api-key=${key}`);
  resources.defer(() => socket.close());
  const opened = Promise.withResolvers<void>();
  const closed = Promise.withResolvers<number>();
  socket.onopen = () => opened.resolve();
  socket.onclose = ({ code }) => {
    closed.resolve(code);
    opened.reject(new Error(`closed with ${code}`));
  };
  await opened.promise;
  return { closed: closed.promise };
}

if (isRun) {
  beforeAll(async () => {
    const schema = resources.use(await newSchema(databaseUrl));
    const redis = new URL(redisUrl);
    proxy = resources.use(await startCutProxy({ host: redis.hostname, port: Number(redis.port || 6379) }));
    const node = startStubNode();
    const ledger = resources.use(await startLedgerServer());
    resources.defer(() => node.stop(true));
    environment = {
      DATABASE_URL: schema.url,
      CLICKHOUSE_URL: ledger.url,
      // A database of its own, so that other processes are not counted as gateways.
      REDIS_URL: `redis://127.0.0.1:${proxy.port}/${1 + Math.floor(Math.random() * 15)}`,
      MASTER_KEY: "5e".repeat(32),
      NETWORK_DEFAULT: "devnet",
      // It answers every call alike.
      GENESIS_ALLOW_UNKNOWN: "stub",
      UPSTREAMS_DEVNET: `stub=http://127.0.0.1:${node.port};ws=ws://127.0.0.1:${node.port}`,
    };
    for (const name of ["first", "second"] as const) {
      const directory = mkdtempSync(join(tmpdir(), `sluice-${name}-`));
      resources.defer(() => rmSync(directory, { recursive: true, force: true }));
      const gateway = await startGateway(directory, environment);
      if (name === "first") first = gateway;
      else second = gateway;
    }
    await eventually("two replicas", async () => (await first.metric("sluice_replicas")) === 2);
    await eventually("two replicas", async () => (await second.metric("sluice_replicas")) === 2);
  }, 120_000);

  afterAll(async () => {
    // Asked and not killed, so that no process writes to the directories any more when they are removed.
    await Promise.all([first?.end(), second?.end()]);
    await resources.disposeAsync();
  }, 30_000);

  test("a key that is revoked through one gateway is refused by the other at once", async () => {
    const { key, keyId } = await freshKey(first, environment, 1_000);
    expect([await ask(first, key), await ask(second, key)]).toEqual([200, 200]);
    await sluice(first, environment, "keys", "revoke", keyId);
    // A notice takes a millisecond; without it the key would be kept for five minutes.
    await eventually("the refusal", async () => (await ask(second, key)) === 401, 2_000);
    expect(await ask(first, key)).toBe(401);
  }, 60_000);

  test("a connection to one gateway ends at once when its key is narrowed or refused through the other", async () => {
    const { keyId, key, accountId } = await freshKey(first, environment, 1_000);
    const admin = await sluice(
      first,
      environment,
      "keys",
      "create",
      "--account",
      accountId,
      "--name",
      "a",
      "--permission",
      "admin",
    );
    const change = async (body: object): Promise<number> => {
      const response = await fetch(`${first.url}/api/v1/admin/keys/${keyId}`, {
        method: "PATCH",
        headers: { "content-type": "application/json", "x-api-key": admin.key },
        body: JSON.stringify(body),
      });
      return response.status;
    };
    const restrictions = { networks: [], domains: [], ipRanges: [] };
    for (const [body, code] of [
      [{ restrictions: { ...restrictions, networks: ["mainnet"] } }, 4403],
      [{ restrictions: { ...restrictions, ipRanges: ["203.0.113.0/24"] } }, 4403],
      [{ restrictions: { ...restrictions, domains: ["app.example.com"] } }, 4403],
      [{ restrictions, status: "disabled" }, 4401],
    ] as const) {
      const { closed } = await connect(second, key);
      const startMs = performance.now();
      expect(await change(body)).toBe(200);
      // Without a notice the connection would last until its next tick, half a minute later.
      expect([await closed, performance.now() - startMs < 10_000]).toEqual([code, true]);
      if (code === 4403) expect(await change({ restrictions })).toBe(200);
      await eventually("the key's return", async () => code === 4401 || (await ask(second, key)) === 200);
    }
  }, 60_000);

  test("what was sent through one gateway is reported by the other", async () => {
    const { key, keyId } = await freshKey(first, environment, 1_000);
    const send = { ...heightCall, method: "sendTransaction", params: ["AQ==", { encoding: "base64" }] };
    expect((await post(second.url, send, { "x-api-key": key })).body.result).toBe("5".repeat(88));
    const reported = await eventually("the transaction", async () => {
      const response = await fetch(`${first.url}/api/v1/sent-transactions`, { headers: { "x-api-key": key } });
      const { items } = (await response.json()) as { items: { signature: string; key_id: string; state: string }[] };
      return items[0];
    });
    expect(reported).toMatchObject({ signature: "5".repeat(88), key_id: keyId, state: "sent" });
  }, 60_000);

  test("two gateways together give the rate of one bucket, to one part in a thousand above and with little left below", async () => {
    const rate = 40;
    const { key } = await freshKey(first, environment, rate);
    const { answered, refused, other, seconds } = await spend([first, second], key, 4_000);
    expect(answered).toBeLessThanOrEqual((rate * 2 + rate * seconds) * 1.001 + 1);
    expect(answered).toBeGreaterThan((rate * 2 + rate * seconds) * 0.8);
    expect(refused).toBeGreaterThan(0);
    expect(other).toBe(0);
  }, 60_000);

  test("without Redis both go on with a share each, say so, and keep the sum bounded; then they share again", async () => {
    const rate = 40;
    const { key } = await freshKey(first, environment, rate);
    expect([await ask(first, key), await ask(second, key)]).toEqual([200, 200]);
    proxy.cut();
    for (const gateway of [first, second]) {
      await eventually("the loss", async () => (await gateway.metric("sluice_sharing_up")) === 0);
      expect(await gateway.metric("sluice_sharing_lost_total")).toBeGreaterThanOrEqual(1);
    }
    const { answered, refused, other, seconds } = await spend([first, second], key, 3_000);
    // Each has half of the rate and of the burst; the shares begin full, beside what was leased before the loss.
    expect(answered).toBeLessThanOrEqual(rate * 2 + rate * seconds + rate * 2);
    expect(answered).toBeGreaterThan(rate * seconds * 0.5);
    expect([refused > 0, other]).toEqual([true, 0]);
    proxy.heal();
    for (const gateway of [first, second]) {
      await eventually("its return", async () => (await gateway.metric("sluice_sharing_up")) === 1);
    }
  }, 60_000);

  test("what a gateway held of credits when it was killed under load comes back with its next start", async () => {
    const { key, accountId } = await freshKey(first, environment, 100_000);
    const creditsUsed = async (): Promise<number> =>
      Number((await sluice(first, environment, "accounts", "credits", accountId)).used);
    let asked = 0;
    let answered = 0;
    const loop = async (): Promise<void> => {
      for (;;) {
        asked += 1;
        const status = await ask(second, key).catch(() => null);
        if (status === null) return;
        expect(status).toBe(200);
        answered += 1;
        if (answered === 500) second.process.kill("SIGKILL");
      }
    };
    await Promise.all(Array.from({ length: 8 }, loop));
    await second.process.exited;
    const held = await creditsUsed();
    expect(held).toBeGreaterThan(asked);
    second = await startGateway(second.directory, environment);
    const settled = await eventually("the settlement", async () => {
      const used = await creditsUsed();
      return used <= asked && used;
    });
    expect(settled).toBeGreaterThanOrEqual(answered);
    // Accounts of other tests may have come to their own as well.
    expect(await second.metric("sluice_credits_returned_total")).toBeGreaterThanOrEqual(held - settled);
    expect(await second.metric("sluice_credits_unproved_total")).toBe(0);
    expect(await ask(second, key)).toBe(200);
  }, 120_000);
}
