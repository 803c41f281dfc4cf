import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { errorTable } from "@sluice/contract/errors";
import { eventually } from "@sluice/lib/testing";
import { Keypair } from "@solana/web3.js";
import { type FaultyChain, startFaultyChain } from "./testing/chain.ts";
import { type Network, post, type RpcAnswer, startNetwork } from "./testing/network.ts";

const timeoutMs = 1_000;
const cordonSlots = 20;

let chain: FaultyChain;
/** Two nodes of one chain, as it were: the same genesis and the same pace. */
let near: FaultyChain;
let far: FaultyChain;
let network: Network;

beforeAll(async () => {
  [chain, near, far] = await Promise.all(
    ["one", "two", "two"].map((seed) => startFaultyChain("--seed", seed, "--slot-ms", "100")) as [
      Promise<FaultyChain>,
      Promise<FaultyChain>,
      Promise<FaultyChain>,
    ],
  );
  network = await startNetwork({
    env: {
      UPSTREAMS_DEVNET: `one=${chain.rpc};ws=${chain.ws}`,
      UPSTREAMS_TESTNET: `near=${near.rpc};ws=${near.ws},far=${far.rpc};ws=${far.ws}`,
      UPSTREAM_TIMEOUT_MS: String(timeoutMs),
      CORDON_SLOTS: String(cordonSlots),
    },
    args: ["--oracle", "off"],
  });
}, 90_000);

afterEach(async () => {
  await Promise.all([chain, near, far].map((one) => one.admin("devnet_clear")));
});

afterAll(async () => {
  await network?.[Symbol.asyncDispose]();
  await Promise.all([chain, near, far].map((one) => one?.[Symbol.asyncDispose]()));
}, 30_000);

function ask(method: string, params: unknown[] = [], on = "devnet", id: unknown = 7): Promise<RpcAnswer> {
  return post(network.rpcUrl, { jsonrpc: "2.0", id, method, params }, { "x-network": on });
}

/** A call that no earlier answer serves: it names an account that was not asked for. */
function askAfresh(on = "devnet", id: unknown = 7): Promise<RpcAnswer> {
  return ask("getBalance", [Keypair.generate().publicKey.toBase58(), { commitment: "processed" }], on, id);
}

/** The whole answer, headers and body, of a call that a node's fault has ended. */
function expectFailure(answer: RpcAnswer, code: keyof typeof errorTable): void {
  const { status, rpcCode, text } = errorTable[code];
  expect({ status: answer.status, code: answer.headers.get("x-error-code") }).toEqual({ status, code });
  const requestId = answer.headers.get("x-request-id");
  const retryAfter = answer.headers.get("retry-after");
  const waits = retryAfter === null ? {} : { retry_after: Number(retryAfter) };
  expect(answer.body).toEqual({
    jsonrpc: "2.0",
    id: 7,
    error: { code: rpcCode, message: text, data: { code, ...waits, request_id: requestId } },
  });
  expect(retryAfter !== null).toBe(status === 503);
}

function expectWhole(answer: RpcAnswer): void {
  expect(answer.status).toBe(200);
  expect(answer.body).toMatchObject({ jsonrpc: "2.0", id: 7, result: { value: 0 } });
}

async function recovers(on = "devnet"): Promise<void> {
  await chain.admin("devnet_clear");
  await eventually("the gateway answers again", async () => (await askAfresh(on)).status === 200);
  expectWhole(await askAfresh(on));
}

test("no client reaches devnet_* through the gateway: not by a call, nor in a batch, nor over PubSub", async () => {
  for (const method of ["devnet_info", "devnet_clear", "devnet_freeze", "devnet_advance"]) {
    const answer = await ask(method);
    expect({ status: answer.status, code: answer.body.error.code, id: answer.body.id }).toEqual({
      status: 200,
      code: -32601,
      id: 7,
    });
  }
  const batch = await post(network.rpcUrl, [{ jsonrpc: "2.0", id: 1, method: "devnet_info", params: [] }]);
  expect(batch.body[0].error.code).toBe(-32601);
  const socket = new WebSocket(network.webSocketUrl);
  await new Promise((resolve) => socket.addEventListener("open", resolve, { once: true }));
  const answer = new Promise<string>((resolve) => {
    socket.addEventListener("message", ({ data }) => resolve(String(data)), { once: true });
  });
  socket.send(JSON.stringify({ jsonrpc: "2.0", id: 3, method: "devnet_info", params: [] }));
  expect(JSON.parse(await answer)).toMatchObject({ id: 3, error: { code: -32601 } });
  socket.close();
});

