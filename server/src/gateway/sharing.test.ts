import { expect, test } from "bun:test";
import { StubNode } from "../upstreams/testing/stub-node.ts";
import { type BootedGateway, bootGateway } from "./testing/booted-gateway.ts";

const address = "9B5XszUGdMaxCZ7uSQhPzdks5ZQSmWxrmzCSvtJ6Ns6g";
const contextAnswer = (call: { id: string }): string =>
  `{"jsonrpc":"2.0","result":{"context":{"slot":100},"value":1},"id":${call.id}}`;

async function withGateway(use: (booted: BootedGateway, node: StubNode) => Promise<void>): Promise<void> {
  using node = new StubNode(contextAnswer);
  await using booted = await bootGateway({ upstreams: { devnet: node } });
  await use(booted, node);
  expect(booted.faults).toEqual([]);
}

/** Lets what is on its way arrive, without a clock: `until` is asked again after each turn of the event loop. */
async function settle(until: () => boolean): Promise<void> {
  for (let turn = 0; turn < 2_000 && !until(); turn += 1) await Bun.sleep(1);
  expect(until()).toBe(true);
}

test("2,000 identical calls in flight, with their own ids and white space, are one upstream call", () =>
  withGateway(async (booted, node) => {
    const release = Promise.withResolvers<void>();
    node.answer = async (call) => {
      await release.promise;
      return contextAnswer(call);
    };
    const spaces = ["", " ", "\n", "\t"];
    const call = (id: number): string => {
      const space = spaces[id % 4] ?? "";
      return `{${space}"jsonrpc":"2.0","id":${id},${space}"method":"getBalance","params":[${space}"${address}"${space}]}`;
    };
    // This process cannot hold 2,000 requests of its own open, so most of the calls come in batches.
    const ids = (from: number, count: number): number[] =>
      Array.from({ length: count }, (_unused, index) => from + index);
    const batches = ids(0, 19).map((batch) => ids(batch * 100, 100));
    const singles = ids(1_900, 100);
    const inBatches = batches.map((batch) => booted.post(`[${batch.map(call).join(",")}]`));
    const alone = singles.map((id) => booted.post(call(id)));
    await settle(() => booted.fakes.creditsLeft === 998_000);
    release.resolve();
    for (const [index, response] of inBatches.entries()) {
      const entries = (await (await response).json()) as { id: number }[];
      expect(entries.map((entry) => entry.id)).toEqual(batches[index] ?? []);
    }
    for (const [index, response] of alone.entries()) {
      expect(((await (await response).json()) as { id: number }).id).toBe(singles[index] ?? -1);
    }
    expect(node.calls.length).toBe(1);
    expect(booted.facts.filter((fact) => fact.cache === "MISS").length).toBe(1);
    expect(booted.facts.length).toBe(2_000);
  }));

test("a caller that leaves does not cancel the call for the others", () =>
  withGateway(async (booted, node) => {
    const release = Promise.withResolvers<void>();
    node.answer = async (call) => {
      await release.promise;
      return contextAnswer(call);
    };
    const leaving = new AbortController();
    const body = '{"jsonrpc":"2.0","id":1,"method":"getSlot"}';
    const headers = { "content-type": "application/json", "x-api-key": "sk_dev_test" };
    const first = fetch(`${booted.url}/rpc`, { method: "POST", headers, body, signal: leaving.signal });
    await settle(() => node.calls.length === 1);
    const second = booted.post(body);
    await settle(() => booted.fakes.creditsLeft === 999_998);
    leaving.abort();
    await expect(first).rejects.toThrow();
    release.resolve();
    expect((await second).status).toBe(200);
    expect(node.calls.length).toBe(1);
  }));

test("callers of one call that fails all receive the failure, and the next call asks again", () =>
  withGateway(async (booted, node) => {
    node.answer = () => "garbage";
    const body = '{"jsonrpc":"2.0","id":1,"method":"getSlot"}';
    const statuses = (await Promise.all([booted.post(body), booted.post(body)])).map((response) => response.status);
    expect(statuses).toEqual([502, 502]);
    node.answer = contextAnswer;
    expect((await booted.post(body)).status).toBe(200);
  }));

test("a slot notice drops what moves with the head, of its commitment", () =>
  withGateway(async (booted, node) => {
    const body = '{"jsonrpc":"2.0","id":1,"method":"getSlot"}';
    const status = async (): Promise<string | null> => (await booted.post(body)).headers.get("x-cache-status");
    expect([await status(), await status()]).toEqual(["MISS", "HIT"]);
    await settle(() => node.sockets.size > 0);
    node.announce(101);
    await settle(() => booted.slotOf("finalized") === 101n);
    expect([await status(), await status()]).toEqual(["MISS", "HIT"]);
  }));

