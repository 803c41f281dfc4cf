import { expect, test } from "bun:test";
import { errorTable } from "@sluice/contract/errors";
import { StubNode } from "../upstreams/testing/stub-node.ts";
import { type BootedGateway, type BootOptions, bootGateway, testGrant } from "./testing/booted-gateway.ts";

const answerMethod = (call: { id: string; method: string }): string =>
  `{"jsonrpc":"2.0","result":"${call.method}","id":${call.id}}`;

async function withGateway(
  use: (booted: BootedGateway, node: StubNode) => Promise<void>,
  options: BootOptions = {},
): Promise<void> {
  using node = new StubNode(answerMethod);
  await using booted = await bootGateway({ ...options, upstreams: { devnet: node } });
  await use(booted, node);
  expect(booted.faults).toEqual([]);
}

interface Entry {
  readonly id: unknown;
  readonly result?: unknown;
  readonly error?: { readonly code: number };
}

test("each call of a batch is answered in its place, wrong ones beside right ones, with status 200", () =>
  withGateway(async (booted) => {
    const response = await booted.post(
      '[{"jsonrpc":"2.0","id":"a","method":"getSlot"}, 5, {"jsonrpc":"2.0","method":"getSlot"},' +
        '{"jsonrpc":"2.0","id":2,"method":"getMoon"},{"jsonrpc":"2.0","id":3,"method":"getVersion"}]',
    );
    expect(response.status).toBe(200);
    const entries = (await response.json()) as Entry[];
    expect(entries.map((entry) => [entry.id, entry.result ?? entry.error?.code])).toEqual([
      ["a", "getSlot"],
      [null, -32600],
      [null, -32600],
      [2, -32601],
      [3, "getVersion"],
    ]);
    expect(booted.fakes.creditsLeft).toBe(999_998);
    expect(booted.facts.map((fact) => fact.credits)).toEqual([1, 0, 0, 0, 1]);
  }));

test("a batch takes one token for each call and is refused whole when they are not all there", () =>
  withGateway(async (booted, node) => {
    const taken: number[] = [];
    booted.fakes.take = (_bucket, cost) => {
      taken.push(cost);
      return cost > 2 ? { allowed: false, remaining: 0, retryAfterSeconds: 2 } : {};
    };
    const call = '{"jsonrpc":"2.0","id":1,"method":"getSlot"}';
    expect((await booted.post(`[${call},${call}]`)).status).toBe(200);
    const refused = await booted.post(`[${call},${call},${call}]`);
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "2"]);
    expect(taken).toEqual([2, 3]);
    expect(node.calls.length).toBe(1);
  }));

test("a batch whose price is more than what is left is refused whole and costs nothing", () =>
  withGateway(async (booted, node) => {
    booted.fakes.creditsLeft = 9;
    const send = '{"jsonrpc":"2.0","id":1,"method":"sendTransaction","params":["2"]}';
    expect((await booted.post(`[${send}]`)).status).toBe(402);
    expect([booted.fakes.creditsLeft, node.calls.length]).toEqual([9, 0]);
  }));

test("100 calls pass, 101 and none at all do not", () =>
  withGateway(async (booted) => {
    const batch = (count: number): string =>
      `[${Array.from({ length: count }, (_unused, id) => `{"jsonrpc":"2.0","id":${id},"method":"getSlot"}`).join(",")}]`;
    const hundred = await booted.post(batch(100));
    const entries = (await hundred.json()) as Entry[];
    expect(entries.map((entry) => entry.id)).toEqual(Array.from({ length: 100 }, (_unused, id) => id));
    expect((await booted.post(batch(101))).status).toBe(400);
    expect((await booted.post("[]")).status).toBe(400);
    expect((await booted.post('[{"jsonrpc":"2.0","id":1,"method":"getSlot"}')).status).toBe(400);
  }));

test("a batch is a hit when all of it was", () =>
  withGateway(async (booted) => {
    const known = '{"jsonrpc":"2.0","id":1,"method":"getSlot"}';
    await booted.post(known);
    expect((await booted.post(`[${known},${known}]`)).headers.get("x-cache-status")).toBe("HIT");
    const never = '{"jsonrpc":"2.0","id":1,"method":"getVersion"}';
    expect((await booted.post(`[${known},${never}]`)).headers.get("x-cache-status")).toBe("MISS");
  }));