describe("a node that goes wrong", () => {
  test("slow beyond the deadline is 504, slow within it is an answer", async () => {
    await chain.admin("devnet_slow", { ms: 200 });
    expectWhole(await askAfresh());
    await chain.admin("devnet_slow", { ms: 20_000 });
    expectFailure(await askAfresh(), "UPSTREAM_TIMEOUT");
    await recovers();
  });

  for (const kind of ["truncate", "garbage", "wrong-id"]) {
    test(`an answer with ${kind} is 502 and never the call's answer`, async () => {
      await chain.admin("devnet_corrupt", { kind, share: 0.5 });
      const answers = await Promise.all(Array.from({ length: 40 }, () => askAfresh()));
      const failed = answers.filter(({ status }) => status !== 200);
      expect(failed.length).toBeWithin(5, 36);
      for (const answer of answers) {
        if (answer.status === 200) expectWhole(answer);
        else expectFailure(answer, "UPSTREAM_INVALID");
      }
      await recovers();
    });
  }

  test("a bit turned over is 502 where it breaks the answer's form; within a value it cannot be detected, yet ids stay right", async () => {
    await chain.admin("devnet_corrupt", { kind: "bitflip" });
    const answers = await Promise.all(Array.from({ length: 60 }, () => askAfresh()));
    for (const answer of answers) {
      if (answer.status === 502) expectFailure(answer, "UPSTREAM_INVALID");
      else expect({ status: answer.status, id: answer.body.id }).toEqual({ status: 200, id: 7 });
    }
    expect(answers.filter(({ status }) => status === 502).length).toBeGreaterThan(20);
    await recovers();
  });

  test("connections that are refused are 503 at once, and so is a node that answers 503 itself", async () => {
    await chain.admin("devnet_refuse", { connections: true });
    const before = performance.now();
    expectFailure(await askAfresh(), "NETWORK_UNAVAILABLE");
    expect(performance.now() - before).toBeLessThan(timeoutMs);
    await recovers();
    await chain.admin("devnet_refuse", { connections: false });
    expectFailure(await askAfresh(), "NETWORK_UNAVAILABLE");
    await recovers();
  });

  test("a frozen one is 504 for each call, and what hung is not answered twice when it thaws", async () => {
    await chain.admin("devnet_freeze", 60_000);
    const answers = await Promise.all(Array.from({ length: 8 }, () => askAfresh()));
    for (const answer of answers) expectFailure(answer, "UPSTREAM_TIMEOUT");
    await recovers();
  });

  test("its own error passes as it is, under the caller's id", async () => {
    await chain.admin("devnet_error", { code: -32603 });
    const answer = await askAfresh();
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({ jsonrpc: "2.0", id: 7, error: { code: -32603, message: "Fault on demand" } });
    await recovers();
  });

  test("a zombie's answers are its own: one state, that of the slot which their context names", async () => {
    await chain.admin("devnet_zombie", 40);
    await chain.admin("devnet_advance", { slots: 60 });
    const { shownSlot, slot } = (await chain.admin("devnet_info")) as { shownSlot: number; slot: number };
    expect(slot - shownSlot).toBe(40);
    const answer = await askAfresh();
    expectWhole(answer);
    expect(answer.body.result.context.slot).toBeWithin(shownSlot, shownSlot + 20);
    // One node alone is the best one known: no one can detect that it is behind, and it says itself that it is well.
    expect((await ask("getHealth")).body).toEqual({ jsonrpc: "2.0", id: 7, result: "ok" });
    await recovers();
  });

  test("a node that closes its PubSub connections is connected to again, and the client continues to receive", async () => {
    const receives = async (socket: WebSocket) => {
      await new Promise<void>((resolve) => {
        socket.addEventListener("message", ({ data }) => {
          if (String(data).includes("slotNotification")) resolve();
        });
      });
    };
    const socket = new WebSocket(network.webSocketUrl);
    await new Promise((resolve) => socket.addEventListener("open", resolve, { once: true }));
    socket.send(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "slotSubscribe", params: [] }));
    await receives(socket);
    await chain.admin("devnet_closePubsub");
    await receives(socket);
    expect(socket.readyState).toBe(WebSocket.OPEN);
    socket.close();
  });
});

describe("one of two nodes lags", () => {
  const contextSlot = async () => (await askAfresh("testnet")).body.result.context.slot as number;
  const processed = async (node: FaultyChain) => ((await node.admin("devnet_info")) as { shownSlot: number }).shownSlot;

  test("calls go to the one that does not; when that is gone getHealth says so and the other one serves", async () => {
    // It stands still until the other one is that far ahead, slot by slot: a jump of one node would not be believed.
    await far.admin("devnet_zombie", 200);
    await eventually("one is far behind", async () => (await processed(near)) - (await processed(far)) > 110, 30_000);
    await eventually("calls go to the nearer node", async () => (await contextSlot()) > (await processed(far)) + 100);
    for (let calls = 0; calls < 10; calls += 1)
      expect(await contextSlot()).toBeGreaterThan((await processed(far)) + 100);
    expect((await ask("getHealth", [], "testnet")).body.result).toBe("ok");
    await near.admin("devnet_refuse", { connections: true });
    const behind = await eventually("the silence of the nearer node is noticed", async () => {
      const { body } = await ask("getHealth", [], "testnet");
      return body.error === undefined ? null : body;
    });
    // The newest slot that the silent node showed is still the best one known: the other is measured against it.
    const slots: number = behind.error.data.numSlotsBehind;
    expect(slots).toBeGreaterThan(50);
    expect(behind).toEqual({
      jsonrpc: "2.0",
      id: 7,
      error: { code: -32005, message: `Node is behind by ${slots} slots`, data: { numSlotsBehind: slots } },
    });
    expectWhole(await askAfresh("testnet"));
    await Promise.all([near.admin("devnet_clear"), far.admin("devnet_clear")]);
    await eventually("getHealth is ok again", async () => (await ask("getHealth", [], "testnet")).body.result === "ok");
  }, 60_000);
});
