import { type CommitmentName, commitments, type Network, networks } from "@sluice/contract";
import { ByteLru, type Sized } from "./byte-lru.ts";
import { Shelf, type ShelfOptions } from "./shelf.ts";

export interface AnswerCacheOptions extends Partial<ShelfOptions> {}

export interface AnswerCacheDependencies {
  readonly clock: { monotonic(): number };
  /** Whether new slots of that commitment are being heard of. */
  readonly isLive: (network: Network, commitment: CommitmentName) => boolean;
}

/**
 * The decided bounds (decisions: Cache classes): history for 5 minutes, what moves with the head for 5 seconds at most.
 * Slot entries live for a slot, so their part is small for each of the shelves.
 */
const defaults: ShelfOptions = {
  finalBytesMax: 64 * 1024 * 1024,
  slotBytesMax: 16 * 1024 * 1024,
  finalLifetimeMs: 300_000,
  slotLifetimeMs: 5_000,
};

/** Answers of every network and commitment; history shares one bound in bytes. */
export class AnswerCache<T extends Sized> {
  readonly #shelves: Readonly<Record<Network, Readonly<Record<CommitmentName, Shelf<T>>>>>;
  readonly #final: ByteLru<T>;

  constructor(options: AnswerCacheOptions, dependencies: AnswerCacheDependencies) {
    const settings: ShelfOptions = { ...defaults, ...options };
    this.#final = new ByteLru({ bytesMax: settings.finalBytesMax });
    const shelf = (network: Network, commitment: CommitmentName): Shelf<T> =>
      new Shelf<T>(
        settings,
        {
          now: () => dependencies.clock.monotonic(),
          isLive: () => dependencies.isLive(network, commitment),
        },
        this.#final,
      );
    const ofNetwork = (network: Network) =>
      Object.fromEntries(commitments.map((commitment) => [commitment, shelf(network, commitment)])) as Record<
        CommitmentName,
        Shelf<T>
      >;
    this.#shelves = Object.fromEntries(networks.map((network) => [network, ofNetwork(network)])) as Record<
      Network,
      Record<CommitmentName, Shelf<T>>
    >;
  }

  shelf(network: Network, commitment: CommitmentName): Shelf<T> {
    return this.#shelves[network][commitment];
  }

  /** A slot notice: what was kept for that commitment until the next slot is dropped. */
  slotMoved(network: Network, commitment: CommitmentName): void {
    this.#shelves[network][commitment].slotMoved();
  }

  /** Bytes of history that are kept; for metrics. */
  get finalBytes(): number {
    return this.#final.bytes;
  }
}
