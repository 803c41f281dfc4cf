import { expect, test } from "bun:test";
import type { DroppedBlock, HeldChain, LedgerChainStore } from "../../ledger/index.ts";
import { chain, hashOf } from "../../log/testing/chain-model.ts";
import { identityOf, WrittenChain } from "./written-chain.ts";

test("an undo that goes far back takes all that was told since out of the ledger, and what is told again comes back", async () => {
  const marks: string[] = [];
  const held: HeldChain = {
    chain: identityOf(chain),
    version: 0n,
    cursor: null,
    writing: null,
    watermark: null,
    ranges: [],
  };
  const store: Partial<LedgerChainStore> = {
    held: async () => held,
    droppedFrom: async () => [],
    blocksOf: async () => [],
    partsOf: async () => [],
    writeBlocks: async () => undefined,
    hold: async () => undefined,
    markDropped: async (_network, rows: readonly DroppedBlock[]) => {
      for (const { slot, dropped } of rows) marks.push(`${slot} ${dropped ? "leaves" : "is back"}`);
    },
  };
  const written = await WrittenChain.read("devnet", {
    store: store as LedgerChainStore,
    chain,
    discardsOtherChain: false,
  });
  if (written === "other chain") throw new Error("the chain is the same");
  const block = (slot: number) => ({
    slot: BigInt(slot),
    blockhash: hashOf(`main ${slot}`),
    parentSlot: BigInt(slot - 1),
    parentBlockhash: hashOf(`main ${slot - 1}`),
    isFinal: false,
  });
  await written.write([100, 101, 102, 103].map(block), []);
  await written.undo({ undo: block(103), back: block(100) }, "cursor");
  expect(marks.splice(0).toSorted()).toEqual(["101 leaves", "102 leaves", "103 leaves"]);
  await written.write([block(101)], []);
  expect(marks).toEqual(["101 is back"]);
});
