import { expect, test } from "bun:test";
import { type ConfirmedBlock, packBlock, type TransactionMeta, unpackBlock } from "@sluice/encode";
import { hashOf } from "../log/testing/chain-model.ts";
import { isSameContent } from "./second-reads.ts";
import { sourceBlockOf } from "./testing/simulated-chain.ts";

const parent = { slot: 100, blockhash: hashOf("parent") };
const returnData = { programId: hashOf("program"), data: Uint8Array.of(1) };
const plain = unpackBlock(sourceBlockOf({ slot: 101, blockhash: hashOf("own"), parent }).body);
const own = withMeta(plain, () => ({ returnData }));
const other = hashOf("other");

function withMeta(block: ConfirmedBlock, change: (meta: TransactionMeta) => Partial<TransactionMeta>): ConfirmedBlock {
  const transactions = block.transactions.map(({ meta, ...each }) => {
    return { ...each, meta: meta === null ? null : { ...meta, ...change(meta) } };
  });
  return { ...block, transactions };
}

const withToken = (change: object): ConfirmedBlock =>
  withMeta(own, ({ postTokenBalances }) => ({
    postTokenBalances: (postTokenBalances ?? []).map((balance) => ({ ...balance, ...change })),
  }));
const withReward = (change: object): ConfirmedBlock => ({
  ...own,
  rewards: own.rewards.map((reward) => ({ ...reward, ...change })),
});
const isSame = (changed: ConfirmedBlock): boolean => isSameContent(packBlock(own), packBlock(changed));

const altered: Readonly<Record<string, ConfirmedBlock>> = {
  "a block time": { ...own, blockTime: 1n },
  "a height": { ...own, blockHeight: 1n },
  "a parent's slot": { ...own, parentSlot: 99n },
  "a parent's hash": { ...own, previousBlockhash: other },
  "a reward": withReward({ lamports: 1n }),
  "a balance after a reward": withReward({ postBalance: 1n }),
  "a reward's receiver": withReward({ pubkey: other }),
  "one reward more": { ...own, rewards: [...own.rewards, ...own.rewards] },
  "an amount of tokens": withToken({ amount: 1n }),
  "a mint": withToken({ mint: other }),
  "an owner of tokens": withToken({ owner: other }),
  decimals: withToken({ decimals: 1 }),
  "the account of tokens": withToken({ accountIndex: 0 }),
  "no tokens": withMeta(own, () => ({ postTokenBalances: [] })),
  "returned data": withMeta(own, () => ({ returnData: { ...returnData, data: Uint8Array.of(2) } })),
  "a fee": withMeta(own, () => ({ fee: 1n })),
  "a balance": withMeta(own, ({ postBalances }) => ({ postBalances: postBalances.map((balance) => balance + 1n) })),
  logs: withMeta(own, () => ({ logs: ["Program log: altered"] })),
  "a transaction less": { ...own, transactions: [] },
};
for (const [what, block] of Object.entries(altered)) {
  test(`${what} that one of two nodes has altered is seen`, () => {
    expect([isSame(block), isSame(own)]).toEqual([false, true]);
  });
}

test("what one of two nodes does not know says nothing", () => {
  const known = [
    { ...own, blockTime: null },
    { ...own, blockHeight: null },
    { ...own, rewards: [] },
    withToken({ owner: null, programId: null }),
    withMeta(own, () => ({ postTokenBalances: null, returnData: null, logs: null, computeUnitsConsumed: null })),
  ];
  expect(known.map(isSame)).toEqual(known.map(() => true));
});

test("rewards of an epoch say the same in whichever order a node pays them", () => {
  const rewards = ["one", "two", "three"].map((name, index) => {
    return {
      pubkey: hashOf(name),
      lamports: BigInt(index),
      postBalance: 9n,
      rewardType: "Staking",
      commission: null,
    } as const;
  });
  const bodies = [rewards, rewards.toReversed()].map((each) => packBlock({ ...own, rewards: each }));
  const [one, two] = bodies;
  expect(one !== undefined && two !== undefined && isSameContent(one, two)).toBe(true);
});
