import { describe, expect, test } from "bun:test";
import { decodeStakeAccount } from "@sluice/wire/accounts/native";
import { decodeTipDistributionAccount, tipPrograms } from "@sluice/wire/accounts/tips";
import { encodeBase58 } from "@sluice/wire/base58";
import { Keypair, PublicKey, SystemProgram } from "@solana/web3.js";
import { TextRandom } from "../../random.ts";
import type { Chain } from "../bank/chain.ts";
import { type ManualChain, signed, startManualChain } from "../testing/chain.ts";
import { poolStakeAddress } from "./stake-pool/stake-pool.ts";
import { distributionAddress, tipAccounts } from "./tips/tip-programs.ts";

const lamportsPerSol = 1_000_000_000n;
const yearSeconds = 31_556_926;
const options = { slotMs: 400, confirmedAfter: 10, finalizedAfter: 31, slotsPerEpoch: 64n };

async function toEpoch(manual: ManualChain, epoch: bigint): Promise<void> {
  const { chain } = manual;
  await manual.closeSlots(Number(chain.epochs.firstSlot(epoch) - chain.openSlot) + 1);
}

function lamportsOf(chain: Chain, address: string): bigint {
  return chain.account(address, "processed")?.lamports ?? 0n;
}

/** The pool as its program lays it out, read by the offsets of the layout and not by the decoder. */
function poolAt(chain: Chain) {
  const data = chain.account(chain.genesis.pool.pool, "processed")?.data ?? new Uint8Array(611);
  const view = new DataView(data.slice().buffer);
  const u64 = (at: number) => view.getBigUint64(at, true);
  const key = (at: number) => encodeBase58(data.subarray(at, at + 32));
  // Without any option the fixed part ends at 346, and these two stand at 419 and 427.
  return {
    type: data[0],
    list: key(98),
    reserve: key(130),
    mint: key(162),
    feeAccount: key(194),
    total: u64(258),
    supply: u64(266),
    epoch: u64(274),
    lastSupply: u64(419),
    lastTotal: u64(427),
  };
}

function mintSupply(chain: Chain, mint: string): bigint {
  const data = chain.account(mint, "processed")?.data ?? new Uint8Array(82);
  return new DataView(data.slice().buffer).getBigUint64(36, true);
}

function tokens(chain: Chain, account: string): bigint {
  const data = chain.account(account, "processed")?.data ?? new Uint8Array(165);
  return new DataView(data.slice().buffer).getBigUint64(64, true);
}

/** A transfer to a tip account in the open slot. */
function tip(manual: ManualChain, payer: Keypair, lamports: bigint, account = 0): void {
  const toPubkey = new PublicKey(tipAccounts[account] ?? "");
  const pay = SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey, lamports });
  manual.chain.submit(signed(payer, manual.chain.at("processed").blockhash, pay));
}

async function tipper(manual: ManualChain): Promise<Keypair> {
  const payer = Keypair.generate();
  manual.fund(payer, 1_000n * lamportsPerSol);
  await manual.closeSlots(1);
  return payer;
}

describe("the stake pool", () => {
  test("its total is what its stake accounts and its reserve hold, and its list names each validator's stake", async () => {
    await using manual = await startManualChain(options);
    const { chain } = manual;
    await toEpoch(manual, 2n);
    const pool = poolAt(chain);
    const stakes = chain.genesis.validators.map(({ voteBytes }) => poolStakeAddress(chain.genesis.pool, voteBytes));
    const held = stakes.map((address) => lamportsOf(chain, address));
    const reserve = lamportsOf(chain, pool.reserve) - 2_282_880n;
    expect(pool.type).toBe(1);
    expect(pool.total).toBe(held.reduce((sum, lamports) => sum + lamports, reserve));
    const list = chain.account(pool.list, "processed")?.data ?? new Uint8Array();
    const view = new DataView(list.slice().buffer);
    expect(view.getUint32(5, true)).toBe(5);
    for (const [index, { vote }] of chain.genesis.validators.entries()) {
      const at = 9 + 73 * index;
      expect(view.getBigUint64(at, true)).toBe(held[index] ?? 0n);
      expect(view.getBigUint64(at + 16, true)).toBe(2n);
      expect(encodeBase58(list.subarray(at + 41, at + 73))).toBe(vote);
      const account = chain.account(stakes[index] ?? "", "processed");
      const stake = decodeStakeAccount(account?.data ?? new Uint8Array());
      expect(stake).toMatchObject({
        meta: { withdrawer: chain.genesis.pool.withdrawAuthority },
        delegation: { voter: vote },
      });
    }
    expect(pool.supply).toBe(mintSupply(chain, pool.mint));
  });

  test("each epoch the rate grows by what its stake earns less four percent, which is minted to the manager", async () => {
    await using manual = await startManualChain(options);
    const { chain } = manual;
    let before = poolAt(chain);
    const rates: number[] = [];
    for (const epoch of [1n, 2n, 3n, 4n]) {
      const minted = tokens(chain, before.feeAccount);
      await toEpoch(manual, epoch);
      const after = poolAt(chain);
      expect([after.epoch, after.lastTotal, after.lastSupply]).toEqual([epoch, before.total, before.supply]);
      expect(after.total).toBeGreaterThan(before.total);
      const fee = tokens(chain, after.feeAccount) - minted;
      expect(fee).toBe(after.supply - before.supply);
      const reward = after.total - before.total;
      const feeLamports = (fee * after.total) / after.supply;
      expect(Number(feeLamports) / Number(reward)).toBeCloseTo(0.04, 3);
      rates.push(Number((after.total * 10n ** 18n) / after.supply) / 1e18);
      before = after;
    }
    expect(rates).toEqual([...rates].sort((one, other) => one - other));
    // 8% inflation less the foundation's twentieth, over the staked 65%, less commissions of 0 to 10 and the fee of 4%.
    const perEpoch = (rates[3] ?? 1) / (rates[2] ?? 1);
    const yearly = perEpoch ** (yearSeconds / (64 * 0.4)) - 1;
    const perStake = 0.076 / 0.65;
    expect(yearly).toBeGreaterThan(perStake * 0.9 * 0.96);
    expect(yearly).toBeLessThan(Math.exp(perStake) - 1);
  });
});

