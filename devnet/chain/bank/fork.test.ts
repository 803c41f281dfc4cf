import { expect, test } from "bun:test";
import { Keypair, SystemProgram } from "@solana/web3.js";
import type { BankSlot } from "../model/records.ts";
import { type ManualChain, signed, startManualChain } from "../testing/chain.ts";
import type { Chain } from "./chain.ts";
import { PerformanceSamples } from "./performance.ts";

const sol = 1_000_000_000n;
/**
 * One second holds all slots, so that two chains that close different numbers of them have the same clock; none is
 * finalized, since the abandoned ones would have helped to finalize more.
 */
const options = { slotMs: 1, confirmedAfter: 10, finalizedAfter: 60, slotsPerEpoch: 32n };

function everything(chain: Chain): unknown {
  const { slot } = chain.at("processed");
  return {
    bank: chain.at("processed"),
    accounts: new Map([...chain.accounts.all(slot)].sort(([one], [other]) => (one < other ? -1 : 1))),
    lamports: chain.accounts.lamports,
    stakes: [0n, 1n, 2n].map((epoch) => chain.cluster.stakes.at(epoch)),
    leaders: Array.from({ length: 100 }, (_, index) => chain.cluster.leaderOf(BigInt(index))),
    blocks: chain.history.slots(0n, slot, 1_000),
    hashes: chain.blockhashes.newest(300),
  };
}

function transfer(chain: Chain, payer: Keypair, to: Keypair) {
  const { publicKey: toPubkey } = to;
  const pay = SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey, lamports: sol });
  return signed(payer, chain.at("processed").blockhash, pay);
}

async function fundedChain(payer: Keypair, slots: number, votes = false): Promise<ManualChain> {
  const manual = await startManualChain({ ...options, votes });
  manual.fund(payer, 100n * sol);
  await manual.closeSlots(slots);
  return manual;
}

for (const [parent, votes] of [
  [12, false],
  [30, false],
  [31, false],
  [40, false],
  [30, true],
  [40, true],
] as const) {
  const name = `a fork on slot ${parent} leaves the chain as if the abandoned slots had been skipped, an epoch's start included`;
  test(`${name}${votes ? ", with votes as transactions" : ""}`, async () => {
    const payer = Keypair.fromSeed(new Uint8Array(32).fill(1));
    await using forked = await fundedChain(payer, parent, votes);
    await using skipped = await fundedChain(payer, parent - 1, votes);
    for (let index = 0; index < 3; index += 1) {
      forked.chain.submit(transfer(forked.chain, payer, Keypair.generate()));
      await forked.closeSlots(1);
    }
    forked.chain.submit(transfer(forked.chain, payer, Keypair.generate()));
    await forked.chain.settled();
    const outcome = await forked.chain.fork(3, false);
    expect(outcome).toEqual({
      parent: BigInt(parent),
      abandoned: [1n, 2n, 3n, 4n].map((after) => BigInt(parent) + after),
    });
    await skipped.chain.closeSlot(4n);
    expect(forked.chain.openSlot).toBe(skipped.chain.openSlot);
    await forked.closeSlots(3);
    await skipped.closeSlots(3);
    expect(everything(forked.chain)).toEqual(everything(skipped.chain));
  });
}

test("with landAgain what was abandoned runs again on the new branch, but for what carries an abandoned blockhash", async () => {
  const payer = Keypair.generate();
  await using manual = await fundedChain(payer, 12);
  const { chain } = manual;
  const [kept, lost] = [Keypair.generate(), Keypair.generate()];
  const lands = transfer(chain, payer, kept);
  chain.submit(lands);
  await manual.closeSlots(1);
  const dies = transfer(chain, payer, lost);
  chain.submit(dies);
  await manual.closeSlots(1);
  const before = chain.history.transaction(lands.id)?.executed;
  await chain.fork(2, true);
  expect(chain.history.transaction(lands.id)).toBeNull();
  await manual.closeSlots(1);
  const after = chain.history.transaction(lands.id)?.executed;
  expect(after).toEqual({ ...before, slot: 16n } as typeof after);
  expect(chain.history.transaction(dies.id)).toBeNull();
  expect(chain.account(kept.publicKey.toBase58(), "processed")?.lamports).toBe(sol);
  expect(chain.account(lost.publicKey.toBase58(), "processed")).toBeNull();
  const range = { newest: chain.at("processed").slot, before: null, until: null };
  const addressed = [...chain.history.ofAddress(payer.publicKey.toBase58(), range)].map(({ signature }) => signature);
  expect(addressed.slice(0, 1)).toEqual([lands.id]);
});

