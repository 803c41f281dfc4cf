import type { Clock } from "@sluice/lib";
import type { StakePoolChain } from "./account-reads.ts";
import { EpochReader } from "./epoch-reader.ts";
import type { StakePoolEvents, StakePoolReading } from "./events.ts";
import { noPool, poolFigures, type StakePoolFigures } from "./figures.ts";
import { type PoolIdentity, PoolReader } from "./pool-reader.ts";
import type { EpochFacts, PoolSnapshot } from "./snapshot.ts";
import { readValidatorNames } from "./validator-names.ts";

/** How old parts of the figures may be, in milliseconds: tips of an epoch are fixed some time after it. */
const epochKeptMs = 600_000;
const namesKeptMs = 3_600_000;

export interface FiguresSourceDependencies {
  readonly chain: StakePoolChain;
  readonly clock: Clock;
  readonly events: Pick<StakePoolEvents, "read" | "readingFailed" | "poolRead">;
}

/** A pool's figures with what they were computed from; without a pool all of it is null and the figures are 0. */
export interface ReadFigures {
  readonly figures: StakePoolFigures;
  readonly snapshot: PoolSnapshot | null;
  readonly facts: EpochFacts | null;
}

/** Reads a pool's figures from the chain; null as identity is no pool. */
export class FiguresSource {
  readonly #dependencies: FiguresSourceDependencies;
  readonly #pools: PoolReader | null;
  readonly #epochs: EpochReader;
  #facts: { readonly of: bigint; readonly facts: EpochFacts | null; readonly atMs: number } | null = null;
  #names: { readonly names: ReadonlyMap<string, string>; readonly atMs: number } | null = null;

  constructor(identity: PoolIdentity | null, dependencies: FiguresSourceDependencies) {
    this.#dependencies = dependencies;
    this.#pools = identity === null ? null : new PoolReader(identity, dependencies.chain);
    this.#epochs = new EpochReader(dependencies.chain);
  }

  /** Rejects where the pool's own accounts cannot be read; without what an epoch brought its figures are 0. */
  async read(): Promise<ReadFigures> {
    const pools = this.#pools;
    const snapshot = pools === null ? null : await this.#timed("pool", () => pools.read());
    if (snapshot === null) return { figures: noPool, snapshot: null, facts: null };
    const { slot, validators } = snapshot;
    this.#dependencies.events.poolRead({ slot, validators: validators.length });
    const facts = await this.#factsOf(snapshot);
    return { figures: poolFigures(snapshot, facts, await this.#namesNow()), snapshot, facts };
  }

  async #factsOf(snapshot: PoolSnapshot): Promise<EpochFacts | null> {
    const { lastUpdateEpoch: of } = snapshot.pool;
    const held = this.#facts?.of === of ? this.#facts : null;
    const atMs = this.#dependencies.clock.monotonic();
    if (held !== null && atMs - held.atMs < epochKeptMs) return held.facts;
    try {
      const facts = await this.#timed("epoch", () => this.#epochs.read(snapshot));
      this.#facts = { of, facts, atMs };
      return facts;
    } catch (error) {
      this.#dependencies.events.readingFailed("epoch", error);
      return held?.facts ?? null;
    }
  }

  async #namesNow(): Promise<ReadonlyMap<string, string>> {
    const held = this.#names;
    const atMs = this.#dependencies.clock.monotonic();
    if (held !== null && atMs - held.atMs < namesKeptMs) return held.names;
    let names = held?.names ?? new Map<string, string>();
    try {
      names = await this.#timed("names", () => readValidatorNames(this.#dependencies.chain));
    } catch (error) {
      // Names are no figures: nodes that refuse the search are asked again after the same time.
      this.#dependencies.events.readingFailed("names", error);
    }
    this.#names = { names, atMs };
    return names;
  }

  async #timed<T>(what: StakePoolReading, read: () => Promise<T>): Promise<T> {
    const { clock, events } = this.#dependencies;
    const atMs = clock.monotonic();
    const value = await read();
    events.read(what, clock.monotonic() - atMs);
    return value;
  }
}
