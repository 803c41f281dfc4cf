import { expect, test } from "bun:test";
import { headerOf, slotOf } from "../../log/testing/chain-model.ts";
import { blockOfHeader } from "../testing/blocks.ts";
import { HeldChainModel } from "../testing/held-chain.ts";
import { LedgerBlocks } from "./past-blocks.ts";

const headers = [headerOf(100, 99), headerOf(101), headerOf(104, headerOf(101)), headerOf(105)];
const model = new HeldChainModel(headers.map(blockOfHeader), slotOf(105));
const blocks = new LedgerBlocks({ chain: model });

test("gives whole final blocks by the slots before and after, and nothing of what is not final or not held", async () => {
  expect(await blocks.firstSlot("devnet")).toBe(slotOf(100));
  const found = await blocks.first("devnet", slotOf(102));
  const block = blockOfHeader(headerOf(104, headerOf(101)));
  expect(found?.block).toEqual(block);
  expect(found?.header).toEqual({
    slot: slotOf(104),
    blockhash: block.blockhash,
    parentSlot: slotOf(101),
    parentBlockhash: block.previousBlockhash,
    blockTime: block.blockTime,
    height: block.blockHeight,
    transactions: block.transactions.length,
  });
  expect(await blocks.last("devnet", slotOf(103))).toEqual({ slot: slotOf(101), blockhash: headerOf(101).blockhash });
  expect(await blocks.first("devnet", slotOf(105))).toBeNull();
  expect(await blocks.last("devnet", slotOf(200))).toBeNull();
});

test("gives nothing across blocks that were removed with age, and begins after them", async () => {
  // Of slots 100 to 104 the ledger said that it holds them whole.
  const aged = new HeldChainModel([headerOf(104, headerOf(101)), headerOf(105)].map(blockOfHeader), slotOf(106));
  aged.heldFrom = 100n;
  const left = new LedgerBlocks({ chain: aged });
  for (const slot of [100, 101]) expect(await left.first("devnet", slotOf(slot))).toBeNull();
  expect((await left.first("devnet", slotOf(102)))?.header.slot).toBe(slotOf(104));
  expect(await left.firstSlot("devnet")).toBe(slotOf(104));
  expect(await left.last("devnet", slotOf(103))).toBeNull();
  // The engine may remove what is newer first.
  const holed = new HeldChainModel(
    [headers[0], headers[3]].flatMap((header) => (header === undefined ? [] : [blockOfHeader(header)])),
    slotOf(106),
  );
  const around = new LedgerBlocks({ chain: holed });
  expect(await around.first("devnet", slotOf(101))).toBeNull();
  expect(await around.last("devnet", slotOf(104))).toBeNull();
  expect((await around.last("devnet", slotOf(100)))?.slot).toBe(slotOf(100));
});
