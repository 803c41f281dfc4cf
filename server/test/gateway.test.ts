import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { statSync } from "node:fs";
import { join } from "node:path";
import { errorTable } from "@sluice/contract/errors";
import { eventually } from "@sluice/lib/testing";
import { type Network, post, type RpcAnswer, runSluice, startNetwork } from "./testing/network.ts";

let network: Network;
let url: string;
beforeAll(async () => {
  network = await startNetwork();
  url = `${network.dev.doors["rpc"]}`;
}, 60_000);
afterAll(async () => {
  await network?.[Symbol.asyncDispose]();
}, 30_000);

const call = (method: string, params: unknown[] = [], id: unknown = 1) => ({ jsonrpc: "2.0", id, method, params });
const anyone = "So11111111111111111111111111111111111111112";

async function sluice(...args: string[]) {
  const { code, out, err } = await runSluice([...args, "--json"], { directory: network.directory });
  if (code !== 0) throw new Error(`sluice ${args.join(" ")} ended with ${code}: ${err}`);
  return JSON.parse(out);
}

async function freshAccount(tier: string): Promise<{ accountId: string; key: string; keyId: string }> {
  const account = await sluice("accounts", "create", "--name", `of ${tier}`, "--tier", tier);
  const created = await sluice("keys", "create", "--account", account.id, "--name", "first", "--environment", "dev");
  return { accountId: account.id, key: created.key, keyId: created.id };
}

function expectRefused(answer: RpcAnswer, code: keyof typeof errorTable): void {
  expect({ status: answer.status, header: answer.headers.get("x-error-code") }).toEqual({
    status: errorTable[code].status,
    header: code,
  });
  expect(answer.body.error.code).toBe(errorTable[code].rpcCode);
  expect(answer.body.error.data.code).toBe(code);
  expect(answer.body.error.data.request_id).toBe(answer.headers.get("x-request-id"));
}

describe("the development network", () => {
  test("dev.json names a key for each tier and the endpoints, and no other user may read it", async () => {
    expect(Object.keys(network.dev.keys)).toEqual(["free", "developer", "business", "professional", "enterprise"]);
    expect(network.dev.key).toBe(network.dev.keys.enterprise);
    const gatewayEndpoints = ["rpc", "pubsub", "ws", "yellowstone", "metrics"];
    const endpoints = [...gatewayEndpoints, "engineRest", "engineGrpc", "engineGrpcTls", "oracle", "resolver"];
    expect(Object.keys(network.dev.doors).toSorted()).toEqual(endpoints.toSorted());
    expect(statSync(join(network.directory, "dev.json")).mode & 0o777).toBe(0o600);
    await eventually("the key is printed", () => network.said().includes(network.dev.key));
  });

  test("the key travels as X-API-Key, as a bearer and in the query, on /rpc and on /", async () => {
    const key = network.dev.keys.developer;
    const body = call("getSlot");
    for (const [address, headers] of [
      [url, { "x-api-key": key }],
      [url, { authorization: `Bearer ${key}` }],
      [`${url}?api-key=${key}`, {}],
      [`${url.replace(/\/rpc$/, "/")}`, { "x-api-key": key }],
      [`${url}/devnet`, { "x-api-key": key }],
      [url, { "x-api-key": key, "x-network": "devnet" }],
    ] as [string, Record<string, string>][]) {
      const answer = await post(address, body, headers);
      expect(answer.status).toBe(200);
      expect(answer.body.result).toBeGreaterThanOrEqual(0);
    }
  });
});