test("the send bucket refuses the one call that it has no token for", () =>
  withGateway(async (booted) => {
    let left = 1;
    booted.fakes.take = (bucket) => (bucket.startsWith("send:") && left-- <= 0 ? { allowed: false } : {});
    const send = (id: number): string => `{"jsonrpc":"2.0","id":${id},"method":"sendTransaction","params":["2"]}`;
    const response = await booted.post(`[${send(1)},${send(2)}]`);
    const entries = (await response.json()) as Entry[];
    expect(response.status).toBe(200);
    expect(entries.map((entry) => entry.result ?? entry.error?.code)).toEqual(["sendTransaction", -33429]);
    expect(booted.fakes.creditsLeft).toBe(999_990);
  }));

test("answers with wider characters than ASCII stand in a batch byte for byte", () =>
  withGateway(async (booted, node) => {
    node.answer = (call) => `{"jsonrpc":"2.0","result":"${call.method} 🦀 é","id":${call.id}}`;
    const response = await booted.post(
      '[{"jsonrpc":"2.0","id":"🙂","method":"getVersion"},{"jsonrpc":"2.0","id":1,"method":"getMoon"}]',
    );
    const entries = (await response.json()) as Entry[];
    expect(entries[0]).toEqual({ jsonrpc: "2.0", result: "getVersion 🦀 é", id: "🙂" } as Entry);
    expect(entries[1]?.error?.code).toBe(-32601);
  }));

test("a batch that is refused whole is told what a batch is", () =>
  withGateway(async (booted) => {
    const refused = await booted.post("[]");
    const message = "A batch holds at least one call";
    expect(await refused.json()).toMatchObject({ id: null, error: { code: -32600, message } });
    const wordless = await booted.post("5");
    expect(await wordless.json()).toMatchObject({ error: { message: errorTable.INVALID_REQUEST.text } });
  }));

test("a batch of more calls than the narrowest burst is refused whole with 413, takes one token and names what passes", () =>
  withGateway(async (booted, node) => {
    const rate = (bucket: string, burst: number) => ({ bucket, requestsPerSecond: burst / 2, burst });
    const requests = [rate("requests:key_1", 4), rate("requests:acc_1", 20)] as const;
    booted.fakes.authenticate = () => ({ ...testGrant, buckets: { ...testGrant.buckets, requests: [...requests] } });
    const taken: (readonly [string, number])[] = [];
    booted.fakes.take = (bucket, cost) => {
      taken.push([bucket, cost]);
      return {};
    };
    const batch = (calls: number): string => `[${Array(calls).fill('{"jsonrpc":"2.0","id":1,"method":"getSlot"}')}]`;
    const refused = await booted.post(batch(5));
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([413, null]);
    expect(refused.headers.get("x-error-code")).toBe("BATCH_TOO_LARGE_FOR_RATE");
    expect(await refused.json()).toMatchObject({
      id: null,
      error: { code: -33430, message: expect.stringContaining("at most 4 calls") },
    });
    expect([taken, node.calls.length]).toEqual([requests.map(({ bucket }) => [bucket, 1]), 0]);
    expect((await booted.post(batch(4))).status).toBe(200);
    booted.fakes.take = () => ({ allowed: false, retryAfterSeconds: 1 });
    expect((await booted.post(batch(5))).status).toBe(429);
  }));

test("facts name the methods that a table has, in a batch and alone, and call every invention unknown", () =>
  withGateway(
    async (booted) => {
      const call = (method: string): string => `{"jsonrpc":"2.0","id":1,"method":"${method}","params":[]}`;
      const methods = ["getVersion", "getAsset", "getAssetBatch", "x".repeat(5_000), "__proto__"];
      const recorded = ["getVersion", "getAsset", "getAssetBatch", "unknown", "unknown"];
      await booted.post(`[${methods.map(call)}]`);
      expect(booted.facts.map((fact) => fact.method)).toEqual(recorded);
      for (const method of methods) await booted.post(call(method));
      expect(booted.facts.slice(5).map((fact) => fact.method)).toEqual(recorded);
    },
    { allowUnknownMethods: true },
  ));

test("a call for many items costs the price of each, and gives it back when nobody answers", () =>
  withGateway(
    async (booted) => {
      const ids = Array.from({ length: 50 }, () => `"${"1".repeat(32)}"`);
      const call = `{"jsonrpc":"2.0","id":1,"method":"getAssetBatch","params":{"ids":[${ids}]}}`;
      expect((await booted.post(call)).status).toBe(200);
      expect([booted.fakes.creditsLeft, booted.facts[0]?.credits]).toEqual([999_750, 250]);
      await booted.post(`[${call},${call}]`);
      expect(booted.fakes.creditsLeft).toBe(999_250);
      booted.fakes.answerAsset = async () => ({ ok: false, code: "UPSTREAM_INVALID", message: "garbage" });
      expect((await booted.post(call)).status).toBe(502);
      expect(booted.fakes.creditsLeft).toBe(999_250);
    },
    { allowUnknownMethods: true },
  ));
