import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually } from "@sluice/lib/testing";
import { Keypair, LAMPORTS_PER_SOL, PublicKey, SystemProgram, Transaction } from "@solana/web3.js";
import { newSchema } from "../src/state/testing/schema.ts";
import { type Network, post, type RpcAnswer, runSluice, startNetwork } from "./testing/network.ts";

let network: Network;
let directory = "";
let settings = "";
let origin = "";
let url = "";

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), "sluice-admin-"));
  settings = join(directory, "sluice.toml");
  writeFileSync(settings, "");
  // Finality after 1.6 s and the end of a blockhash's life after 7.5.
  network = await startNetwork({ env: { SLUICE_CONFIG: settings }, args: ["--slot-ms", "50"] });
  url = `${network.dev.doors["rpc"]}`;
  origin = new URL(url).origin;
}, 60_000);
afterAll(async () => {
  await network?.[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true, force: true });
}, 30_000);

const call = (method: string, params: unknown[] = [], id: unknown = 1) => ({ jsonrpc: "2.0", id, method, params });

/** One request of the administration with the operator's key, unless another is given. */
async function ask(
  method: string,
  path: string,
  body?: unknown,
  { at = origin, key = network.dev.key }: { readonly at?: string; readonly key?: string } = {},
): Promise<RpcAnswer> {
  const response = await fetch(`${at}/api/v1${path}`, {
    method,
    headers: { "x-api-key": key, ...(body === undefined ? {} : { "content-type": "application/json" }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, body: text === "" ? null : JSON.parse(text) };
}

const slotBy = async (key: string, at = url): Promise<number> =>
  (await post(at, call("getSlot"), { "x-api-key": key })).status;

describe("what a key may do", () => {
  /** A key of a new account. */
  async function keyWith(name: string, powers: object): Promise<string> {
    const account = await ask("POST", "/admin/accounts", { name, tiers: { platform: "business" } });
    const wish = { account_id: account.body.id, name, environment: "dev", ...powers };
    return (await ask("POST", "/admin/keys", wish)).body.key;
  }

  /** The status of a read at each endpoint; of PubSub the code with which it closes, or 0 while it is open. */
  async function readsOf(key: string): Promise<Record<string, number>> {
    const { oracle, engineRest, pubsub } = network.dev.doors;
    const headers = { "x-api-key": key };
    const status = async (address: string): Promise<number> => (await fetch(address, { headers })).status;
    const socket = new WebSocket(`${pubsub}/?api-key=${key}`);
    const closed = new Promise<number>((resolve) => {
      socket.onclose = (event) => resolve(event.code);
      socket.onopen = () => socket.send(JSON.stringify(call("slotSubscribe")));
      socket.onmessage = (event) => resolve(String(event.data).includes('"result"') ? 0 : 4403);
    });
    const reads = {
      rpc: await slotBy(key),
      pubsub: await closed,
      usage: await status(`${origin}/api/v1/usage`),
      console: await status(`${origin}/api/v1/console/overview`),
      oracle: await status(`${oracle}/api/v1/price/BTC`),
      engine: await status(`${engineRest}/api/v1/bundles/tip_floor`),
      jito: (await post(`${engineRest}/api/v1/getTipAccounts`, call("getTipAccounts"), headers)).status,
    };
    socket.close();
    return reads;
  }

  test("a key without read reads nowhere, one with admin alone everywhere", async () => {
    await eventually("a price", async () => (await readsOf(network.dev.key))["oracle"] === 200);
    const narrow = await keyWith("narrow", { permissions: ["bundles:write", "webhooks:write", "keys:write"] });
    expect(await readsOf(narrow)).toEqual({
      rpc: 403,
      pubsub: 4403,
      usage: 403,
      console: 403,
      oracle: 403,
      engine: 403,
      jito: 403,
    });
    const operator = await keyWith("operator", { permissions: ["admin"] });
    expect(await readsOf(operator)).toEqual({
      rpc: 200,
      pubsub: 0,
      usage: 200,
      console: 200,
      oracle: 200,
      engine: 200,
      jito: 200,
    });
  });

  test("a key with a list of methods calls those alone, over HTTP, PubSub and the block engine's JSON-RPC", async () => {
    const key = await keyWith("listed", { methods: ["getSl*", "accountSubscribe"] });
    const reads = await readsOf(key);
    expect([reads["rpc"], reads["pubsub"], reads["jito"], reads["oracle"]]).toEqual([200, 4403, 403, 200]);
    const answer = await post(url, call("getBlockHeight"), { "x-api-key": key });
    expect([answer.status, answer.body.error.code]).toEqual([403, -33_443]);
  });

  test("twenty live pages of an account are open at a time, and one that is left makes room", async () => {
    const key = await keyWith("watcher", {});
    const open = async () => {
      const gone = new AbortController();
      const { signal } = gone;
      const answer = await fetch(`${origin}/api/v1/console/live`, { headers: { "x-api-key": key }, signal });
      if (answer.ok) await answer.body?.getReader().read();
      return { gone, status: answer.status };
    };
    const pages = await Promise.all(Array.from({ length: 20 }, open));
    expect(pages.map(({ status }) => status)).toEqual(Array(20).fill(200));
    expect((await open()).status).toBe(429);
    for (const { gone } of pages) gone.abort();
    for (const { gone } of await eventually("room for all again", async () => {
      const again = await Promise.all(Array.from({ length: 20 }, open));
      if (again.every(({ status }) => status === 200)) return again;
      for (const page of again) page.gone.abort();
      return null;
    })) {
      gone.abort();
    }
  });
});

describe("administration over REST", () => {
  test("an account and a key made by REST serve at once, and their usage is what was asked", async () => {
    const account = await ask("POST", "/admin/accounts", { name: "by rest", tiers: { platform: "developer" } });
    expect(account.status).toBe(201);
    const wish = { account_id: account.body.id, name: "app", environment: "dev", permissions: ["read", "keys:write"] };
    const { key, id } = (await ask("POST", "/admin/keys", wish)).body;
    for (const method of ["getSlot", "getSlot", "getBlockHeight"]) await post(url, call(method), { "x-api-key": key });
    const report = await eventually("usage in the ledger", async () => {
      const { body } = await ask("GET", "/usage?group_by=method", undefined, { key });
      return body.total.requests >= 3 && body;
    });
    expect(report.items.map(({ group, requests }: { group: string; requests: number }) => [group, requests])).toEqual([
      ["getBlockHeight", 1],
      ["getSlot", 2],
    ]);
    expect([report.total.credits, report.month.used, report.month.allowance]).toEqual(["3", "3", "2500000"]);
    const byKey = (await ask("GET", `/usage?group_by=key&account_id=${account.body.id}`)).body;
    expect([byKey.items.length, byKey.items[0].group]).toEqual([1, id]);
    const byDay = (await ask("GET", "/usage", undefined, { key })).body;
    expect([byDay.items.length, byDay.items[0].final]).toEqual([1, false]);
    const rotated = await ask("POST", `/admin/keys/${id}/rotate`, { overlap_seconds: 3_600 }, { key });
    expect([await slotBy(key), await slotBy(rotated.body.key)]).toEqual([200, 200]);
    await ask("PATCH", `/admin/keys/${id}`, { status: "disabled" }, { key: rotated.body.key });
    expect([await slotBy(key), await slotBy(rotated.body.key)]).toEqual([401, 200]);
    await ask("PATCH", `/admin/keys/${rotated.body.id}`, { restrictions: { networks: ["mainnet"] } });
    expect(await slotBy(rotated.body.key)).toBe(403);
    const trail = (await ask("GET", "/admin/audit?limit=5")).body.items;
    expect(trail.map(({ action }: { action: string }) => action)).toEqual([
      "key.change",
      "key.change",
      "key.create",
      "key.rotate",
      "key.create",
    ]);
  });

  test("what a key has sent is reported until it is final or can no longer land; other keys receive nothing of it", async () => {
    const { developer: key } = network.dev.keys;
    const result = async (method: string, params: unknown[]) =>
      (await post(url, call(method, params), { "x-api-key": key })).body.result;
    const payer = Keypair.generate();
    const address = payer.publicKey.toBase58();
    await result("requestAirdrop", [address, LAMPORTS_PER_SOL]);
    await eventually("the airdrop", async () => (await result("getBalance", [address])).value > 0);
    const send = async (recentBlockhash: string, maxRetries: number): Promise<string> => {
      const transaction = new Transaction({ feePayer: payer.publicKey, recentBlockhash }).add(
        SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: payer.publicKey, lamports: maxRetries }),
      );
      transaction.sign(payer);
      const options = { encoding: "base64", skipPreflight: true, maxRetries };
      return await result("sendTransaction", [transaction.serialize().toString("base64"), options]);
    };
    const { blockhash } = (await result("getLatestBlockhash", [])).value;
    const landed = await send(blockhash, 5);
    const lost = await send(PublicKey.unique().toBase58(), 2);
    const reported = async () => (await ask("GET", "/sent-transactions", undefined, { key })).body.items;
    const [newest, before, ...others] = await reported();
    expect([newest.signature, before.signature, others.length]).toEqual([lost, landed, 0]);
    const items = await eventually("their ends", async () => {
      const now = await reported();
      return now[0].state === "expired" && now[1].state === "finalized" && now;
    });
    const [status] = (await result("getSignatureStatuses", [[landed], { searchTransactionHistory: true }])).value;
    expect([items[0].resends, items[0].slot, items[1].slot, items[1].network]).toEqual([
      2,
      null,
      status.slot,
      "devnet",
    ]);
    expect((await ask("GET", "/sent-transactions")).body).toEqual({ items: [], next_cursor: null });
  }, 40_000);

  test("a drained node gets no calls, an uncordoned one gets them again", async () => {
    const [node] = (await ask("GET", "/admin/upstreams")).body.items;
    expect([node.network, node.label, node.order, node.serving]).toEqual(["devnet", "devnet", "open", true]);
    expect((await ask("DELETE", "/admin/upstreams/devnet/devnet")).status).toBe(409);
    await ask("POST", "/admin/upstreams/devnet/devnet/drain");
    // What is kept until the next slot may still be answered; a call that is never kept is not.
    const latest = () => post(url, call("getLatestBlockhash"), { "x-api-key": network.dev.key });
    expect((await latest()).status).toBe(503);
    expect((await ask("POST", "/admin/upstreams/devnet/devnet/uncordon")).body.order).toBe("open");
    expect((await latest()).status).toBe(200);
  });
});

/** Of a chain of its own: a node serves once it has told its genesis. */
const genesisHash = PublicKey.unique().toBase58();

describe("reading the configuration again", () => {
  test("nodes, rates and levels change under a live WebSocket and a call in flight, and neither is dropped", async () => {
    const inFlight = Promise.withResolvers<void>();
    const { promise: held, resolve: letGo } = Promise.withResolvers<void>();
    using slow = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: async (request) => {
        const { id, method } = (await request.json()) as { id: unknown; method: string };
        if (method === "getLatestBlockhash") {
          inFlight.resolve();
          await held;
        }
        const results: Readonly<Record<string, unknown>> = { getSlot: 1, getGenesisHash: genesisHash };
        return Response.json({ jsonrpc: "2.0", id, result: results[method] ?? "slow" });
      },
    });
    writeFileSync(settings, `[upstreams]\ntestnet = "slow=http://127.0.0.1:${slow.port}"\n`);
    expect((await ask("POST", "/admin/reload")).body).toEqual({ applied: ["UPSTREAMS_TESTNET"], needs_restart: [] });
    const socket = new WebSocket(network.webSocketUrl);
    const messages: string[] = [];
    const closes: number[] = [];
    socket.onmessage = ({ data }) => void messages.push(String(data));
    socket.onclose = ({ code }) => void closes.push(code);
    await new Promise((resolve) => {
      socket.onopen = resolve;
    });
    socket.send(JSON.stringify(call("slotSubscribe")));
    await eventually("a slot notice", () => messages.length > 1);
    const answer = post(`${url}/testnet`, call("getLatestBlockhash"), { "x-api-key": network.dev.key });
    await inFlight.promise;
    writeFileSync(settings, '[upstreams]\ncordon_slots = 40\n[observe]\nlog_level = "debug"\n[server]\nbind = "::1"\n');
    const { code, out } = await runSluice(["reload", "--json"], {
      directory: network.directory,
      env: { SLUICE_CONFIG: settings },
    });
    expect([code, JSON.parse(out)]).toEqual([
      0,
      { applied: ["UPSTREAMS_TESTNET", "CORDON_SLOTS", "LOG_LEVEL"], needs_restart: ["BIND"] },
    ]);
    expect((await post(`${url}/testnet`, call("getSlot"), { "x-api-key": network.dev.key })).status).toBe(503);
    letGo();
    expect((await answer).body.result).toBe("slow");
    const before = messages.length;
    await eventually("more slot notices", () => messages.length > before + 1);
    expect(closes).toEqual([]);
    socket.close();
  });

  test("a file with a fault changes nothing and is reported, fault by fault", async () => {
    const before = (await ask("GET", "/admin/upstreams")).body.items.length;
    writeFileSync(
      settings,
      '[upstreams]\ntestnet = "new=http://127.0.0.1:1"\ncordon_slots = 0\n[observe]\nlog_level = "loud"\n',
    );
    const { status, body } = await ask("POST", "/admin/reload");
    expect([status, body.code, body.errors.length]).toEqual([409, "CONFLICT", 2]);
    expect((await ask("GET", "/admin/upstreams")).body.items.length).toBe(before);
    writeFileSync(settings, "");
    expect((await ask("POST", "/admin/reload")).status).toBe(200);
  });
});