describe("each check, in the specified order", () => {
  test("no key, an ill-formed one and an unknown one are 401 INVALID_API_KEY", async () => {
    for (const headers of [{}, { "x-api-key": "nonsense" }, { "x-api-key": "sk_dev_0000000000000000000000_000000" }]) {
      expectRefused(await post(url, call("getSlot"), headers as Record<string, string>), "INVALID_API_KEY");
    }
  });

  test("inactive, network, domain, address, in this order, and what is mended first gives way to the next", async () => {
    const { accountId } = await freshAccount("business");
    const restricted = (...args: string[]) =>
      sluice("keys", "create", "--account", accountId, "--name", "r", "--environment", "dev", ...args);
    const foreign = ["--domain", "app.example.com", "--ip", "203.0.113.0/24"];
    const all = await restricted("--network", "mainnet", ...foreign);
    expectRefused(await post(url, call("getSlot"), { "x-api-key": all.key }), "NETWORK_NOT_ALLOWED");
    await sluice("keys", "revoke", all.id);
    expectRefused(await post(url, call("getSlot"), { "x-api-key": all.key }), "KEY_INACTIVE");
    const domain = await restricted("--network", "devnet", ...foreign);
    expectRefused(await post(url, call("getSlot"), { "x-api-key": domain.key }), "DOMAIN_NOT_ALLOWED");
    const origin = { "x-api-key": domain.key, origin: "https://app.example.com" };
    expectRefused(await post(url, call("getSlot"), origin), "IP_NOT_ALLOWED");
    const allowed = await restricted("--network", "devnet", "--domain", "app.example.com", "--ip", "127.0.0.0/8");
    const answer = await post(url, call("getSlot"), { ...origin, "x-api-key": allowed.key });
    expect(answer.status).toBe(200);
  });

  test("a key's restrictions hold at the console as at every other endpoint", async () => {
    const { accountId, key } = await freshAccount("business");
    const elsewhere = ["--account", accountId, "--name", "r", "--environment", "dev", "--ip", "203.0.113.0/24"];
    const restricted = await sluice("keys", "create", ...elsewhere);
    const origin = new URL(url).origin;
    const overview = (presented: string) =>
      fetch(`${origin}/api/v1/console/overview`, { headers: { "x-api-key": presented } });
    const signIn = (presented: string) =>
      fetch(`${origin}/api/v1/console/session`, {
        method: "POST",
        headers: { "content-type": "application/json", origin },
        body: JSON.stringify({ key: presented }),
      });
    for (const refused of [await overview(restricted.key), await signIn(restricted.key)]) {
      expect([refused.status, ((await refused.json()) as { code: string }).code]).toEqual([403, "IP_NOT_ALLOWED"]);
    }
    expect([(await overview(key)).status, (await signIn(key)).status]).toEqual([200, 200]);
  });

  test("a rate over twice the tier's is 429 with its headers, and what was answered keeps to the bucket", async () => {
    const { key } = await freshAccount("free");
    const startedMs = performance.now();
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, id) => post(url, call("getSlot", [], id), { "x-api-key": key })),
    );
    const seconds = (performance.now() - startedMs) / 1000;
    const served = answers.filter((answer) => answer.status === 200);
    const refused = answers.filter((answer) => answer.status === 429);
    expect(served.length + refused.length).toBe(60);
    expect(served.length).toBeGreaterThanOrEqual(20);
    expect(served.length).toBeLessThanOrEqual(Math.ceil(20 + 10 * seconds));
    for (const answer of refused) {
      expectRefused(answer, "RATE_LIMIT_EXCEEDED");
      expect(Number(answer.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
      expect(answer.body.error.data.retry_after).toBe(Number(answer.headers.get("retry-after")));
    }
    for (const answer of answers) {
      expect(answer.headers.get("x-ratelimit-limit")).toBe("10");
      expect(answer.headers.get("x-ratelimit-burst")).toBe("20");
      expect(Number(answer.headers.get("x-ratelimit-remaining"))).toBeGreaterThanOrEqual(0);
      expect(Number(answer.headers.get("x-ratelimit-reset"))).toBeGreaterThan(1_700_000_000);
    }
  });

  test("credits that are used up are 402, exactly at the allowance", async () => {
    const { key, accountId } = await freshAccount("business");
    await sluice("accounts", "set-limits", accountId, "--credits-monthly", "23");
    const outcomes: number[] = [];
    // 5 + 5 + 5 + 5 leaves 3: a heavy call no longer fits, three light ones do, and then nothing does.
    for (const method of [
      "getSupply",
      "getSupply",
      "getSupply",
      "getSupply",
      "getSupply",
      "getSlot",
      "getSlot",
      "getSlot",
    ]) {
      outcomes.push((await post(url, call(method), { "x-api-key": key })).status);
    }
    expect(outcomes).toEqual([200, 200, 200, 200, 402, 200, 200, 200]);
    const refused = await post(url, call("getSlot"), { "x-api-key": key });
    expectRefused(refused, "INSUFFICIENT_CREDITS");
    const credits = await sluice("accounts", "credits", accountId);
    expect(credits).toMatchObject({ used: "23", monthly: "23" });
  });
});

