import { describe, expect, test } from "bun:test";
import type { UpstreamHealth } from "../upstreams/index.ts";
import { textOf } from "./sent-answers.ts";
import { answerOf, RpcStand, resultOf } from "./testing/rpc-stand.ts";

const address = "9B5XszUGdMaxCZ7uSQhPzdks5ZQSmWxrmzCSvtJ6Ns6g";
const balance = `["${address}"]`;
const mebibyte = 1024 * 1024;

describe("what a node is asked", () => {
  test("follows from the method: its kind, its commitment, and from how many bytes on its answer may be streamed", async () => {
    const stand = new RpcStand();
    for (const [method, params, expected] of [
      ["getBalance", balance, { kind: "read", commitment: "confirmed", position: "context", largeFrom: 2 * mebibyte }],
      ["getSlot", null, { kind: "read", commitment: "finalized", position: "slot", largeFrom: 2 * mebibyte }],
      ["getBlock", "[5]", { kind: "archive", commitment: "finalized", largeFrom: 8 * mebibyte }],
      ["getLatestBlockhash", null, { kind: "read", commitment: "finalized", largeFrom: mebibyte }],
      ["requestAirdrop", `["${address}",1]`, { kind: "once" }],
      ["getMoon", '{"a":1}', { kind: "once", commitment: "finalized", params: '{"a":1}', largeFrom: mebibyte }],
      ["sendTransaction", '["2"]', { kind: "send", params: '["2"]', largeFrom: undefined }],
    ] as const) {
      await stand.ask(method, params);
      expect(stand.calls.at(-1)).toMatchObject({ method, ...expected });
    }
  });

  test("is no node of a network without nodes", async () => {
    const stand = new RpcStand();
    const { outcome } = await stand.ask("getBalance", balance, { network: "testnet" });
    expect(outcome).toMatchObject({ ok: false, refused: "NETWORK_UNAVAILABLE" });
    expect([stand.rpc.hasNodes("testnet"), stand.rpc.hasNodes("devnet"), stand.calls.length]).toEqual([false, true, 0]);
  });

  test("is at least the slot that the key has seen of the commitment, or the caller's own when that is later", async () => {
    const stand = new RpcStand();
    const minimumOf = async (params: string, keyId: string) => {
      await stand.ask("getTokenSupply", params, { keyId });
      return stand.calls.at(-1)?.minimumSlot;
    };
    stand.respond = () => answerOf("1", { contextSlot: 100n });
    await stand.ask("getTokenSupply", balance);
    stand.respond = () => answerOf("1");
    stand.slotsMoved();
    expect(await minimumOf(balance, "key")).toBe(100n);
    stand.slotsMoved();
    expect(await minimumOf(balance, "other")).toBeNull();
    expect(await minimumOf(`["${address}",{"commitment":"processed"}]`, "key")).toBeNull();
    const own = async (slot: number) => {
      await stand.ask("getAccountInfo", `["${address}",{"commitment":"finalized","minContextSlot":${slot}}]`);
      return stand.calls.at(-1)?.minimumSlot;
    };
    expect([await own(99), await own(100), await own(101)]).toEqual([100n, 100n, 101n]);
    stand.rpc.forget("devnet");
    stand.slotsMoved();
    expect(await minimumOf(balance, "key")).toBeNull();
  });

  test("is at least the height, or the counter, that the key has seen", async () => {
    const stand = new RpcStand();
    const asked = async (method: string, number: bigint | null) => {
      stand.slotsMoved();
      stand.respond = () => answerOf(`${number ?? 1}`, { number });
      await stand.ask(method);
      return stand.calls.at(-1)?.minimumNumber;
    };
    expect([await asked("getBlockHeight", 50n), await asked("getBlockHeight", null)]).toEqual([null, 50n]);
    expect([await asked("getEpochInfo", 51n), await asked("getBlockHeight", null)]).toEqual([50n, 51n]);
    expect([await asked("getMaxShredInsertSlot", 7n), await asked("getMaxShredInsertSlot", null)]).toEqual([null, 7n]);
    expect([await asked("getMaxRetransmitSlot", null), await asked("getSlot", null)]).toEqual([null, null]);
  });

  test("after a height was told, is at least the slot that the node shows which told it", async () => {
    const stand = new RpcStand();
    stand.respond = () => answerOf("50", { number: 50n });
    const minimumAfter = async (slot: bigint, method = "getBlockHeight") => {
      stand.rpc.forget("devnet");
      stand.slotsMoved();
      stand.slotsOfNodes.set("a", slot);
      await stand.ask(method);
      await stand.ask("getLatestBlockhash");
      return stand.calls.at(-1)?.minimumSlot;
    };
    expect([await minimumAfter(90n), await minimumAfter(1_000n), await minimumAfter(1_001n)]).toEqual([
      90n,
      1_000n,
      null,
    ]);
    expect(await minimumAfter(90n, "getEpochInfo")).toBeNull();
    stand.respond = () => answerOf("50");
    expect(await minimumAfter(90n)).toBeNull();
  });
});