const databaseUrl = Bun.env["DATABASE_URL"] ?? "";
const redisUrl = Bun.env["REDIS_URL"] ?? "";
const shared = databaseUrl !== "" && redisUrl !== "";
if (!shared) console.warn("NOT RUN: administration over two replicas (DATABASE_URL and REDIS_URL are not set)");

(shared ? describe : describe.skip)("two replicas that share PostgreSQL and Redis", () => {
  test("what one replica learns of keys, accounts and nodes holds on the other at once", async () => {
    await using schema = await newSchema(databaseUrl);
    const env = { DATABASE_URL: schema.url, REDIS_URL: redisUrl, ORACLE: "off" };
    await using one = await startNetwork({ env });
    await using other = await startNetwork({ env });
    const [first, second] = [one, other].map(({ dev }) => `${dev.doors["rpc"]}`);
    const here = { at: new URL(`${first}`).origin, key: one.dev.key };
    const account = (await ask("POST", "/admin/accounts", { name: "shared" }, here)).body.id;
    const wish = { account_id: account, name: "app", environment: "dev" };
    const { key, id } = (await ask("POST", "/admin/keys", wish, here)).body;
    expect([await slotBy(key, first), await slotBy(key, second)]).toEqual([200, 200]);
    const rotated = (await ask("POST", `/admin/keys/${id}/rotate`, { overlap_seconds: 0 }, here)).body;
    await eventually("the rotation holds on the other", async () => (await slotBy(key, second)) === 401, 5_000);
    expect(await slotBy(rotated.key, second)).toBe(200);
    const elsewhere = { restrictions: { ipRanges: ["203.0.113.0/24"] } };
    await ask("PATCH", `/admin/keys/${rotated.id}`, elsewhere, here);
    await eventually(
      "the restriction holds on the other",
      async () => (await slotBy(rotated.key, second)) === 403,
      5_000,
    );
    await ask("PATCH", `/admin/keys/${rotated.id}`, { restrictions: {}, status: "disabled" }, here);
    await eventually("the key is off on the other", async () => (await slotBy(rotated.key, second)) === 401, 5_000);
    await ask("POST", "/admin/upstreams/devnet/devnet/cordon", undefined, here);
    const there = { at: new URL(`${second}`).origin, key: other.dev.key };
    const ordered = async () => (await ask("GET", "/admin/upstreams", undefined, there)).body.items[0].order;
    await eventually("the order holds on the other", async () => (await ordered()) === "cordoned", 5_000);
    const testnet = async () =>
      (await post(`${second}/testnet`, call("getVersion"), { "x-api-key": other.dev.key })).status;
    expect(await testnet()).toBe(503);
    const chain = (await ask("GET", "/admin/upstreams", undefined, there)).body.items[0];
    const node = {
      network: "testnet",
      label: "added",
      url: chain.url.replace("…", ""),
      ws: chain.ws.replace("…", ""),
    };
    expect((await ask("POST", "/admin/upstreams", node, here)).status).toBe(201);
    await eventually("the node serves on the other", async () => (await testnet()) === 200, 5_000);
    expect((await ask("POST", "/admin/upstreams", node, there)).status).toBe(409);
    expect((await ask("DELETE", "/admin/upstreams/testnet/added?force=true", undefined, there)).status).toBe(204);
    const nodes = async () => (await ask("GET", "/admin/upstreams", undefined, here)).body.items.length;
    await eventually("the node is gone from both", async () => (await nodes()) === 1, 5_000);
  }, 90_000);
});
