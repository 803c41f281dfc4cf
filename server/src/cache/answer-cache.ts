import { type CommitmentName, commitments } from "@sluice/contract/rpc";
import { type Network, networks } from "@sluice/contract/tiers";
import type { Clock } from "@sluice/lib";
import { FifoCache, S3FifoCache, type Sized } from "./fifo-caches.ts";

/** How long an answer may be stored: as history, or until the next slot of its commitment. */
export interface Retention<T> {
  readonly value: T;
  readonly until: "final" | "slot";
}

export interface AnswerCacheOptions {
  /** Bytes of history for each network. */
  readonly finalBytesMax?: number;
  /** Bytes of what is valid until the next slot, for each network and commitment. */
  readonly slotBytesMax?: number;
  readonly finalLifetimeMs?: number;
  readonly slotLifetimeMs?: number;
}

export interface AnswerCacheDependencies {
  readonly clock: Pick<Clock, "monotonic">;
  /** Whether notices of new slots of that commitment arrive. Without them nothing is stored until the next slot. */
  readonly isLive: (network: Network, commitment: CommitmentName) => boolean;
}

/** The bounds of decisions.md, Cache classes: history for 5 minutes, what moves with the head for 5 seconds at most. */
const defaults: Required<AnswerCacheOptions> = {
  finalBytesMax: 64 * 1024 * 1024,
  slotBytesMax: 16 * 1024 * 1024,
  finalLifetimeMs: 300_000,
  slotLifetimeMs: 5_000,
};

/**
 * Answers of every network and commitment. The commitments of a network share its history: a finalized block is the
 * same block for a request at confirmed.
 */
export class AnswerCache<T extends Sized, Outcome> {
  readonly #caches = new Map<Network, ReadonlyMap<CommitmentName, CommitmentCache<T, Outcome>>>();
  readonly #finals: S3FifoCache<T>[] = [];

  constructor(options: AnswerCacheOptions, dependencies: AnswerCacheDependencies) {
    const settings = { ...defaults, ...options };
    const { clock } = dependencies;
    for (const network of networks) {
      const final = new S3FifoCache<T>({ bytesMax: settings.finalBytesMax });
      this.#finals.push(final);
      const caches = new Map<CommitmentName, CommitmentCache<T, Outcome>>();
      for (const commitment of commitments) {
        const isLive = () => dependencies.isLive(network, commitment);
        caches.set(commitment, new CommitmentCache<T, Outcome>(settings, { clock, isLive, final }));
      }
      this.#caches.set(network, caches);
    }
  }

  of(network: Network, commitment: CommitmentName): CommitmentCache<T, Outcome> {
    const cache = this.#caches.get(network)?.get(commitment);
    if (cache === undefined) throw new RangeError(`no cache for ${network} ${commitment}`);
    return cache;
  }

  /** Drops what was stored for that commitment until the next slot. */
  slotMoved(network: Network, commitment: CommitmentName): void {
    this.of(network, commitment).slotMoved();
  }

  /** Drops everything of a network: its chain is another one. */
  forget(network: Network): void {
    for (const cache of this.#caches.get(network)?.values() ?? []) cache.forget();
  }

  /** Changes the bound of each network's history; entries beyond it are evicted at once. */
  resizeFinal(bytesMax: number): void {
    for (const final of this.#finals) final.resize(bytesMax);
  }

  /** Bytes of all stored answers. */
  get bytes(): number {
    let sum = 0;
    for (const final of this.#finals) sum += final.bytes;
    for (const caches of this.#caches.values()) for (const cache of caches.values()) sum += cache.slotBytes;
    return sum;
  }
}

/**
 * The answers of one network at one commitment. A slot notice replaces the map of the slot part, so that the notice
 * costs the same for ten entries as for a million, and a read compares no slots.
 */
export class CommitmentCache<T extends Sized, Outcome> {
  readonly #options: Required<AnswerCacheOptions>;
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #isLive: () => boolean;
  readonly #final: S3FifoCache<T>;
  readonly #slot: FifoCache<T>;
  /** The calls that may be joined: those since the last slot notice, which replaces the map. */
  #flights = new Map<string, Promise<Outcome>>();
  /** How often the chain has become another one. */
  #chain = 0;

  constructor(
    options: Required<AnswerCacheOptions>,
    dependencies: {
      readonly clock: Pick<Clock, "monotonic">;
      readonly isLive: () => boolean;
      readonly final: S3FifoCache<T>;
    },
  ) {
    this.#options = options;
    this.#clock = dependencies.clock;
    this.#isLive = dependencies.isLive;
    this.#final = dependencies.final;
    this.#slot = new FifoCache({ bytesMax: options.slotBytesMax });
  }

  /** The stored answer to `key`, or undefined. `nowMs` is monotonic; the caller has read the clock already. */
  get(key: string, nowMs: number): T | undefined {
    return this.#slot.get(key, nowMs) ?? this.#final.get(key, nowMs);
  }

  /**
   * The call in flight for `key`, or undefined; a caller that joins it shares its outcome. A call from before the last
   * slot notice is not given: a caller may know of that slot by now, and the node may have read its state before it.
   */
  inFlight(key: string): Promise<Outcome> | undefined {
    return this.#flights.get(key);
  }

  /**
   * Runs `load` for `key`; others may join until it settles. `retain` says what of the outcome is stored, null for
   * nothing. A caller that goes away cancels nothing. An answer that was requested before a slot notice and arrives
   * after it is returned but not stored until the next slot: the node may have read its state on either side of the
   * notice.
   */
  load(key: string, load: () => Promise<Outcome>, retain: (outcome: Outcome) => Retention<T> | null): Promise<Outcome> {
    const chain = this.#chain;
    const flights = this.#flights;
    const flight = load().then(
      (outcome) => {
        flights.delete(key);
        const retention = retain(outcome);
        if (retention !== null && chain === this.#chain) this.#store(key, retention, flights);
        return outcome;
      },
      (error: unknown) => {
        flights.delete(key);
        throw error;
      },
    );
    flights.set(key, flight);
    return flight;
  }

  /** The head of this commitment has moved: everything that moves with it is dropped. */
  slotMoved(): void {
    this.#flights = new Map();
    this.#slot.clear();
  }

  /** Drops everything, the history too, and what comes of calls under way. */
  forget(): void {
    this.#chain += 1;
    this.slotMoved();
    this.#final.clear();
  }

  /** Bytes of the answers that are stored until the next slot. */
  get slotBytes(): number {
    return this.#slot.bytes;
  }

  /** `flights` are those that the call was among. */
  #store(key: string, { value, until }: Retention<T>, flights: ReadonlyMap<string, Promise<Outcome>>): void {
    const nowMs = this.#clock.monotonic();
    if (until === "final") this.#final.set(key, value, nowMs + this.#options.finalLifetimeMs);
    else if (flights === this.#flights && this.#isLive()) {
      this.#slot.set(key, value, nowMs + this.#options.slotLifetimeMs);
    }
  }
}
