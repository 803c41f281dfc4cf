import type { StakeDelegation } from "@sluice/wire/accounts/native";
import { maxU64 } from "@sluice/wire/identifiers";
import type { StakeHistoryEntry } from "../../model/index.ts";

/** Of the cluster's effective stake at most this share becomes active or inactive in an epoch. */
const rate = 0.09;

export interface StakeStatus {
  readonly effective: bigint;
  readonly activating: bigint;
  readonly deactivating: bigint;
}

export type StakeHistory = ReadonlyMap<bigint, StakeHistoryEntry>;

export function stakeHistory(entries: readonly StakeHistoryEntry[]): StakeHistory {
  return new Map(entries.map((entry) => [entry.epoch, entry]));
}

/**
 * This account's part of what the cluster lets change in an epoch, at least one lamport. The runtime computes it in
 * doubles; so does this, to the same lamport.
 */
function changing(held: bigint, all: bigint, effective: bigint): bigint {
  const part = BigInt(Math.trunc((Number(held) / Number(all)) * (Number(effective) * rate)));
  return part > 1n ? part : 1n;
}

function activationStatus(
  delegation: StakeDelegation,
  epoch: bigint,
  history: StakeHistory,
): Omit<StakeStatus, "deactivating"> {
  const { stake, activationEpoch, deactivationEpoch } = delegation;
  if (activationEpoch === maxU64) return { effective: stake, activating: 0n };
  if (activationEpoch === deactivationEpoch || epoch < activationEpoch) return { effective: 0n, activating: 0n };
  if (epoch === activationEpoch) return { effective: 0n, activating: stake };
  let cluster = history.get(activationEpoch);
  // Where history no longer reaches, or never did, all of it is active.
  if (cluster === undefined) return { effective: stake, activating: 0n };
  let effective = 0n;
  for (let current = activationEpoch + 1n; cluster !== undefined; current += 1n) {
    if (cluster.activating === 0n) break;
    effective += changing(stake - effective, cluster.activating, cluster.effective);
    if (effective >= stake) return { effective: stake, activating: 0n };
    if (current >= epoch || current >= deactivationEpoch) break;
    cluster = history.get(current);
  }
  return { effective, activating: stake - effective };
}

/**
 * How much of a delegation is active in an epoch, and how much is on its way. Source: solana-stake-interface,
 * Delegation.
 */
export function stakeStatus(delegation: StakeDelegation, epoch: bigint, history: StakeHistory): StakeStatus {
  const { deactivationEpoch } = delegation;
  const { effective, activating } = activationStatus(delegation, epoch, history);
  if (epoch < deactivationEpoch) return { effective, activating, deactivating: 0n };
  if (epoch === deactivationEpoch) return { effective, activating: 0n, deactivating: effective };
  let cluster = history.get(deactivationEpoch);
  if (cluster === undefined) return { effective: 0n, activating: 0n, deactivating: 0n };
  let left = effective;
  for (let current = deactivationEpoch + 1n; cluster !== undefined && left > 0n; current += 1n) {
    if (cluster.deactivating === 0n) break;
    const gone = changing(left, cluster.deactivating, cluster.effective);
    left = gone >= left ? 0n : left - gone;
    if (current >= epoch) break;
    cluster = history.get(current);
  }
  return { effective: left, activating: 0n, deactivating: left };
}

/** The sum of all delegations in an epoch: the epoch's entry of the stake history. */
export function clusterStake(
  delegated: Iterable<{ readonly delegation: StakeDelegation }>,
  epoch: bigint,
  history: StakeHistory,
): StakeHistoryEntry {
  let [effective, activating, deactivating] = [0n, 0n, 0n];
  for (const { delegation } of delegated) {
    const status = stakeStatus(delegation, epoch, history);
    effective += status.effective;
    activating += status.activating;
    deactivating += status.deactivating;
  }
  return { epoch, effective, activating, deactivating };
}
