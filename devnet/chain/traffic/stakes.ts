import { decodeStakeAccount } from "@sluice/wire/accounts/native";
import { maxU64 } from "@sluice/wire/identifiers";
import { rentExemptLamports } from "../model/index.ts";
import { createStake, deactivateStake, delegateStake, withdrawStake } from "./instructions.ts";
import { partyOf, type TrafficInstruction } from "./message.ts";
import { type Plan, plan, type TrafficWorld } from "./traffic-world.ts";
import type { TrafficStake } from "./wallets.ts";

const sol = 1_000_000_000n;
const stakeBytes = 200;
/** Epochs that a delegation runs; all but the first, in which it is activated, earn. */
const epochs = 3n;

/** The next step in the life of a stake account: created and delegated, deactivated when it has earned, withdrawn. */
export function stake(world: TrafficWorld): Plan | null {
  const free = world.accounts.stakes.filter(({ party, owner }) => {
    return !world.holds.has(party.address) && world.canPay(owner);
  });
  const start = world.draw.below(Math.max(1, free.length));
  for (let step = 0; step < free.length; step += 1) {
    const candidate = free[(start + step) % free.length];
    const found = candidate === undefined ? null : stakeStep(world, candidate);
    if (found !== null) return found;
  }
  return null;
}

function stakeStep(world: TrafficWorld, candidate: TrafficStake): Plan | null {
  const { party, owner } = candidate;
  const account = world.chain.read(party.address);
  const step = (...instructions: TrafficInstruction[]) => {
    world.hold(party.address);
    return plan([owner.keypair], 30_000, instructions);
  };
  if (account === null) {
    const lamports = sol + BigInt(world.draw.below(4_000)) * (sol / 1_000n);
    if (world.lamports(owner.address) < lamports * 2n) return null;
    const created = createStake(candidate, rentExemptLamports(stakeBytes) + lamports, stakeBytes);
    const vote = world.draw.pick(world.votes);
    return vote === null ? null : step(...created, delegateStake(party, partyOf(vote), owner));
  }
  const held = decodeStakeAccount(account.data);
  if (held === null) return null;
  if (held.state === "delegated") {
    const { activationEpoch, deactivationEpoch } = held.delegation;
    if (deactivationEpoch === maxU64) {
      return activationEpoch + epochs <= world.epoch ? step(deactivateStake(party, owner)) : null;
    }
    if (deactivationEpoch >= world.epoch) return null;
  }
  return step(withdrawStake(party, owner, account.lamports));
}
