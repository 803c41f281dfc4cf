import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createSolanaRpc } from "@solana/kit";
import { Connection } from "@solana/web3.js";
import { bootFaultyNode, type FaultyNode } from "../faults/testing/faulty-node.ts";
import { call } from "../testing/boot.ts";

let faulty: FaultyNode;
let connection: Connection;

beforeAll(async () => {
  faulty = await bootFaultyNode({ slotsPerEpoch: 64n, finalizedAfter: 20, confirmedAfter: 4, votes: true });
  connection = new Connection(faulty.node.rpcUrl, "confirmed");
  await faulty.closeSlots(90);
});

afterAll(() => faulty[Symbol.asyncDispose]());

describe("leaders", () => {
  test("the schedule of an epoch is that of its slots, each slot once, by its own index", async () => {
    const schedule = (await connection.getLeaderSchedule()) ?? {};
    const slots = Object.values(schedule).flat();
    expect(slots.toSorted((one, other) => one - other)).toEqual(Array.from({ length: 64 }, (_, index) => index));
    const leaders = await connection.getSlotLeaders(64, 64);
    for (const [identity, indexes] of Object.entries(schedule)) {
      for (const index of indexes) expect(leaders[index]?.toBase58()).toBe(identity);
    }
    const slot = await connection.getSlot();
    expect(await connection.getSlotLeader()).toBe(leaders[slot - 64]?.toBase58() ?? "");
  });

  test("one identity's slots can be asked for, the next epoch's are known, and later ones are not", async () => {
    const [, second] = faulty.node.chain.genesis.validators;
    const identity = second?.identity ?? "";
    const ask = async (...params: readonly unknown[]) =>
      (await call(faulty.node.rpcUrl, "getLeaderSchedule", params)).result as Record<string, number[]> | null;
    const whole = await ask();
    expect(await ask(null, { identity })).toEqual({ [identity]: whole?.[identity] ?? [] });
    expect(await ask({ identity })).toEqual({ [identity]: whole?.[identity] ?? [] });
    expect(await ask(null, { identity: "11111111111111111111111111111111" })).toEqual({});
    expect(Object.values((await ask(128)) ?? {}).flat()).toHaveLength(64);
    expect(await ask(192)).toBeNull();
    const { error } = await call(faulty.node.rpcUrl, "getSlotLeaders", [190, 4]);
    expect(error).toEqual({
      code: -32602,
      message: "Invalid slot range: leader schedule for epoch 3 is unavailable",
    });
  });

  test("fees of a block go to its leader, and production counts each leader's slots and blocks", async () => {
    const { value } = await connection.getBlockProduction({ range: { firstSlot: 64, lastSlot: 66 } } as never);
    const leader = (await connection.getSlotLeaders(64, 1))[0]?.toBase58() ?? "";
    expect(value.byIdentity).toEqual({ [leader]: [3, 3] });
    const block = await connection.getBlock(65, { maxSupportedTransactionVersion: 0 });
    expect(block?.rewards?.filter(({ rewardType }) => rewardType === "Fee")).toMatchObject([
      { pubkey: leader, lamports: 5 * 2_500 },
    ]);
  });
});

describe("vote accounts", () => {
  test("all validators vote, with stake, commission, credits and root, to web3.js and to kit", async () => {
    const { current, delinquent } = await connection.getVoteAccounts();
    expect(delinquent).toEqual([]);
    expect(current.map(({ commission }) => commission)).toEqual([5, 7, 0, 10, 8]);
    const slot = await connection.getSlot();
    for (const row of current) {
      expect(row.lastVote).toBe(slot - 1);
      expect(row.epochVoteAccount).toBe(true);
      // A vote for a slot roots the one 31 before it, and each rooted slot since slot 0 has earned 16.
      expect(row.epochCredits[0]?.[1]).toBe((row.epochCredits[1]?.[2] ?? -1) as number);
      expect(row.epochCredits.at(-1)?.[1]).toBe((slot - 1 - 30) * 16);
    }
    const stakes = current.map(({ activatedStake }) => activatedStake);
    expect(stakes).toEqual(stakes.toSorted((one, other) => other - one));
    const kit = await createSolanaRpc(faulty.node.rpcUrl).getVoteAccounts({ commitment: "confirmed" }).send();
    expect(kit.current.map(({ votePubkey }) => String(votePubkey))).toEqual(
      current.map(({ votePubkey }) => votePubkey),
    );
  });

  test("one that stops voting on demand becomes delinquent by distance, earns nothing, and comes back", async () => {
    const [, , third] = faulty.node.chain.genesis.validators;
    const { identity, vote } = third ?? { identity: "", vote: "" };
    expect(await faulty.admin("devnet_delinquent", { validator: vote })).toEqual({ delinquent: [identity] });
    await faulty.closeSlots(20);
    const ask = async (config: object) => {
      const { result } = await call(faulty.node.rpcUrl, "getVoteAccounts", [{ commitment: "processed", ...config }]);
      const found = result as { current: { votePubkey: string }[]; delinquent: { votePubkey: string }[] };
      return [found.current.map((row) => row.votePubkey), found.delinquent.map((row) => row.votePubkey)] as const;
    };
    expect((await ask({}))[1]).toEqual([]);
    expect((await ask({ delinquentSlotDistance: 10 }))[1]).toEqual([vote]);
    expect(await ask({ delinquentSlotDistance: 10, votePubkey: vote })).toEqual([[], [vote]]);
    await faulty.closeSlots(120);
    expect((await ask({}))[1]).toEqual([vote]);
    expect((await ask({}))[0]).toHaveLength(4);
    expect(await faulty.admin("devnet_info")).toMatchObject({
      validators: [{ delinquent: false }, {}, { identity, delinquent: true }, {}, {}],
    });
    await faulty.admin("devnet_delinquent", { validator: identity, on: false });
    await faulty.closeSlots(2);
    expect((await ask({}))[1]).toEqual([]);
    await expect(faulty.admin("devnet_delinquent", { validator: "nobody" })).rejects.toThrow(
      "identity or a vote account",
    );
  });

  test("an epoch's rewards can be asked for of every vote and stake account that got one", async () => {
    const { chain } = faulty.node;
    const [first] = chain.genesis.validators;
    const rewards = await connection.getInflationReward([], 1).catch(() => null);
    expect(rewards).toEqual([]);
    const { result } = await call(faulty.node.rpcUrl, "getInflationReward", [
      [first.vote, first.stake, chain.genesis.pool.pool],
      { epoch: 1 },
    ]);
    expect(result).toMatchObject([{ epoch: 1, effectiveSlot: 128, commission: 5 }, { commission: 5 }, null]);
  });
});

