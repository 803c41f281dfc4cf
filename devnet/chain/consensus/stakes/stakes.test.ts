import { describe, expect, test } from "bun:test";
import { decodeStakeAccount } from "@sluice/wire/accounts/native";
import { decodeVoteAccount } from "@sluice/wire/accounts/vote";
import { sysvars } from "@sluice/wire/programs";
import { Authorized, Keypair, PublicKey, StakeProgram, type TransactionInstruction } from "@solana/web3.js";
import type { Chain } from "../../bank/chain.ts";
import { type ManualChain, signedBy, startManualChain } from "../../testing/chain.ts";
import { stakeHistory, stakeStatus } from "./activation.ts";

const sol = 1_000_000_000n;
const rent = 2_282_880n;
const options = { slotMs: 400, confirmedAfter: 10, finalizedAfter: 31, slotsPerEpoch: 64n, validators: 2 };

interface Staker {
  readonly payer: Keypair;
  readonly stake: Keypair;
}

async function runs(manual: ManualChain, signers: [Keypair, ...Keypair[]], ...parts: TransactionInstruction[]) {
  const { chain } = manual;
  const sent = signedBy(signers, chain.at("processed").blockhash, ...parts);
  chain.submit(sent);
  await manual.closeSlots(1);
  return chain.history.transaction(sent.id)?.executed.error ?? null;
}

/** A staker that delegates the given lamports to a validator by the real stake program. */
async function staker(manual: ManualChain, lamports: bigint, validator = 0): Promise<Staker> {
  const { chain } = manual;
  const [payer, stake] = [Keypair.generate(), Keypair.generate()];
  manual.fund(payer, lamports + 10n * sol);
  await manual.closeSlots(1);
  const vote = new PublicKey(chain.genesis.validators[validator]?.vote ?? "");
  const created = StakeProgram.createAccount({
    fromPubkey: payer.publicKey,
    stakePubkey: stake.publicKey,
    authorized: new Authorized(payer.publicKey, payer.publicKey),
    lamports: Number(lamports + rent),
  });
  const authorizedPubkey = payer.publicKey;
  const delegated = StakeProgram.delegate({ stakePubkey: stake.publicKey, authorizedPubkey, votePubkey: vote });
  const error = await runs(manual, [payer, stake], ...created.instructions, ...delegated.instructions);
  expect(error).toBeNull();
  return { payer, stake };
}

function delegationOf(chain: Chain, { stake }: Staker) {
  const account = chain.account(stake.publicKey.toBase58(), "processed");
  const decoded = account === null ? null : decodeStakeAccount(account.data);
  if (account === null || decoded?.state !== "delegated") throw new Error("not a delegation");
  return { lamports: account.lamports, ...decoded.delegation };
}

async function toEpoch(manual: ManualChain, epoch: bigint): Promise<void> {
  const { chain } = manual;
  await manual.closeSlots(Number(chain.epochs.firstSlot(epoch) - chain.openSlot) + 1);
}

function historyOf(chain: Chain) {
  const account = chain.account(sysvars.stakeHistory, "processed");
  const view = new DataView(account?.data.slice().buffer ?? new ArrayBuffer(8));
  return Array.from({ length: Number(view.getBigUint64(0, true)) }, (_, index) => {
    const at = 8 + index * 32;
    const [epoch, effective, activating, deactivating] = [0, 8, 16, 24].map((offset) =>
      view.getBigUint64(at + offset, true),
    );
    return {
      epoch: epoch ?? 0n,
      effective: effective ?? 0n,
      activating: activating ?? 0n,
      deactivating: deactivating ?? 0n,
    };
  });
}