describe("what a call costs", () => {
  test("is deducted exactly, and nothing is charged for what the gateway itself refuses", async () => {
    const { key, accountId } = await freshAccount("business");
    const send = (body: unknown) => post(url, body, { "x-api-key": key });
    await send(call("getSlot")); // 1
    await send(call("getBalance", [anyone])); // 1
    await send(call("getMultipleAccounts", [[anyone]])); // 3
    await send(call("getProgramAccounts", [anyone])); // 5
    await send(call("getBalance", ["not an address"])); // refused: 0
    await send(call("noSuchMethod")); // refused: 0
    await send([call("getSlot"), call("getBlockHeight", [], 2), call("getBalance", ["bad"], 3)]); // 2
    await send("{ not json"); // refused: 0
    const credits = await sluice("accounts", "credits", accountId);
    expect(credits.used).toBe("12");
  });

  test("a hit costs what a miss costs", async () => {
    const { key, accountId } = await freshAccount("business");
    const answers: RpcAnswer[] = [];
    for (let id = 0; id < 5; id++) answers.push(await post(url, call("getGenesisHash", [], id), { "x-api-key": key }));
    expect(answers.slice(1).map((answer) => answer.headers.get("x-cache-status"))).toEqual([
      "HIT",
      "HIT",
      "HIT",
      "HIT",
    ]);
    expect(answers.map((answer) => answer.body.id)).toEqual([0, 1, 2, 3, 4]);
    expect((await sluice("accounts", "credits", accountId)).used).toBe("5");
  });

  test("is in the ledger soon after", async () => {
    const { key, accountId } = await freshAccount("business");
    await post(url, call("getSupply"), { "x-api-key": key });
    const usage = await eventually("the fact in the ledger", async () => {
      const found = await sluice("accounts", "usage", accountId);
      return found.requests === 1 ? found : null;
    });
    expect(usage).toMatchObject({ requests: 1, credits: 5 });
  });
});

describe("answers", () => {
  test("carry what the specification says: status, cache, endpoint, latency, request id, CORS", async () => {
    const answer = await post(url, call("getBalance", [anyone]), {
      "x-api-key": network.dev.key,
      origin: "https://app.example.com",
    });
    expect(answer.status).toBe(200);
    expect(answer.headers.get("x-cache-status")).toMatch(/^(HIT|MISS)$/);
    expect(answer.headers.get("x-rpc-endpoint")).toMatch(/^[\w-]+$/);
    expect(Number(answer.headers.get("x-rpc-latency-ms"))).toBeGreaterThanOrEqual(0);
    expect(answer.headers.get("x-request-id")?.length).toBeGreaterThan(8);
    expect(answer.headers.get("access-control-allow-origin")).toBe("*");
    expect(answer.headers.get("access-control-expose-headers")?.toLowerCase()).toContain("x-error-code");
  });

  test("bad JSON, bad envelopes and bad parameters have their code and status", async () => {
    const send = (body: unknown) => post(url, body, { "x-api-key": network.dev.key });
    expect([(await send("{")).status, (await send("{")).body.error.code]).toEqual([400, -32700]);
    const noId = await send({ jsonrpc: "2.0", method: "getSlot" });
    expect([noId.status, noId.body.error.code, noId.body.id]).toEqual([400, -32600, null]);
    const bad = await send(call("getBalance", ["nope"]));
    expect([bad.status, bad.body.error.code]).toEqual([200, -32602]);
    const unknown = await send(call("noSuchMethod"));
    expect([unknown.status, unknown.body.error.code]).toEqual([200, -32601]);
    const large = await send(call("getBalance", ["x".repeat(300_000)]));
    expect(large.status).toBe(413);
  });

  test("GET on the RPC endpoint is 405 with Allow; OPTIONS needs no key", async () => {
    const get = await fetch(url);
    expect([get.status, get.headers.get("allow")?.includes("POST")]).toEqual([405, true]);
    const preflight = await fetch(url, {
      method: "OPTIONS",
      headers: { origin: "https://a.example", "access-control-request-headers": "solana-client,x-api-key" },
    });
    expect(preflight.status).toBeLessThan(300);
    expect(preflight.headers.get("access-control-allow-headers")).toContain("solana-client");
  });

  test("a network without a node is 503", async () => {
    const answer = await post(url, call("getSlot"), { "x-api-key": network.dev.key, "x-network": "testnet" });
    expectRefused(answer, "NETWORK_UNAVAILABLE");
    expect(Number(answer.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
  });

  test("u64 values arrive as the node wrote them", async () => {
    const answer = await post(url, call("getAccountInfo", [anyone, { encoding: "base64" }]), {
      "x-api-key": network.dev.key,
    });
    const system = await post(url, call("getAccountInfo", ["11111111111111111111111111111111"]), {
      "x-api-key": network.dev.key,
    });
    expect(`${answer.text}${system.text}`).toContain('"rentEpoch":18446744073709551615');
  });

  test("metrics are served apart, in the Prometheus form", async () => {
    const metrics = await (await fetch(`${network.dev.doors["metrics"]}`)).text();
    expect(metrics).toMatch(/^# TYPE \w+ counter$/m);
    expect(metrics).not.toContain(network.dev.key);
  });

  test("the log holds no key, whatever went wrong with it", async () => {
    for (const key of Object.values(network.dev.keys)) await post(`${url}?api-key=${key}`, "{");
    const lines = network.said().split("\n");
    const logged = lines.filter((line) => line.startsWith("{")).join("\n");
    expect(logged).toContain("server is ready");
    expect(Object.values(network.dev.keys).filter((key) => logged.includes(key))).toEqual([]);
  });
});
