import { expect, test } from "bun:test";
import { tipPrograms } from "@sluice/wire/accounts/tips";
import { addressOfBytes } from "@sluice/wire/identifiers";
import type { ChainValue } from "../chain/index.ts";
import { EngineChainError } from "../engine/index.ts";
import type { StakePoolChain } from "./account-reads.ts";
import { EpochReader, epochPace } from "./epoch-reader.ts";
import type { PoolSnapshot } from "./snapshot.ts";
import { playedPool } from "./testing/played-pool.ts";

/** A pool of so many validators, whose last update counted epoch 1. */
function poolOf(validators: number): PoolSnapshot {
  const { snapshot } = playedPool();
  const [first] = snapshot.validators;
  if (first === undefined) throw new Error("the played pool has a validator");
  const voteOf = (index: number) => addressOfBytes(new Uint8Array(32).fill(11).with(0, index));
  const all = Array.from({ length: validators }, (_, index) => ({ ...first, voteAccount: voteOf(index) }));
  return { ...snapshot, validators: all };
}

/** A node that has blocks from a slot on, and tells rewards of at most 32 addresses, as nodes do. */
function nodeFrom(firstAvailable: bigint): StakePoolChain {
  const answers: Record<string, (params: readonly unknown[]) => ChainValue> = {
    getMultipleAccounts: ([addresses]) => {
      return { context: { slot: 77n }, value: (addresses as unknown[]).map(() => null) };
    },
    getVoteAccounts: () => ({ current: [], delinquent: [] }),
    getMinimumBalanceForRentExemption: () => 1n,
    getFirstAvailableBlock: () => firstAvailable,
    getBlocksWithLimit: ([first]) => [(first as bigint) > firstAvailable ? (first as bigint) : firstAvailable],
    getBlockTime: ([slot]) => 1_789_000_000n + (slot as bigint) * 1_000n,
    getInflationReward: ([addresses]) => {
      const list = addresses as unknown[];
      if (list.length > 32) throw new EngineChainError("too many inputs", -32_602);
      return list.map(() => ({ amount: 3n, postBalance: 103n }));
    },
  };
  return {
    read: async (method, params) => {
      const answer = answers[method];
      if (answer === undefined) throw new EngineChainError(`no method ${method}`, -32_601);
      return answer(params ?? []);
    },
  };
}

test("rewards of each of a hundred validators are read, which nodes tell of few at a time", async () => {
  const facts = await new EpochReader(tipPrograms.distribution, nodeFrom(0n)).read(poolOf(100), null);
  const rewards = [...(facts?.validators.values() ?? [])].map(({ inflation }) => inflation);
  expect(rewards).toEqual(Array.from({ length: 100 }, () => ({ paid: 3n, before: 100n })));
});

test("the length of an epoch is that between first blocks, and by pace where a node has dropped the first", async () => {
  const snapshot = poolOf(1);
  // Epoch 1 begins with slot 32.
  for (const kept of [0n, 32n]) {
    const facts = await new EpochReader(tipPrograms.distribution, nodeFrom(kept)).read(snapshot, null);
    expect(facts?.length).toEqual({ seconds: 1_790_000_000 - 1_789_032_000, from: "blocks" });
  }
  const facts = await new EpochReader(tipPrograms.distribution, nodeFrom(50n)).read(snapshot, null);
  expect(facts?.length).toEqual(epochPace(snapshot));
});
