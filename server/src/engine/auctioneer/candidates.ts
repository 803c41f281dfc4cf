import { AccountIds, type AuctionBundle } from "@sluice/auction";
import type { BundleRecord } from "../model/bundle.ts";
import type { BundleEffects } from "../simulation/index.ts";

/** A bundle that competes: what it was last seen to do, in the auction's own numbers. */
export interface Candidate extends AuctionBundle {
  readonly transactions: BundleRecord["transactions"];
  /** Lamports that it has to pay wherever it runs. */
  readonly claimed: bigint;
}

/** Accounts that live bundles may lock at a time; a bundle that would bring more waits until others have ended. */
const accountsMax = 4_000_000;
/**
 * A bundle that failed on so many blocks waits twice as many slots after each further failure, up to the most: bundles that
 * can no longer run would else be run for every block of their life, at the cost of all others.
 */
const patience = { failures: 4, slotsMost: 16n } as const;

interface Failures {
  times: number;
  /** It does not compete for a block before this slot. */
  notBefore: bigint;
}

/**
 * What is known of each live bundle's effects, so that a tick does not run all of them again: a bundle is run when it has
 * won, and when nothing is known of it yet.
 */
export class Candidates {
  readonly accounts = new AccountIds({ accountsMax });
  readonly #known = new Map<string, Candidate>();
  readonly #failures = new Map<string, Failures>();

  /** Takes what a simulation saw in place of what was known; null where there is no room for its accounts. */
  seen(record: BundleRecord, effects: BundleEffects): Candidate | null {
    this.#forgetEffects(record.id);
    const { tip, costUnits: computeUnits, writes, reads } = effects;
    const locks = this.accounts.hold(writes, reads);
    if (locks === null) return null;
    const { id, transactions, tip: claimed } = record;
    const candidate = { id, transactions, tip, claimed, computeUnits, locks };
    this.#known.set(record.id, candidate);
    return candidate;
  }

  get(id: string): Candidate | null {
    return this.#known.get(id) ?? null;
  }

  /** It did not run on the block of a slot. It is run again before it competes for another: the state may let it then. */
  failed(id: string, slot: bigint): void {
    this.#forgetEffects(id);
    const times = (this.#failures.get(id)?.times ?? 0) + 1;
    const wait = times <= patience.failures ? 1n : 1n << BigInt(Math.min(times - patience.failures, 16));
    this.#failures.set(id, { times, notBefore: slot + (wait < patience.slotsMost ? wait : patience.slotsMost) });
  }

  /** It ran on a block and was handed over. */
  ran(id: string): void {
    this.#failures.delete(id);
  }

  mayRun(id: string, slot: bigint): boolean {
    return slot >= (this.#failures.get(id)?.notBefore ?? 0n);
  }

  /** The bundle has ended. */
  forget(id: string): void {
    this.#failures.delete(id);
    this.#forgetEffects(id);
  }

  #forgetEffects(id: string): void {
    const known = this.#known.get(id);
    if (known === undefined) return;
    this.#known.delete(id);
    this.accounts.release(known.locks);
  }
}

/** What claims or pays most first; the others keep their order. */
export const highestTipFirst = <T extends { readonly tip: bigint }>(bids: readonly T[]): T[] =>
  bids.toSorted((one, other) => (one.tip === other.tip ? 0 : one.tip > other.tip ? -1 : 1));
