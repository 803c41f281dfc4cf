import { keyBytes } from "@sluice/svm";
import type { AccountWrite } from "@sluice/svm/bank";
import { parseTransaction, type Transaction } from "@sluice/wire/transaction";
import type { BankSlot, ChainAccount } from "../../model/index.ts";
import type { AccountOverlay } from "../account-overlay.ts";
import type { Validator } from "../validator.ts";
import { CREDITS_MAX, type Lockouts, landVote, voteFor, withCredits } from "./tower.ts";
import { readTower, type VoteTower, withTower } from "./vote-account.ts";
import { voteTransaction } from "./vote-transaction.ts";

/** The slot in which votes land. */
export interface VotingSlot {
  readonly slot: bigint;
  readonly epoch: bigint;
  /** What is voted for. */
  readonly parent: BankSlot;
  readonly read: (address: string) => ChainAccount | null;
}

interface Ballot {
  readonly validator: Validator;
  readonly account: ChainAccount;
  readonly tower: VoteTower;
  readonly lockouts: Lockouts;
}

/**
 * The validators' votes: each votes for every block in the slot after it, going by its vote account as that is on the
 * fork, so that a fork takes its votes back. Either they are transactions that the vote program runs, or the chain writes
 * the same towers itself.
 */
export class Voting {
  readonly #validators: readonly Validator[];
  readonly #delinquent = new Set<string>();

  constructor(validators: readonly Validator[]) {
    this.#validators = validators;
  }

  /** Identities of those that do not vote. */
  get delinquent(): readonly string[] {
    return [...this.#delinquent];
  }

  /** Stops a validator's votes, or lets it vote again. */
  setDelinquent(identity: string, on: boolean): void {
    if (on) this.#delinquent.add(identity);
    else this.#delinquent.delete(identity);
  }

  *#ballots(voting: VotingSlot): Generator<Ballot> {
    for (const validator of this.#validators) {
      if (this.#delinquent.has(validator.identity)) continue;
      const account = voting.read(validator.vote);
      const tower = account === null ? null : readTower(account);
      const lockouts = tower === null ? null : voteFor(tower, voting.parent.slot);
      if (account !== null && tower !== null && lockouts !== null) yield { validator, account, tower, lockouts };
    }
  }

  /** The votes for the parent, signed. */
  transactions(voting: VotingSlot): Transaction[] {
    const { parent } = voting;
    const hash = keyBytes(parent.blockhash);
    return [...this.#ballots(voting)].flatMap(({ validator, lockouts }) => {
      const vote = { lockouts, hash, time: parent.time };
      const parsed = parseTransaction(voteTransaction(validator.keypair, validator.voteBytes, vote, hash));
      if (!parsed.ok) throw new Error(`a vote is malformed: ${parsed.fault}`);
      return [parsed.transaction];
    });
  }

  /** What the same votes make of the vote accounts, without transactions and their fees. */
  writes(voting: VotingSlot): AccountWrite[] {
    const { slot, epoch, parent } = voting;
    return [...this.#ballots(voting)].map(({ validator, account, tower, lockouts }) => {
      const landed = landVote(tower, lockouts, { slot, epoch, unixTimestamp: parent.time });
      return { address: validator.vote, account: withTower(account, landed) };
    });
  }

  /** Credits for slots of an epoch that were left out, as if each had been voted for in time. */
  presume(slots: bigint, epoch: bigint, accounts: AccountOverlay): void {
    for (const { identity, vote } of this.#validators) {
      const account = this.#delinquent.has(identity) ? null : accounts.read(vote);
      const tower = account === null ? null : readTower(account);
      if (account === null || tower === null) continue;
      const epochCredits = withCredits(tower.epochCredits, epoch, slots * CREDITS_MAX);
      accounts.write(vote, withTower(account, { ...tower, epochCredits }));
    }
  }
}