describe("rewards of an epoch", () => {
  test("every delegation is paid by stake times credits, less its validator's commission, also one of another client", async () => {
    await using manual = await startManualChain(options);
    const { chain } = manual;
    const [small, large] = [await staker(manual, 300_000n * sol), await staker(manual, 900_000n * sol)];
    const other = await staker(manual, 900_000n * sol, 1);
    await toEpoch(manual, 2n);
    const before = [small, large, other].map((each) => delegationOf(chain, each));
    const capitalization = chain.at("processed").capitalization;
    await toEpoch(manual, 3n);
    const after = [small, large, other].map((each) => delegationOf(chain, each));
    const earned = after.map(({ stake }, index) => stake - (before[index]?.stake ?? 0n));
    expect(earned.every((lamports) => lamports > 0n)).toBe(true);
    // The validators have 5 and 7 percent and the same credits; rounding costs a lamport.
    expect(Number(earned[1]) / Number(earned[0])).toBeCloseTo(3, 4);
    expect(Number(earned[2]) / Number(earned[1])).toBeCloseTo(0.93 / 0.95, 4);
    for (const [index, each] of after.entries()) {
      expect(each.lamports - (before[index]?.lamports ?? 0n)).toBe(earned[index] ?? -1n);
      const vote = chain.account(each.voter, "processed");
      const credits = decodeVoteAccount(vote?.data ?? new Uint8Array())?.epochCredits.at(-1)?.credits ?? 0n;
      expect(each.creditsObserved).toBeLessThanOrEqual(credits);
      expect(each.creditsObserved).toBeGreaterThan(before[index]?.creditsObserved ?? 0n);
    }
    const block = chain.history.block(chain.epochs.firstSlot(3n));
    const paid = block?.rewards.reduce((sum, { lamports }) => sum + lamports, 0n) ?? 0n;
    expect(chain.at("processed").capitalization - capitalization).toBe(paid);
    const own = chain.genesis.validators.flatMap(({ vote, stake }) => [vote, stake]);
    const rewarded = block?.rewards.map(({ pubkey }) => pubkey) ?? [];
    expect(rewarded).toEqual(expect.arrayContaining([...own, small.stake.publicKey.toBase58()]));
    expect(block?.rewards.filter(({ rewardType }) => rewardType === "Staking").length).toBe(2 + 2 + 3);
  });

  test("all that is paid is what inflation gives, but for what rounding leaves", async () => {
    await using manual = await startManualChain(options);
    const { chain } = manual;
    await toEpoch(manual, 1n);
    const { capitalization } = chain.at("processed");
    await toEpoch(manual, 2n);
    const paid = chain.history.block(128n)?.rewards.reduce((sum, { lamports }) => sum + lamports, 0n) ?? 0n;
    // 8% a year less the foundation's twentieth, for 64 slots of 400 ms.
    const expected = 0.076 * Number(capitalization) * ((64 * 0.4) / 31_556_926);
    expect(Number(paid) / expected).toBeCloseTo(1, 5);
  });

  test("stake that began in the epoch, and stake with a validator that did not vote, earn nothing", async () => {
    await using manual = await startManualChain(options);
    const { chain } = manual;
    await toEpoch(manual, 1n);
    const [fresh, idle] = [await staker(manual, 5n * sol), await staker(manual, 5n * sol, 1)];
    chain.cluster.voting.setDelinquent(chain.genesis.validators[1]?.identity ?? "", true);
    await toEpoch(manual, 2n);
    expect(delegationOf(chain, fresh).stake).toBe(5n * sol);
    await toEpoch(manual, 4n);
    expect(delegationOf(chain, fresh).stake).toBeGreaterThan(5n * sol);
    const rewarded = chain.history.block(256n)?.rewards.map(({ pubkey }) => pubkey) ?? [];
    expect(rewarded).not.toContain(idle.stake.publicKey.toBase58());
    expect(rewarded).not.toContain(chain.genesis.validators[1]?.vote ?? "");
    expect(rewarded).toContain(fresh.stake.publicKey.toBase58());
  });
});

describe("activation", () => {
  const large = 200_000_000n * sol;

  test("no more than nine percent of the cluster's stake begins in an epoch, and the history says so", async () => {
    await using manual = await startManualChain({ ...options, faucetLamports: 900_000_000n * sol });
    const { chain } = manual;
    const all = chain.cluster.stakes.at(0n)?.total ?? 0n;
    const big = await staker(manual, large);
    await toEpoch(manual, 2n);
    const [first, zeroth] = historyOf(chain);
    expect(zeroth).toMatchObject({ epoch: 0n, effective: all, activating: large, deactivating: 0n });
    expect(first?.epoch).toBe(1n);
    expect(Number(first?.effective) / Number(all)).toBeCloseTo(1.09, 6);
    expect((first?.effective ?? 0n) + (first?.activating ?? 0n)).toBeGreaterThanOrEqual(all + large);
    const found = stakeStatus(delegationOf(chain, big), 1n, stakeHistory(historyOf(chain)));
    expect(Number(found.effective) / Number(all)).toBeCloseTo(0.09, 6);
    expect(found.effective + found.activating).toBe(delegationOf(chain, big).stake);
  });

  test("the stake program lets go of just what has become inactive, to the lamport, epoch after epoch", async () => {
    await using manual = await startManualChain({ ...options, faucetLamports: 900_000_000n * sol });
    const { chain } = manual;
    const big = await staker(manual, large);
    await toEpoch(manual, 3n);
    const { payer, stake } = big;
    const deactivate = StakeProgram.deactivate({ stakePubkey: stake.publicKey, authorizedPubkey: payer.publicKey });
    expect(await runs(manual, [payer], ...deactivate.instructions)).toBeNull();
    for (const epoch of [4n, 5n]) {
      await toEpoch(manual, epoch);
      const held = delegationOf(chain, big);
      const { effective } = stakeStatus(held, epoch, stakeHistory(historyOf(chain)));
      const free = held.lamports - rent - effective;
      expect(free).toBeGreaterThan(0n);
      const withdraw = (lamports: bigint) => {
        const { instructions } = StakeProgram.withdraw({
          stakePubkey: stake.publicKey,
          authorizedPubkey: payer.publicKey,
          toPubkey: payer.publicKey,
          lamports: 0,
        });
        // The amount is beyond what a double holds exactly: it is written by hand, at byte 4.
        for (const instruction of instructions) instruction.data.writeBigUInt64LE(lamports, 4);
        return runs(manual, [payer], ...instructions);
      };
      expect(await withdraw(free + 1n)).toEqual({ InstructionError: [0, "InsufficientFunds"] });
      expect(await withdraw(free)).toBeNull();
    }
  });
});
