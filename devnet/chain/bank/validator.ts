import { programs } from "@sluice/wire";
import type { ChainAccount, Reward } from "../model.ts";
import type { AccountWrite } from "../svm/svm.ts";
import type { EpochSchedule } from "./epochs.ts";
import type { RecordedTransaction } from "./history.ts";
import {
  CREDITS_PER_SLOT,
  type EpochCredits,
  type Validator,
  type VoteStanding,
  voteAccount,
  voteAccountRent,
} from "./vote-state.ts";

const EPOCH_CREDITS_MAX = 64;
const NEVER = 0xffff_ffff_ffff_ffffn;
/** Votes that can be taken back: as many slots as can be unrooted. */
const PAST_VOTES_MAX = 128;

export interface FeeDistribution {
  readonly writes: readonly AccountWrite[];
  readonly rewards: readonly Reward[];
}

/** Half of the base fees is burned; the rest and all priority fees go to the slot's leader. Source: SIMD-0096. */
export function distributeFees(
  recorded: readonly RecordedTransaction[],
  validator: Validator,
  read: (address: string) => ChainAccount | null,
): FeeDistribution {
  let earned = 0n;
  for (const { executed, priorityFee } of recorded) {
    const base = executed.fee - priorityFee;
    earned += base - base / 2n + priorityFee;
  }
  if (earned === 0n) return { writes: [], rewards: [] };
  const account = read(validator.identity) ?? {
    lamports: 0n,
    data: new Uint8Array(),
    owner: programs.system,
    executable: false,
    rentEpoch: NEVER,
  };
  const lamports = account.lamports + earned;
  const reward: Reward = {
    pubkey: validator.identity,
    lamports: earned,
    postBalance: lamports,
    rewardType: "Fee",
    commission: null,
  };
  return { writes: [{ address: validator.identity, account: { ...account, lamports } }], rewards: [reward] };
}

/** The one validator votes for every slot as it is frozen; its vote account shows it. */
export class ValidatorVotes {
  readonly #validator: Validator;
  readonly #epochs: EpochSchedule;
  #credits: EpochCredits[] = [];
  #standing: VoteStanding;
  #activatedStake: bigint;
  /** Before each of the last votes, oldest first. */
  readonly #past: { readonly standing: VoteStanding; readonly activatedStake: bigint }[] = [];
  #stakeBefore: bigint | null = null;

  constructor(validator: Validator, epochs: EpochSchedule, time: bigint) {
    this.#validator = validator;
    this.#epochs = epochs;
    this.#standing = { lastVote: 0n, rootSlot: null, epoch: 0n, epochCredits: [], timestamp: time };
    this.#activatedStake = validator.stakeLamports;
  }

  get standing(): VoteStanding {
    return this.#standing;
  }

  /** Credits since genesis. */
  get credits(): bigint {
    return this.#credits.at(-1)?.credits ?? 0n;
  }

  /** Lamports that are delegated to the validator and active in this epoch. */
  get activatedStake(): bigint {
    return this.#activatedStake;
  }

  /** A new epoch has begun with this much delegated. */
  delegated(lamports: bigint): void {
    this.#stakeBefore = this.#activatedStake;
    this.#activatedStake = lamports;
  }

  /** Takes back the votes for slots after `slot`, as a validator does that leaves its fork. */
  rollback(slot: bigint): void {
    while (this.#standing.lastVote > slot) {
      const before = this.#past.pop();
      if (before === undefined) throw new Error(`votes after slot ${slot} are not kept any more`);
      this.#standing = before.standing;
      this.#activatedStake = before.activatedStake;
      this.#credits = [...before.standing.epochCredits];
    }
  }

  /** Votes for a slot that is being frozen and gives the vote account as it then is. */
  vote(slot: bigint, rootSlot: bigint, time: bigint, before: ChainAccount | null): AccountWrite {
    this.#past.push({ standing: this.#standing, activatedStake: this.#stakeBefore ?? this.#activatedStake });
    this.#stakeBefore = null;
    if (this.#past.length > PAST_VOTES_MAX) this.#past.shift();
    const epoch = this.#epochs.epochOf(slot);
    const last = this.#credits.at(-1);
    if (last?.epoch === epoch) {
      this.#credits[this.#credits.length - 1] = { ...last, credits: last.credits + CREDITS_PER_SLOT };
    } else {
      const previousCredits = last?.credits ?? 0n;
      this.#credits.push({ epoch, credits: previousCredits + CREDITS_PER_SLOT, previousCredits });
      this.#credits = this.#credits.slice(-EPOCH_CREDITS_MAX);
    }
    this.#standing = { lastVote: slot, rootSlot, epoch, epochCredits: [...this.#credits], timestamp: time };
    const lamports = before?.lamports ?? voteAccountRent();
    return { address: this.#validator.vote, account: voteAccount(this.#validator, this.#standing, lamports) };
  }
}
