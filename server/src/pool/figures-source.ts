import type { Clock } from "@sluice/lib";
import type { PoolSample } from "../ledger/index.ts";
import type { StakePoolChain } from "./account-reads.ts";
import { EpochReader } from "./epoch-reader.ts";
import type { StakePoolEvents, StakePoolReading } from "./events.ts";
import { noPool, poolFigures, type StakePoolFigures } from "./figures.ts";
import { updateBefore } from "./missed-updates.ts";
import { type PoolIdentity, PoolReader } from "./pool-reader.ts";
import type { EpochFacts, PoolSnapshot } from "./snapshot.ts";
import { readValidatorNames } from "./validator-names.ts";

/**
 * How old parts of the figures may be, in milliseconds: tips of an epoch are fixed some time after it, and what no node
 * told is asked for again sooner.
 */
const epochKeptMs = 600_000;
const partlyKeptMs = 60_000;
const namesKeptMs = 3_600_000;

export interface FiguresSourceDependencies {
  readonly chain: StakePoolChain;
  readonly clock: Clock;
  readonly events: Pick<StakePoolEvents, "read" | "readingFailed" | "poolRead">;
  /** The last sample of before the pool was updated in an epoch; null without one. */
  readonly sampleBefore: (updatedIn: bigint) => Promise<PoolSample | null>;
}

/** A pool's figures with what they were computed from; without a pool all of it is null and the figures are 0. */
export interface ReadFigures {
  readonly figures: StakePoolFigures;
  readonly snapshot: PoolSnapshot | null;
  /** What the last update counted; null before the first one, and while it cannot be read. */
  readonly facts: EpochFacts | null;
  /** How long the last epoch was that could be read; null before the first one. */
  readonly epochSeconds: number | null;
  /** When the reading ended, in Unix milliseconds. */
  readonly atMs: number;
}

interface HeldFacts {
  readonly of: bigint;
  readonly facts: EpochFacts | null;
  readonly atMs: number;
}

/** Reads a pool's figures from the chain; null as identity is no pool. */
export class FiguresSource {
  readonly #dependencies: FiguresSourceDependencies;
  readonly #pools: PoolReader | null;
  readonly #epochs: EpochReader | null;
  #facts: HeldFacts | null = null;
  #epochSeconds: number | null = null;
  #last: StakePoolFigures | null = null;
  #names: { readonly names: ReadonlyMap<string, string>; readonly atMs: number } | null = null;

  constructor(identity: PoolIdentity | null, dependencies: FiguresSourceDependencies) {
    this.#dependencies = dependencies;
    this.#pools = identity === null ? null : new PoolReader(identity, dependencies.chain);
    this.#epochs = identity === null ? null : new EpochReader(identity.tipProgram, dependencies.chain);
  }

  /**
   * Rejects where the pool's own accounts cannot be read. Where what the last update counted cannot be read, the rates
   * are those of before, and without them not known.
   */
  async read(): Promise<ReadFigures> {
    const pools = this.#pools;
    const snapshot = pools === null ? null : await this.#timed("pool", () => pools.read());
    if (snapshot === null) return { figures: noPool, snapshot, facts: null, epochSeconds: null, atMs: this.#now() };
    const { slot, validators } = snapshot;
    this.#dependencies.events.poolRead({ slot, validators: validators.length });
    const facts = await this.#factsOf(snapshot);
    this.#epochSeconds = facts?.length.seconds ?? this.#epochSeconds;
    const figures = poolFigures(snapshot, { facts, names: await this.#namesNow(), kept: this.#last });
    this.#last = figures;
    return { figures, snapshot, facts, epochSeconds: this.#epochSeconds, atMs: this.#now() };
  }

  async #factsOf(snapshot: PoolSnapshot): Promise<EpochFacts | null> {
    const { lastUpdateEpoch: of } = snapshot.pool;
    const held = this.#facts?.of === of ? this.#facts : null;
    const atMs = this.#dependencies.clock.monotonic();
    if (held !== null && atMs - held.atMs < (isPartial(held.facts) ? partlyKeptMs : epochKeptMs)) return held.facts;
    try {
      const facts = await this.#timed("epoch", () => this.#readFacts(snapshot, held?.facts ?? null));
      this.#facts = { of, facts, atMs };
      return facts;
    } catch (error) {
      this.#dependencies.events.readingFailed("epoch", error);
      return held?.facts ?? null;
    }
  }

  /** What no node tells now is what one told before of the same epoch. */
  async #readFacts(snapshot: PoolSnapshot, before: EpochFacts | null): Promise<EpochFacts | null> {
    const { lastUpdateEpoch } = snapshot.pool;
    const sample = lastUpdateEpoch === 0n ? null : await this.#dependencies.sampleBefore(lastUpdateEpoch);
    const facts = (await this.#epochs?.read(snapshot, updateBefore(snapshot, sample))) ?? null;
    if (facts === null || before === null) return facts;
    const validators = [...facts.validators].map(([vote, of]) => {
      const inflation =
        of.inflation === "unknown" ? (before.validators.get(vote)?.inflation ?? "unknown") : of.inflation;
      return [vote, { ...of, inflation }] as const;
    });
    return { ...facts, validators: new Map(validators) };
  }

  #now(): number {
    return this.#dependencies.clock.now();
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

/** Whether nodes may tell more of an epoch when they are asked again. */
const isPartial = (facts: EpochFacts | null): boolean =>
  facts?.validators.values().some(({ inflation }) => inflation === "unknown") ?? false;
