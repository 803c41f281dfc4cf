import { describe, expect, test } from "bun:test";
import { ManualClock } from "@sluice/lib";
import { advanceUntil } from "@sluice/lib/testing";
import type { Slot } from "@sluice/wire/identifiers";
import { EngineChainError } from "../model/chain-port.ts";
import { ChainState } from "./chain-state.ts";
import type { ChainBlock } from "./node-answers.ts";
import { addressNamed, signatureNamed } from "./testing/names.ts";
import { ScriptedChain } from "./testing/scripted-chain.ts";

const hashOf = (height: bigint, fork = "") => addressNamed(`block ${height}${fork}`);

/** A chain whose newest processed block has this height; slots and heights are the same. */
function world(height = 1_000n) {
  const chain = new ScriptedChain();
  const clock = new ManualClock();
  const faults: unknown[] = [];
  const head = { height, fork: "" };
  const context = { slot: 1n };
  chain.on("getLatestBlockhash", () => {
    const value = { blockhash: hashOf(head.height, head.fork), lastValidBlockHeight: head.height + 150n };
    return { context, value };
  });
  const state = new ChainState({ chain, clock, events: { blockhashFailed: (error) => void faults.push(error) } });
  const at = async (to: bigint, fork = ""): Promise<void> => {
    Object.assign(head, { height: to, fork });
    chain.slot("processed", to);
    await state.settled();
  };
  return { chain, clock, state, faults, at, context };
}

function block(height: bigint, signatures: readonly string[] = []): ChainBlock {
  return {
    slot: height as Slot,
    blockhash: hashOf(height),
    parentSlot: (height - 1n) as Slot,
    previousBlockhash: hashOf(height - 1n),
    height,
    time: null,
    transactions: signatures.map((name) => ({ signature: signatureNamed(name), failed: false, units: 1, tip: 0n })),
  };
}

describe("blockhashes", () => {
  test("of processed and confirmed blocks are answered from memory, until the 150th block after theirs", async () => {
    const { chain, state, at } = world();
    await at(1_000n);
    for (let height = 700n; height <= 999n; height += 1n) state.confirmed(block(height));
    expect(state.blockHeight()).toBe(1_000n);
    expect(await state.blockhash(hashOf(1_000n))).toEqual({ valid: true, lastValidBlockHeight: 1_150n });
    expect(await state.blockhash(hashOf(850n))).toEqual({ valid: true, lastValidBlockHeight: 1_000n });
    expect(await state.blockhash(hashOf(849n))).toEqual({ valid: false });
    expect(chain.countOf("isBlockhashValid")).toBe(0);
  });
  test("of a fork that lost are no longer known", async () => {
    const { chain, context, state, at } = world();
    chain.on("isBlockhashValid", () => ({ context, value: false }));
    await at(1_000n, " lost");
    expect(await state.blockhash(hashOf(1_000n, " lost"))).toMatchObject({ valid: true });
    await at(1_001n);
    state.confirmed(block(1_000n));
    expect(await state.blockhash(hashOf(1_000n, " lost"))).toEqual({ valid: false });
    state.lost(block(1_000n));
    expect(await state.blockhash(hashOf(1_000n))).toEqual({ valid: false });
  });
  test("that no block seen has are asked for once, however many want to know, and soon again", async () => {
    const { chain, clock, context, state, at } = world();
    await at(1_000n);
    let isValid = false;
    chain.on("isBlockhashValid", () => ({ context, value: isValid }));
    const answers = await Promise.all(Array.from({ length: 20 }, () => state.blockhash(addressNamed("unknown"))));
    expect(answers).toEqual(Array.from({ length: 20 }, () => ({ valid: false as const })));
    await state.blockhash(addressNamed("unknown"));
    expect(chain.countOf("isBlockhashValid")).toBe(1);
    isValid = true;
    clock.advance(400);
    // Its height is not known, so it is the latest that is possible.
    expect(await state.blockhash(addressNamed("unknown"))).toEqual({ valid: true, lastValidBlockHeight: 1_150n });
    expect(chain.countOf("isBlockhashValid")).toBe(2);
  });
  test("are not guessed where no node answers", async () => {
    const { chain, state, at } = world();
    await at(1_000n);
    chain.on("isBlockhashValid", () => {
      throw new EngineChainError("no node answers", null);
    });
    await expect(state.blockhash(addressNamed("unknown"))).rejects.toThrow("no node answers");
    chain.on("isBlockhashValid", () => ({ value: "yes" }));
    await expect(state.blockhash(addressNamed("unknown"))).rejects.toThrow("not understood");
  });
  test("of a chain begun anew are evaluated by its own height", async () => {
    const { state, at } = world();
    await at(1_000n);
    state.forget();
    await at(5n);
    expect(state.blockHeight()).toBe(5n);
    expect(await state.blockhash(hashOf(5n))).toEqual({ valid: true, lastValidBlockHeight: 155n });
  });
  test("a failed look at the newest is reported and made good at the next slot", async () => {
    const { chain, state, faults, at } = world();
    const sound = chain.answers.get("getLatestBlockhash");
    chain.on("getLatestBlockhash", () => {
      throw new EngineChainError("no node answers", null);
    });
    await at(1_000n);
    expect(faults.length).toBe(1);
    expect(state.blockHeight()).toBeNull();
    if (sound !== undefined) chain.on("getLatestBlockhash", sound);
    await at(1_001n);
    expect(state.blockHeight()).toBe(1_001n);
  });
});

