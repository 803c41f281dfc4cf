import type { AccountIds, AuctionCaps } from "@sluice/auction";
import { engineLimits } from "@sluice/contract/engine";
import type { Address, Signature, Slot } from "@sluice/wire/identifiers";
import type { BlockSession, BundleEffects } from "../simulation/index.ts";
import type { Candidate } from "./candidates.ts";
import type { BuildTarget } from "./slot-targeting.ts";

/** Builds of a block in a row: each leaves out what ran before and does not run any more. */
const buildsMax = 3;

/** A winner that ran in the block's session. */
interface Taken {
  readonly candidate: Candidate;
  readonly effects: BundleEffects;
}

/**
 * The block that ticks fill: what has won so far, what is left of its caps, and the state that winners have left. The
 * session holds what the leader holds and what the tick is about to deliver; where it came to hold anything else it is
 * built anew.
 */
export class BlockPlan implements AsyncDisposable {
  readonly slot: Slot;
  readonly leader: Address;
  /** Bundles that are in it, or that failed on it: none of them competes for it again. */
  readonly settled = new Set<string>();
  readonly #openSession: () => BlockSession;
  #session: BlockSession;
  #isSpoilt = false;
  readonly #delivered: Taken[] = [];
  #pending: Taken[] = [];
  readonly #signatures = new Set<Signature>();
  readonly #used = new Map<Address, number>();
  #computeUnits = 0;

  constructor({ slot, leader }: BuildTarget, openSession: () => BlockSession) {
    this.slot = slot;
    this.leader = leader;
    this.#openSession = openSession;
    this.#session = openSession();
  }

  get isSpoilt(): boolean {
    return this.#isSpoilt;
  }

  get session(): BlockSession {
    return this.#session;
  }

  /** What this tick has taken and that was not handed over yet. */
  get pending(): readonly Taken[] {
    return this.#pending;
  }

  /** Whether a transaction is in the block already, by any bundle. */
  holds(signatures: readonly Signature[]): boolean {
    return this.#signatures.size > 0 && signatures.some((each) => this.#signatures.has(each));
  }

  caps(accounts: AccountIds, tipAccounts: ReadonlySet<number>): AuctionCaps {
    return {
      computeUnits: engineLimits.computeUnitsBlock - this.#computeUnits,
      accountComputeUnits: engineLimits.computeUnitsAccount,
      usedBy: (id) => {
        const address = accounts.addressOf(id);
        return address === undefined ? 0 : (this.#used.get(address) ?? 0);
      },
      tipAccounts,
    };
  }

  /** A bundle has been applied to the session and is to go to the leader. */
  took(candidate: Candidate, effects: BundleEffects): void {
    this.settled.add(candidate.id);
    this.#pending.push({ candidate, effects });
    this.#count(effects);
  }

  /** The session holds something that the leader will not, or is lost. */
  spoil(): void {
    this.#isSpoilt = true;
  }

  /** The leader has what was pending, but for the bundles that ended meanwhile. */
  handedOver(ids: ReadonlySet<string>): void {
    const taken = this.#pending.filter(({ candidate }) => ids.has(candidate.id));
    if (taken.length < this.#pending.length) this.spoil();
    for (const each of taken) this.#delivered.push(each);
    this.#pending = [];
  }

  /** What was pending was not delivered: it may compete again. */
  takeBack(): void {
    if (this.#pending.length === 0) return;
    for (const { candidate } of this.#pending) this.settled.delete(candidate.id);
    this.#pending = [];
    this.spoil();
  }

  /**
   * Builds a spoilt block again, of what the leader has and what is pending; what of the latter does not run without
   * what is left out competes again. False where it cannot be built now.
   */
  async renew(): Promise<boolean> {
    for (let build = 0; this.#isSpoilt && build < buildsMax; build++) {
      if (!(await this.#build())) return false;
    }
    return !this.#isSpoilt;
  }

  /** False where the session is not to be had; it is spoilt still where something of it has to be left out. */
  async #build(): Promise<boolean> {
    await this.#session[Symbol.asyncDispose]();
    this.#session = this.#openSession();
    const kept = [...this.#delivered, ...this.#pending];
    const outcomes = await this.#session.apply(kept.map(({ candidate }) => candidate));
    if (outcomes.some((outcome) => !outcome.ok && outcome.reason === "unavailable")) return false;
    this.#signatures.clear();
    this.#used.clear();
    this.#computeUnits = 0;
    // What the leader has counts in any case, as it counted when it was delivered.
    for (const { effects } of this.#delivered) this.#count(effects);
    const before = this.#pending;
    this.#pending = before.flatMap(({ candidate }, index): Taken[] => {
      const effects = outcomes[this.#delivered.length + index];
      return effects?.ok === true && effects.tip >= candidate.claimed ? [{ candidate, effects }] : [];
    });
    for (const { effects } of this.#pending) this.#count(effects);
    const ids = new Set(this.#pending.map(({ candidate }) => candidate.id));
    for (const { candidate } of before) if (!ids.has(candidate.id)) this.settled.delete(candidate.id);
    this.#isSpoilt = this.#pending.length < before.length;
    return true;
  }

  #count({ costUnits, writes, signatures }: BundleEffects): void {
    this.#computeUnits += costUnits;
    for (const address of writes) this.#used.set(address, (this.#used.get(address) ?? 0) + costUnits);
    for (const signature of signatures) this.#signatures.add(signature);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#session[Symbol.asyncDispose]();
  }
}