test("epochs that devnet_advance moves over are paid for, and the pool's rate grows by a believable yield", async () => {
  await using other = await bootFaultyNode({ votes: true });
  const { node } = other;
  const reader = new Connection(node.rpcUrl, "processed");
  const { PublicKey } = await import("@solana/web3.js");
  const rate = async () => {
    const data = (await reader.getAccountInfo(new PublicKey(node.chain.genesis.pool.pool)))?.data ?? Buffer.alloc(611);
    expect(data.readBigUInt64LE(274)).toBe(BigInt((await reader.getEpochInfo()).epoch));
    return Number((data.readBigUInt64LE(258) * 10n ** 18n) / data.readBigUInt64LE(266)) / 1e18;
  };
  const rates = [await rate()];
  for (let epoch = 1; epoch <= 4; epoch += 1) {
    await other.admin("devnet_advance", { epochs: 1 });
    rates.push(await rate());
    const vote = node.chain.genesis.validators[0].vote;
    const { result } = await call(node.rpcUrl, "getInflationReward", [[vote], { commitment: "confirmed" }]);
    expect(result).toMatchObject([{ epoch: epoch - 1, commission: 5 }]);
  }
  for (const [index, after] of rates.slice(1).entries()) {
    // 432 slots of 400 ms; 7.6% over the staked 65%, less commissions of 0 to 10% and the pool's 4%.
    const yearly = (after / (rates[index] ?? 1)) ** (31_556_926 / (432 * 0.4)) - 1;
    expect(yearly).toBeGreaterThan(0.1);
    expect(yearly).toBeLessThan(0.125);
  }
});

test("a block's confirmations are the lockouts of the stake that voted for it", async () => {
  const newest = Number(faulty.node.chain.at("processed").slot);
  const of = async (slot: number) => {
    const { result } = await call(faulty.node.rpcUrl, "getBlockCommitment", [slot]);
    return result as { commitment: number[] | null; totalStake: number };
  };
  const { commitment, totalStake } = await of(newest - 5);
  // Five votes were cast for its successors and itself; the validator that paused has the same ones since.
  expect(commitment?.[4]).toBeGreaterThan(totalStake * 0.8);
  expect((await of(newest)).commitment?.every((stake) => stake === 0)).toBe(true);
  expect((await of(1)).commitment).toBeNull();
});

test("the cluster's nodes are the validators, and this node is the one with endpoints", async () => {
  const nodes = await connection.getClusterNodes();
  expect(nodes.map(({ pubkey }) => pubkey)).toEqual(
    faulty.node.chain.genesis.validators.map(({ identity }) => identity),
  );
  expect(nodes.filter(({ rpc }) => rpc !== null).map(({ rpc }) => `http://${rpc}`)).toEqual([faulty.node.rpcUrl]);
});

test("votes are counted separately in performance samples and left out of what it takes to land", async () => {
  await faulty.admin("devnet_advance", { slots: 160 });
  const [sample] = await connection.getRecentPerformanceSamples(1);
  expect(sample?.numTransactions).toBeGreaterThan(600);
  expect((sample as { numNonVoteTransactions?: number }).numNonVoteTransactions).toBe(0);
  const fees = await connection.getRecentPrioritizationFees();
  expect(fees.every(({ prioritizationFee }) => prioritizationFee === 0)).toBe(true);
});