describe("answers of slots that no node can have reached", () => {
  test("are given and are no floor for what comes after", async () => {
    const stand = new RpcStand();
    const floorAfter = async (contextSlot: bigint) => {
      stand.rpc.forget("devnet");
      stand.slotsMoved();
      stand.respond = () => answerOf("5", { contextSlot });
      expect(resultOf(await stand.ask("getTokenSupply", balance))).toBe(5);
      await stand.ask("getLatestBlockhash");
      return stand.calls.at(-1)?.minimumSlot;
    };
    expect([await floorAfter(1_000n), await floorAfter(1_001n)]).toEqual([1_000n, null]);
  });

  test("the same holds for heights, but not for counters, which are slots of another kind", async () => {
    const stand = new RpcStand();
    const minimumAfter = async (method: string, number: bigint) => {
      stand.rpc.forget("devnet");
      stand.slotsMoved();
      stand.respond = () => answerOf("5", { number });
      await stand.ask(method);
      stand.slotsMoved();
      await stand.ask(method);
      return stand.calls.at(-1)?.minimumNumber;
    };
    expect(await minimumAfter("getBlockHeight", 1_000n)).toBe(1_000n);
    expect(await minimumAfter("getBlockHeight", 1_001n)).toBeNull();
    expect(await minimumAfter("getMaxShredInsertSlot", 1_001n)).toBe(1_001n);
  });
});