test("an answer that a slot notice overtook is handed out but not kept", () =>
  withGateway(async (booted, node) => {
    const release = Promise.withResolvers<void>();
    node.answer = async (call) => {
      await release.promise;
      return contextAnswer(call);
    };
    const body = '{"jsonrpc":"2.0","id":1,"method":"getSlot"}';
    const first = booted.post(body);
    await settle(() => node.calls.length === 1);
    node.announce(101);
    await settle(() => booted.slotOf("finalized") === 101n);
    release.resolve();
    expect((await first).status).toBe(200);
    expect((await booted.post(body)).headers.get("x-cache-status")).toBe("MISS");
  }));

test("history is kept over slot notices, an absent block and a node's error are not kept", () =>
  withGateway(async (booted, node) => {
    const status = async (method: string, params: string): Promise<string | null> => {
      const response = await booted.post(`{"jsonrpc":"2.0","id":1,"method":"${method}","params":${params}}`);
      return response.headers.get("x-cache-status");
    };
    expect(await status("getBlock", "[5]")).toBe("MISS");
    node.announce(101);
    await settle(() => booted.slotOf("finalized") === 101n);
    expect(await status("getBlock", '[5, {"commitment": "finalized"}]')).toBe("HIT");
    expect([await status("getBlockTime", "[99]"), await status("getBlockTime", "[99]")]).toEqual(["MISS", "HIT"]);
    node.answer = (call) => `{"jsonrpc":"2.0","result":null,"id":${call.id}}`;
    expect([await status("getBlock", "[6]"), await status("getBlock", "[6]")]).toEqual(["MISS", "MISS"]);
    node.answer = (call) => `{"jsonrpc":"2.0","error":{"code":-32004,"message":"x"},"id":${call.id}}`;
    expect([await status("getBlock", "[7]"), await status("getBlock", "[7]")]).toEqual(["MISS", "MISS"]);
  }));

test("history above the root that a second node confirms is not kept over slot notices, at whatever commitment it is read", async () => {
  const signature = "5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpkKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW";
  const transactionAt = (slot: number) => (call: { readonly id: string }) =>
    `{"jsonrpc":"2.0","result":{"blockTime":1,"meta":null,"slot":${slot},"transaction":[]},"id":${call.id}}`;
  using one = new StubNode(transactionAt(103));
  using other = new StubNode(transactionAt(103));
  await using booted = await bootGateway({ upstreams: { devnet: [one, other] } });
  await settle(() => one.sockets.size === 1 && other.sockets.size === 1);
  const calls = [
    ["getBlockTime", "[103]"],
    ["getBlock", '[103,{"commitment":"finalized"}]'],
    ["getTransaction", `["${signature}",{"commitment":"finalized"}]`],
    ["getTransaction", `["${signature}",{"commitment":"confirmed"}]`],
  ] as const;
  const statuses = () =>
    Promise.all(
      calls.map(async ([method, params]) => {
        const response = await booted.post(`{"jsonrpc":"2.0","id":1,"method":"${method}","params":${params}}`);
        return response.headers.get("x-cache-status");
      }),
    );
  // One node says that the slot is a root: that is its word alone.
  one.announce(110);
  other.announce(102);
  await settle(() => booted.slotOf("finalized") === 110n);
  expect(await statuses()).toEqual(["MISS", "MISS", "MISS", "MISS"]);
  one.announce(111);
  await settle(() => booted.slotOf("finalized") === 111n);
  expect(await statuses()).toEqual(["MISS", "MISS", "MISS", "MISS"]);
  // The second one shows it as well.
  other.announce(103);
  one.announce(112);
  await settle(() => booted.slotOf("finalized") === 112n);
  await settle(() => other.slot === 103);
  await Bun.sleep(20);
  await statuses();
  one.announce(113);
  await settle(() => booted.slotOf("finalized") === 113n);
  expect(await statuses()).toEqual(["HIT", "HIT", "HIT", "HIT"]);
});

test("what must never be shared goes to the node each time", () =>
  withGateway(async (booted, node) => {
    const body = '{"jsonrpc":"2.0","id":1,"method":"getLatestBlockhash"}';
    await Promise.all([booted.post(body), booted.post(body), booted.post(body)]);
    expect(node.calls.length).toBe(3);
  }));

test("the same parameters in another spelling are the same call, another commitment is not", () =>
  withGateway(async (booted, node) => {
    const call = (params: string): Promise<Response> =>
      booted.post(`{"jsonrpc":"2.0","id":1,"method":"getBalance","params":${params}}`);
    await call(`["${address}"]`);
    await call(`[ "${address}", {"commitment":"confirmed"} ]`);
    await call(`["${address}",{"minContextSlot":null,"commitment":"confirmed"}]`);
    await call(`["\\u0039${address.slice(1)}",null]`);
    expect(node.calls.length).toBe(1);
    await call(`["${address}",{"commitment":"finalized"}]`);
    await call(`["${address}",{"commitment":"confirmed","minContextSlot":1}]`);
    expect(node.calls.length).toBe(3);
  }));
