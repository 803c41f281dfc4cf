import { expect, test } from "bun:test";
import type { Address, Slot } from "@sluice/wire/identifiers";
import type { BlockSession, BundleEffects } from "../simulation/index.ts";
import { BlockPlan } from "./block-plan.ts";
import type { Candidate } from "./candidates.ts";

const effects: BundleEffects = {
  ok: true,
  tip: 2_000n,
  computeUnits: 1,
  costUnits: 1,
  fees: 1n,
  writes: [],
  reads: [],
  signatures: [],
  slot: 1n,
};

const candidateOf = (id: string): Candidate => ({
  id,
  tip: 2_000n,
  computeUnits: 1,
  locks: { writes: [], reads: [] },
  transactions: [],
  claimed: 1n,
});

/** A spoilt block of four bundles, in which the last of those that are left fails at each of the first builds. */
function spoiltBlock(failingBuilds: number) {
  let sessions = 0;
  const openSession = (): BlockSession => {
    // The first session is the one that is spoilt.
    const build = sessions++;
    return {
      slot: 10n,
      apply: async (bundles) =>
        bundles.map((_, at) =>
          build <= failingBuilds && at === bundles.length - 1
            ? { ok: false, reason: "simulation_failed", index: 0, signature: null, error: "x", logs: [] }
            : effects,
        ),
      attempt: async () => [],
      [Symbol.asyncDispose]: async () => undefined,
    };
  };
  const target = { slot: 10n as Slot, leader: "leader" as Address, isOpen: true };
  const plan = new BlockPlan(target, openSession);
  for (const id of ["a", "b", "c", "d"]) plan.took(candidateOf(id), effects);
  plan.spoil();
  return { plan, sessions: () => sessions };
}

test("a block is built three times in a row at most, each time without what did not run any more", async () => {
  for (const [failing, isSound, builds, left] of [
    [0, true, 1, "abcd"],
    [2, true, 3, "ab"],
    [3, false, 3, "a"],
  ] as const) {
    const { plan, sessions } = spoiltBlock(failing);
    expect([failing, await plan.renew(), sessions() - 1]).toEqual([failing, isSound, builds]);
    expect(plan.pending.map(({ candidate }) => candidate.id).join("")).toBe(left);
    // What was left out competes again.
    expect([...plan.settled].join("")).toBe(left);
    expect(plan.isSpoilt).toBe(!isSound);
  }
});