describe("tips", () => {
  test("go to the leader who held the slot, less the builder's commission, and in the next epoch to its stake", async () => {
    await using manual = await startManualChain(options);
    const { chain } = manual;
    const payer = await tipper(manual);
    // Well inside a leader's row, so that the leader of the slot is the one who collects.
    while (chain.openSlot % 4n !== 1n) await manual.closeSlots(1);
    const leader = chain.cluster.leaderOf(chain.openSlot);
    const validator = chain.genesis.validators.find(({ identity }) => identity === leader);
    if (validator === undefined) throw new Error("a validator leads");
    tip(manual, payer, 10n * lamportsPerSol, 0);
    tip(manual, payer, 20n * lamportsPerSol, 7);
    await manual.closeSlots(1);
    expect([0, 7].map((index) => lamportsOf(chain, tipAccounts[index] ?? ""))).toEqual(
      [10n, 20n].map((sol) => sol * lamportsPerSol + 946_560n),
    );
    while (chain.cluster.leaderOf(chain.at("processed").slot) === leader) await manual.closeSlots(1);
    const { address } = distributionAddress(validator.voteBytes, 0n);
    const rent = (168n + 128n) * 6_960n;
    expect(lamportsOf(chain, address) - rent).toBe((30n * lamportsPerSol * 95n) / 100n);
    expect(tipAccounts.map((each) => lamportsOf(chain, each))).toEqual(new Array(8).fill(946_560n));
    const reserve = lamportsOf(chain, chain.genesis.pool.reserveStake);
    const own = lamportsOf(chain, validator.stake);
    await toEpoch(manual, 1n);
    const account = chain.account(address, "processed");
    const settled = decodeTipDistributionAccount(account?.data ?? new Uint8Array());
    expect(account?.owner).toBe(tipPrograms.distribution);
    expect(settled).toMatchObject({ voteAccount: validator.vote, epochCreatedAt: 0n, merkleRoot: { maxNumNodes: 3n } });
    const claimed = settled?.merkleRoot?.totalFundsClaimed ?? 0n;
    expect(28_500_000_000n - claimed).toBeLessThan(3n);
    expect((account?.lamports ?? 0n) + claimed).toBe(rent + 28_500_000_000n);
    // The pool's part is in its reserve, the rest with the validator's own stake, beside what inflation gave.
    const earned = lamportsOf(chain, chain.genesis.pool.reserveStake) - reserve;
    expect(earned).toBeGreaterThan(0n);
    expect(lamportsOf(chain, validator.stake) - own).toBeGreaterThan(earned);
    expect(poolAt(chain).total - poolAt(chain).lastTotal).toBeGreaterThan(earned);
  });

  test("distribution accounts are closed when their time is over, so that they never grow in number", async () => {
    await using manual = await startManualChain({ ...options, slotsPerEpoch: 32n, validators: 2 });
    const { chain } = manual;
    const counts: number[] = [];
    for (let epoch = 1n; epoch <= 15n; epoch += 1n) {
      await toEpoch(manual, epoch);
      counts.push([...chain.accounts.ofProgram(tipPrograms.distribution, chain.at("processed").slot)].length);
    }
    expect(Math.max(...counts)).toBeLessThanOrEqual(2 * 12 + 1);
    expect(counts.at(-1)).toBeLessThanOrEqual(counts[11] ?? 0);
  });
});

test("over epochs with tips, votes, skipped slots and forks no lamport comes or goes but by rewards and burned fees", async () => {
  await using manual = await startManualChain({ ...options, slotsPerEpoch: 32n, votes: true });
  const { chain } = manual;
  const random = new TextRandom("conservation");
  // Genesis, which no fork abandons.
  const start = chain.at("processed");
  const byBlock = new Map<bigint, bigint>();
  chain.watch({
    received() {},
    opened() {},
    frozen(bank, block) {
      const rewards = block.rewards.reduce((sum, { lamports }) => sum + lamports, 0n);
      byBlock.set(bank.slot, rewards - block.transactions.reduce((sum, { fee }) => sum + fee, 0n));
    },
    confirmed() {},
    finalized() {},
  });
  const payer = await tipper(manual);
  while (chain.epochs.epochOf(chain.openSlot) < 6n) {
    if (random.falls(0.5)) tip(manual, payer, BigInt(1 + random.below(1_000_000)), random.below(8));
    if (random.falls(0.1)) await chain.fork(Math.min(chain.forkDepthMax(), 1 + random.below(5)), random.falls(0.5));
    await chain.settled();
    if (random.falls(0.1)) await chain.closeSlot(BigInt(1 + random.below(6)));
    else await manual.closeSlots(1);
  }
  const end = chain.at("processed");
  let expected = start.capitalization;
  for (const slot of chain.history.slots(start.slot + 1n, end.slot, 10_000)) expected += byBlock.get(slot) ?? 0n;
  expect(end.capitalization).toBe(expected);
  let held = 0n;
  for (const [, account] of chain.accounts.all(end.slot)) held += account.lamports;
  expect(held).toBe(expected);
}, 60_000);
