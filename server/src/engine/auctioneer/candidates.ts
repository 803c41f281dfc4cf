import { AccountIds, type AuctionBundle } from "@sluice/auction";
import type { BundlePool, BundleRecord } from "../model/bundle.ts";
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
 * A bundle that failed on so many blocks waits twice as many slots after each further failure, up to the most: bundles
 * that can no longer run would else be run for every block of their life, at the cost of all others.
 */
const patience = { failures: 4, slotsMost: 16n } as const;

interface Failures {
  times: number;
  /** It does not compete for a block before this slot. */
  notBefore: bigint;
}

/**
 * What is known of each live bundle's effects, so that a tick does not run all of them again: a bundle is run when it
 * has won, and when nothing is known of it yet.
 */
export class Candidates implements Disposable {
  readonly accounts = new AccountIds({ accountsMax });
  readonly #known = new Map<string, Candidate>();
  readonly #failures = new Map<string, Failures>();
  readonly #pool: Pick<BundlePool, "live">;
  readonly #following: Disposable;

  constructor({ pool }: { readonly pool: Pick<BundlePool, "live" | "onChange"> }) {
    this.#pool = pool;
    this.#following = pool.onChange(({ id, state }) => {
      if (state !== "accepted" && state !== "included") this.#forget(id);
    });
  }

  /**
   * Takes the effects of a simulation, so that no tick has to run the bundle before it competes. Effects of a bundle
   * that has ended are dropped, and those of one for whose accounts there is no room.
   */
  seen({ id }: Pick<BundleRecord, "id">, effects: BundleEffects): void {
    const record = this.#pool.live(id);
    if (record === null) return;
    this.#forgetEffects(id);
    const { tip, costUnits: computeUnits, writes, reads } = effects;
    const locks = this.accounts.hold(writes, reads);
    if (locks === null) return;
    const { transactions, tip: claimed } = record;
    this.#known.set(id, { id, transactions, tip, claimed, computeUnits, locks });
  }

  get(id: string): Candidate | null {
    return this.#known.get(id) ?? null;
  }

  /**
   * It did not run on the block of a slot. It is run again before it competes for another: the state may let it then.
   */
  failed(id: string, slot: bigint): void {
    this.#forgetEffects(id);
    const times = (this.#failures.get(id)?.times ?? 0) + 1;
    const wait = times <= patience.failures ? 1n : 1n << BigInt(Math.min(times - patience.failures, 16));
    this.#failures.set(id, { times, notBefore: slot + (wait < patience.slotsMost ? wait : patience.slotsMost) });
  }

  /** It ran on a block and was delivered. */
  ran(id: string): void {
    this.#failures.delete(id);
  }

  mayRun(id: string, slot: bigint): boolean {
    return slot >= (this.#failures.get(id)?.notBefore ?? 0n);
  }

  [Symbol.dispose](): void {
    this.#following[Symbol.dispose]();
  }

  /** The bundle has ended. */
  #forget(id: string): void {
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

/** Bundles that compete in one tick, over all searchers and of one. */
export const placesMax: Places = { total: 2_000, perSearcher: 500 };

interface Places {
  readonly total: number;
  readonly perSearcher: number;
}

type Bid = Pick<BundleRecord, "searcherId" | "tip">;

/**
 * Those that compete in this tick when more would than an auction takes in its time: each searcher has the same number
 * of places, what one does not need goes to the others, and its highest claims have them, the older of equal ones
 * first. So no searcher keeps another's bundles out by sending many, whatever they claim: one that loses costs its
 * sender nothing. Where there are more searchers than places, the highest claims have them. Keeps the order.
 */
export function withinPlaces<B extends Bid>(bids: readonly B[], places: Places = placesMax): readonly B[] {
  const bySearcher = Map.groupBy(bids, ({ searcherId }) => searcherId);
  const counts = [...bySearcher.values()].map(({ length }) => length);
  const share = Math.min(places.perSearcher, shareOf(counts, places.total));
  if (counts.every((count) => count <= share)) return bids;
  const chosen = [...bySearcher.values()].flatMap((own) => highest(own, share));
  const kept = new Set(highest(chosen, places.total));
  return bids.filter((bid) => kept.has(bid));
}

/** The largest number of places for each so that all together have no more than `total`, and at least one. */
function shareOf(counts: readonly number[], total: number): number {
  let [left, sharing] = [total, counts.length];
  for (const count of counts.toSorted((one, other) => one - other)) {
    if (count * sharing > left) return Math.max(1, Math.floor(left / sharing));
    left -= count;
    sharing -= 1;
  }
  return total;
}

function highest<B extends Bid>(bids: readonly B[], count: number): readonly B[] {
  if (bids.length <= count) return bids;
  return bids.toSorted((one, other) => (one.tip === other.tip ? 0 : one.tip > other.tip ? -1 : 1)).slice(0, count);
}
