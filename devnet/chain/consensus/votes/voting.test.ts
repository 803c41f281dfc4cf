import { expect, test } from "bun:test";
import { TextRandom } from "../../../random.ts";
import { type ManualChain, startManualChain } from "../../testing/chain.ts";
import { readTower } from "./vote-account.ts";

const options = { slotMs: 1, confirmedAfter: 10, finalizedAfter: 60, slotsPerEpoch: 64n, validators: 3 };

function voteAccounts({ chain }: ManualChain) {
  return chain.genesis.validators.map(({ vote }) => chain.account(vote, "processed"));
}

function towers(manual: ManualChain) {
  return voteAccounts(manual).map((account) => (account === null ? null : readTower(account)));
}

/** The same slots on both, some of them skipped, and a fork. */
async function live({ chain, ...manual }: ManualChain): Promise<void> {
  await manual.closeSlots(50);
  await chain.closeSlot(1n);
  await manual.closeSlots(3);
  await chain.closeSlot(9n);
  await manual.closeSlots(20);
  await chain.closeSlot(70n);
  await manual.closeSlots(40);
  await chain.fork(4, true);
  await manual.closeSlots(10);
  await chain.closeSlot(600n);
  await manual.closeSlots(45);
}

test("the vote program makes the same vote accounts of vote transactions as the chain makes without them", async () => {
  await using voting = await startManualChain({ ...options, votes: true });
  await using written = await startManualChain(options);
  await live(voting);
  await live(written);
  expect(voting.chain.at("processed").slot).toBe(written.chain.at("processed").slot);
  expect(towers(voting)).toEqual(towers(written));
  expect(voteAccounts(voting).map((account) => account?.data)).toEqual(
    voteAccounts(written).map((account) => account?.data),
  );
});

/** Slots, gaps, forks and validators that stop and go on voting, as the seed has them. */
async function wander({ chain, ...manual }: ManualChain, seed: string): Promise<void> {
  const random = new TextRandom(seed);
  for (let step = 0; step < 80; step += 1) {
    const { identity } = chain.genesis.validators[random.below(3)] ?? chain.genesis.validators[0];
    chain.cluster.voting.setDelinquent(identity, random.falls(0.3));
    if (random.falls(0.1)) await chain.fork(Math.min(chain.forkDepthMax(), 1 + random.below(6)), false);
    if (random.falls(0.2)) await chain.closeSlot(BigInt(1 + random.below(random.falls(0.2) ? 200 : 6)));
    await manual.closeSlots(1 + random.below(4));
  }
}

for (const seed of ["one", "two"]) {
  test(`so it does with random gaps, forks and pauses (${seed})`, async () => {
    await using voting = await startManualChain({ ...options, votes: true });
    await using written = await startManualChain(options);
    await wander(voting, seed);
    await wander(written, seed);
    expect(towers(voting)).toEqual(towers(written));
    const epochs = towers(voting).map((tower) => tower?.epochCredits.length ?? 0);
    expect(Math.max(...epochs)).toBeGreaterThan(2);
  });
}
