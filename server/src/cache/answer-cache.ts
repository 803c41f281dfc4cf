import { type CommitmentName, commitments } from "@sluice/contract/rpc";
import { type Network, networks } from "@sluice/contract/tiers";
import { AdmittingStore } from "./admitting-store.ts";
import type { Sized } from "./byte-lru.ts";
import { Shelf, type ShelfOptions } from "./shelf.ts";

export type AnswerCacheOptions = Partial<ShelfOptions>;

export interface AnswerCacheDependencies {
  readonly clock: { monotonic(): number };
  /** Whether new slots of that commitment are being heard of. */
  readonly isLive: (network: Network, commitment: CommitmentName) => boolean;
}

/**
 * The decided bounds (decisions: Cache classes): history for 5 minutes, what moves with the head for 5 seconds at most.
 * Bytes are for each network, and for each of its commitments.
 */
const defaults: ShelfOptions = {
  finalBytesMax: 64 * 1024 * 1024,
  slotBytesMax: 16 * 1024 * 1024,
  finalLifetimeMs: 300_000,
  slotLifetimeMs: 5_000,
};

/**
 * Answers of every network and commitment. The history of a network is shared by its commitments: a block that is
 * finalized is the same block to whoever asks for a confirmed one.
 */
export class AnswerCache<T extends Sized, Outcome> {
  readonly #shelves = new Map<Network, ReadonlyMap<CommitmentName, Shelf<T, Outcome>>>();
  readonly #finals: AdmittingStore<T>[] = [];

  constructor(options: AnswerCacheOptions, dependencies: AnswerCacheDependencies) {
    const settings: ShelfOptions = { ...defaults, ...options };
    for (const network of networks) {
      const final = new AdmittingStore<T>({ bytesMax: settings.finalBytesMax });
      this.#finals.push(final);
      const shelves = new Map<CommitmentName, Shelf<T, Outcome>>();
      for (const commitment of commitments) {
        const now = () => dependencies.clock.monotonic();
        const isLive = () => dependencies.isLive(network, commitment);
        shelves.set(commitment, new Shelf<T, Outcome>(settings, { now, isLive }, final));
      }
      this.#shelves.set(network, shelves);
    }
  }

  shelf(network: Network, commitment: CommitmentName): Shelf<T, Outcome> {
    const shelf = this.#shelves.get(network)?.get(commitment);
    if (shelf === undefined) throw new RangeError(`no shelf for ${network} ${commitment}`);
    return shelf;
  }

  /** A slot notice: what was kept for that commitment until the next slot is dropped. */
  slotMoved(network: Network, commitment: CommitmentName): void {
    this.shelf(network, commitment).slotMoved();
  }

  /** Bounds the history of each network anew; what no longer fits goes at once. */
  resizeFinal(bytesMax: number): void {
    for (const final of this.#finals) final.resize(bytesMax);
  }

  /** Bytes of history that are kept; for metrics. */
  get finalBytes(): number {
    return this.#finals.reduce((sum, final) => sum + final.bytes, 0);
  }
}
