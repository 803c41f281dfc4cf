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