describe("stored answers", () => {
  test("are given at once, unless they are behind what the key has seen", async () => {
    const stand = new RpcStand();
    stand.respond = () => answerOf("5", { contextSlot: 100n });
    expect(stand.known("getBalance", balance)).toBeUndefined();
    await stand.ask("getBalance", balance);
    expect(JSON.parse(stand.known("getBalance", balance, "another") ?? "")).toMatchObject({ result: 5 });
    expect(stand.outcomes).toEqual(["devnet slot miss", "devnet slot hit"]);
    stand.respond = () => answerOf("6", { contextSlot: 101n });
    await stand.ask("getTokenSupply", `["${address}",{"commitment":"confirmed"}]`);
    expect(stand.known("getBalance", balance)).toBeUndefined();
    expect(stand.outcomes).toEqual(["devnet slot miss", "devnet slot hit", "devnet slot miss"]);
  });

  test("are none of errors, of null, of what is never stored, and of calls that failed", async () => {
    const stand = new RpcStand();
    const isKept = async (method: string, params: string | null) => {
      await stand.ask(method, params);
      return stand.known(method, params) !== undefined;
    };
    stand.respond = () => answerOf("5", { errorCode: -32_005 });
    expect(await isKept("getBalance", balance)).toBe(false);
    stand.respond = () => answerOf("null");
    expect(await isKept("getBalance", balance)).toBe(false);
    stand.respond = () => ({ ok: false, refused: "UPSTREAM_TIMEOUT", label: "a", repeatable: true });
    expect(await isKept("getBalance", balance)).toBe(false);
    stand.respond = () => answerOf("5");
    expect(await isKept("getLatestBlockhash", null)).toBe(false);
    expect(await isKept("getMoon", null)).toBe(false);
    expect(await isKept("getBalance", balance)).toBe(true);
    expect(stand.outcomes.filter((each) => each.endsWith("miss")).length).toBe(4);
  });

  test("are history up to the root that a second node confirms, and move with the head above it", async () => {
    const stand = new RpcStand();
    const signature = "5".repeat(87);
    const outlivesSlots = async (method: string, params: string | null) => {
      stand.cache.forget("devnet");
      stand.history.clear();
      await stand.ask(method, params);
      expect(stand.known(method, params)).toBeDefined();
      stand.slotsMoved();
      const isShared = stand.history.size > 0;
      expect(stand.known(method, params) !== undefined).toBe(isShared);
      return isShared;
    };
    expect(await outlivesSlots("getBlock", "[100]")).toBe(false);
    stand.root = 100n;
    expect([await outlivesSlots("getBlock", "[100]"), await outlivesSlots("getBlock", "[101]")]).toEqual([true, false]);
    for (const [slot, isFinal] of [
      [100, true],
      [101, false],
    ] as const) {
      stand.respond = () => answerOf(`{"slot":${slot}}`);
      expect(await outlivesSlots("getTransaction", `["${signature}"]`)).toBe(isFinal);
    }
    stand.respond = () => answerOf("{}");
    expect(await outlivesSlots("getTransaction", `["${signature}"]`)).toBe(false);
    stand.root = null;
    expect(await outlivesSlots("getGenesisHash", null)).toBe(true);
  });

  test("of another process answer as a hit without a node, and are not shared again", async () => {
    const stand = new RpcStand();
    stand.root = 100n;
    stand.history.set(`devnet ${stand.plan("getBlock", "[5]").key}`, answerOf("7").answer);
    let kept = 0;
    const set = stand.history.set.bind(stand.history);
    stand.history.set = (name, answer) => {
      kept += 1;
      return set(name, answer);
    };
    const outcome = await stand.ask("getBlock", "[5]");
    expect([resultOf(outcome), outcome.shared, stand.calls.length]).toEqual([7, true, 0]);
    expect(outcome.outcome).toMatchObject({ ok: true, latencyMs: 0 });
    expect([stand.outcomes, kept]).toEqual([["devnet final hit"], 0]);
    expect(JSON.parse(stand.known("getBlock", "[5]") ?? "")).toMatchObject({ result: 7 });
    await stand.ask("getBlock", "[6]");
    expect([stand.calls.length, kept]).toEqual([1, 1]);
    // What moves with the head is looked for nowhere else.
    stand.history.set(`devnet ${stand.plan("getBalance", balance).key}`, answerOf("7").answer);
    expect(resultOf(await stand.ask("getBalance", balance))).toBe(1);
  });
});

describe("sent transactions", () => {
  test("are followed with their sender, parameters and answer once a node has taken them", async () => {
    const stand = new RpcStand();
    stand.respond = () => answerOf('"signature"');
    await stand.ask("sendTransaction", '["2"]', { keyId: "sender" });
    const answer = '{"jsonrpc":"2.0","result":"signature","id":0}';
    expect(stand.taken).toEqual([[{ network: "devnet", keyId: "sender" }, '["2"]', answer]]);
  });

  test("are not followed when nodes refuse them or do not answer, and other calls never are", async () => {
    const stand = new RpcStand();
    stand.respond = () => answerOf("0", { errorCode: -32_002 });
    await stand.ask("sendTransaction", '["2"]');
    stand.respond = () => ({ ok: false, refused: "UPSTREAM_TIMEOUT", label: "a", repeatable: false });
    await stand.ask("sendTransaction", '["2"]');
    stand.respond = () => answerOf('"signature"');
    await stand.ask("requestAirdrop", `["${address}",1]`);
    await stand.ask("getBalance", balance);
    expect(stand.taken).toEqual([]);
  });
});

test("getHealth is answered from the gateway's own view, and no other call is", () => {
  const stand = new RpcStand();
  const own = (network: "devnet" | "testnet") => {
    const answer = stand.rpc.own(network, stand.plan("getHealth"));
    return answer === null ? null : JSON.parse(textOf(answer));
  };
  expect(own("devnet").error.code).toBe(-32_005);
  expect(own("testnet").error.code).toBe(-32_005);
  stand.health = [{ healthy: true } as UpstreamHealth];
  expect(own("devnet").result).toBe("ok");
  expect(stand.rpc.own("devnet", stand.plan("getBalance", balance))).toBeNull();
  expect(stand.rpc.own("devnet", stand.plan("getMoon"))).toBeNull();
});