describe("which transactions are in", () => {
  test("is known of blocks that were seen, and forgotten with a fork that was lost", async () => {
    const { chain, clock, context, state } = world();
    const asked: unknown[] = [];
    chain.on("getSignatureStatuses", ([signatures]) => {
      asked.push(signatures);
      return { context, value: Array.isArray(signatures) ? signatures.map(() => null) : [] };
    });
    state.confirmed(block(7n, ["a", "b"]));
    const [a, b, c] = [signatureNamed("a"), signatureNamed("b"), signatureNamed("c")];
    expect(await state.processed([b, c, a])).toEqual([b, a]);
    expect(asked).toEqual([[c]]);
    state.lost(block(7n));
    expect(await advanceUntil(clock, state.processed([a, b]))).toEqual([]);
    expect(asked.length).toBe(2);
  });
  test("is asked for many at a time, each once", async () => {
    const { chain, clock, context, state } = world();
    const gate = Promise.withResolvers<void>();
    const batches: number[] = [];
    chain.on("getSignatureStatuses", async ([signatures]) => {
      if (!Array.isArray(signatures)) throw new Error("no list");
      batches.push(signatures.length);
      await gate.promise;
      const status = { slot: 5n, err: { x: 1n }, confirmationStatus: "processed" };
      return { context, value: signatures.map((each) => (each === signatureNamed("1") ? status : null)) };
    });
    const names = Array.from({ length: 2_000 }, (_, index) => signatureNamed(String(index)));
    const asking = Promise.all([state.processed(names), ...names.slice(0, 50).map((name) => state.processed([name]))]);
    await Promise.resolve();
    expect(batches).toEqual([256, 256, 256, 256]);
    gate.resolve();
    const [first, zero, one] = await advanceUntil(clock, asking);
    expect(first).toEqual([signatureNamed("1")]);
    expect(zero).toEqual([]);
    expect(one).toEqual([signatureNamed("1")]);
    expect(batches.reduce((sum, each) => sum + each)).toBe(2_000);
  });
  test("is not guessed where no node answers, and the next question is asked anew", async () => {
    const { chain, clock, context, state } = world();
    chain.on("getSignatureStatuses", () => {
      throw new EngineChainError("no node answers", null);
    });
    await expect(advanceUntil(clock, state.processed([signatureNamed("a"), signatureNamed("b")]))).rejects.toThrow(
      "no node answers",
    );
    chain.on("getSignatureStatuses", () => ({ context, value: [null] }));
    await expect(advanceUntil(clock, state.processed([signatureNamed("a"), signatureNamed("b")]))).rejects.toThrow(
      "not understood",
    );
    chain.on("getSignatureStatuses", () => ({ context, value: [null, null] }));
    expect(await advanceUntil(clock, state.processed([signatureNamed("a"), signatureNamed("b")]))).toEqual([]);
  });
});
