import { expect, test } from "bun:test";
import type { ChainRecord } from "../state/index.ts";
import { createSharedHistory } from "./shared-history.ts";
import { answerOf } from "./testing/rpc-stand.ts";

function boot() {
  const kept = new Map<string, Uint8Array>();
  const chain: { now: ChainRecord | null } = { now: { genesis: "one", first: null } };
  const history = createSharedHistory(
    { find: async (name) => kept.get(name) ?? null, keep: (name, bytes) => void kept.set(name, bytes) },
    () => chain.now,
  );
  return { kept, chain, history };
}

test("an answer is found as it was kept, on its network and under its key alone", async () => {
  const { history } = boot();
  const { answer } = answerOf('{"slot":5}', { contextSlot: 18446744073709551615n });
  history.keep("devnet", "getBlock[5]", answer);
  expect(await history.find("devnet", "getBlock[5]")).toEqual(answer);
  expect(await history.find("devnet", "getBlock[6]")).toBeNull();
  expect(await history.find("mainnet", "getBlock[5]")).toBeNull();
});

test("names are short and show no parameter, and what has no packed form is not kept", () => {
  const { kept, history } = boot();
  history.keep("devnet", `getBlock${"secret".repeat(100)}`, answerOf("1").answer);
  const [name = ""] = kept.keys();
  expect(name).toMatch(/^answer:devnet:[0-9a-f]{64}$/);
  history.keep("devnet", "getBlock[6]", answerOf("null").answer);
  history.keep("devnet", "getBlock[7]", answerOf("1", { errorCode: -32_009 }).answer);
  expect(kept.size).toBe(1);
});

test("what was kept of another chain is not found: of one with another genesis, nor of one begun anew with the same", async () => {
  const { history, chain } = boot();
  const { answer } = answerOf("1");
  const before = { genesis: "one", first: { slot: 1n, blockhash: "before" } };
  chain.now = before;
  history.keep("devnet", "getBlock[5]", answer);
  for (const other of [null, { genesis: "two", first: null }, { ...before, first: { slot: 1n, blockhash: "after" } }]) {
    chain.now = other;
    expect(await history.find("devnet", "getBlock[5]")).toBeNull();
  }
  chain.now = before;
  expect(await history.find("devnet", "getBlock[5]")).toEqual(answer);
});