test("a fork never takes back what is confirmed, and commitments never move back", async () => {
  await using manual = await startManualChain(options);
  const { chain } = manual;
  await manual.closeSlots(25);
  const before = { confirmed: chain.at("confirmed"), finalized: chain.at("finalized") };
  expect(chain.forkDepthMax()).toBe(10);
  await expect(chain.fork(11, false)).rejects.toThrow("only 10 slots are not yet confirmed");
  await chain.fork(10, false);
  const confirmed: bigint[] = [];
  chain.watch({
    received() {},
    opened() {},
    frozen() {},
    confirmed: (bank) => void confirmed.push(bank.slot),
    finalized() {},
  });
  expect(chain.at("processed").slot).toBe(15n);
  expect({ confirmed: chain.at("confirmed"), finalized: chain.at("finalized") }).toEqual(before);
  expect(chain.forkDepthMax()).toBe(0);
  await manual.closeSlots(12);
  expect(confirmed).toEqual([27n, 28n]);
});

test("a fork that takes confirmed slots leaves what is finalized, and what was confirmed is shown until newer slots are", async () => {
  const payer = Keypair.generate();
  await using manual = await startManualChain({ ...options, confirmedAfter: 4, finalizedAfter: 12 });
  const { chain } = manual;
  manual.fund(payer, 100n * sol);
  await manual.closeSlots(20);
  const to = Keypair.generate();
  const lost = transfer(chain, payer, to);
  chain.submit(lost);
  await manual.closeSlots(5);
  const confirmed = chain.at("confirmed");
  expect([confirmed.slot, chain.at("finalized").slot, chain.forkDepthMax("finalized")]).toEqual([21n, 13n, 12]);
  const block = chain.history.block(21n);
  const shown = block === null ? null : { ...block };
  await expect(chain.fork(13, false, "finalized")).rejects.toThrow("only 12 slots are not yet finalized");
  await chain.fork(6, false, "finalized");
  expect([chain.at("processed").slot, chain.at("confirmed"), chain.openSlot]).toEqual([19n, confirmed, 27n]);
  expect(chain.abandonedFork?.slots(0n, 100n)).toEqual([20n, 21n]);
  expect(chain.abandonedFork?.block(21n)).toEqual(shown as NonNullable<typeof shown>);
  expect(chain.abandonedFork?.transaction(lost.id)?.executed.slot).toBe(21n);
  const address = to.publicKey.toBase58();
  expect(chain.abandonedFork?.over(chain.accounts).get(address, 21n)?.lamports).toBe(sol);
  expect(chain.accounts.get(address, 19n)).toBeNull();
  // More of the same branch goes before anything newer is confirmed.
  await manual.closeSlots(2);
  await chain.fork(4, false, "finalized");
  expect([chain.at("processed").slot, chain.abandonedFork?.slots(0n, 100n)]).toEqual([17n, [18n, 19n, 20n, 21n]]);
  expect(chain.abandonedFork?.over(chain.accounts).get(address, 21n)?.lamports).toBe(sol);
  await manual.closeSlots(4);
  expect(chain.abandonedFork?.bank).toEqual(confirmed);
  await manual.closeSlots(1);
  expect([chain.abandonedFork, chain.at("confirmed").slot]).toEqual([null, 30n]);
  expect(chain.account(address, "confirmed")).toBeNull();
  expect(chain.history.transaction(lost.id)).toBeNull();
});

test("skipped slots have no block, heights go on by one, and parents link over them", async () => {
  await using manual = await startManualChain(options);
  const { chain } = manual;
  await manual.closeSlots(3);
  await chain.closeSlot(5n);
  await manual.closeSlots(1);
  const { slot, parent, blockHeight } = chain.at("processed");
  expect({ slot, parent, blockHeight }).toEqual({ slot: 10n, parent: 4n, blockHeight: 5n });
  expect(chain.history.slots(0n, 10n, 100)).toEqual([0n, 1n, 2n, 3n, 4n, 10n]);
});

test("performance samples count nothing of abandoned slots", () => {
  const bank = (slot: bigint, seconds: bigint): BankSlot => ({
    slot,
    parent: slot - 1n,
    blockhash: "",
    blockHeight: slot,
    time: seconds,
    transactionCount: slot * 10n,
    voteCount: slot * 3n,
    capitalization: 0n,
  });
  const samples = new PerformanceSamples(bank(0n, 0n));
  samples.frozen(bank(100n, 60n));
  samples.frozen(bank(200n, 120n));
  samples.abandoned(bank(198n, 119n));
  expect(samples.newest(10).map(({ slot }) => slot)).toEqual([100n]);
  samples.frozen(bank(298n, 179n));
  expect(samples.newest(1)).toEqual([
    { slot: 298n, numTransactions: 1_000n, numNonVoteTransactions: 700n, numSlots: 100n, samplePeriodSecs: 60 },
  ]);
});
