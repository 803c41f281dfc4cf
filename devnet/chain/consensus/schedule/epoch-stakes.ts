import { decodeVoteAccount } from "@sluice/wire/accounts/vote";
import { programs } from "@sluice/wire/programs";
import type { AccountOverlay } from "../account-overlay.ts";

/** Epochs whose stakes are kept: more than a node can lag behind, which is 512 slots of epochs of 32. */
export const EPOCHS_KEPT = 20;

export interface VoterStake {
  readonly vote: string;
  readonly identity: string;
  /** Lamports that are delegated to the vote account and active in the epoch. */
  readonly stake: bigint;
}

export interface EpochStake {
  readonly epoch: bigint;
  /** The slot at whose opening this was counted. */
  readonly slot: bigint;
  readonly voters: readonly VoterStake[];
  readonly total: bigint;
}

/** The stake of every vote account as each epoch began. A fork takes back what was counted on the abandoned slots. */
export class EpochStakes {
  /** Oldest first. */
  #kept: EpochStake[] = [];

  record(epoch: bigint, slot: bigint, voters: readonly VoterStake[]): void {
    const total = voters.reduce((sum, { stake }) => sum + stake, 0n);
    this.#kept.push({ epoch, slot, voters, total });
    if (this.#kept.length > EPOCHS_KEPT) this.#kept.shift();
  }

  /** Takes back what was counted in slots after `slot`. */
  rollback(slot: bigint): void {
    this.#kept = this.#kept.filter((entry) => entry.slot <= slot);
  }

  /** The oldest epoch whose stakes are kept. */
  get oldestEpoch(): bigint {
    return this.#kept[0]?.epoch ?? 0n;
  }

  /** The stakes of an epoch, or of the newest one before it whose first slot had a block; null when long gone. */
  at(epoch: bigint): EpochStake | null {
    return this.#kept.findLast((entry) => entry.epoch <= epoch) ?? null;
  }
}

/** Every vote account with what is delegated to it. Linear in the accounts of the vote program. */
export function voterStakes(
  addresses: Iterable<string>,
  active: ReadonlyMap<string, readonly { readonly stake: bigint }[]>,
  accounts: AccountOverlay,
): VoterStake[] {
  const voters: VoterStake[] = [];
  for (const vote of addresses) {
    const account = accounts.read(vote);
    const state = account?.owner === programs.vote ? decodeVoteAccount(account.data) : null;
    if (state === null) continue;
    const stake = (active.get(vote) ?? []).reduce((sum, delegation) => sum + delegation.stake, 0n);
    voters.push({ vote, identity: state.node, stake });
  }
  return voters;
}
