import type { Clock } from "@sluice/lib";
import type { ReplicasEvents } from "./events.ts";
import { createLimits, type LimitDecision, type Limits } from "./limits.ts";
import { groupOf, type ReplicaGroup } from "./replica-groups.ts";

/** The part of hot by which replicas know of each other. */
export interface Attendance {
  attend(key: string, holder: string, ttlMs: number): Promise<number>;
}

export interface ReplicasOptions {
  /** This process, as others see it. */
  readonly holder: string;
  readonly groups: readonly ReplicaGroup[];
}

/** A replica without a heartbeat for so long is no longer counted. */
const presenceMs = 10_000;
const fewerBeatsMin = 10;

/** The number of a group's processes, by their heartbeats. */
class Count {
  #count = 1;
  /** Heartbeats in a row that counted fewer, and the most that they counted. */
  #fewerBeats = 0;
  #fewer = 0;

  get value(): number {
    return this.#count;
  }

  /** More count at once. Fewer only when they stay so: after a loss each process finds the others not yet back. */
  set(counted: number): void {
    if (counted >= this.#count) {
      this.#count = counted;
      this.#fewerBeats = 0;
      return;
    }
    this.#fewer = this.#fewerBeats === 0 ? counted : Math.max(this.#fewer, counted);
    this.#fewerBeats += 1;
    if (this.#fewerBeats < fewerBeatsMin) return;
    this.#count = Math.max(1, this.#fewer);
    this.#fewerBeats = 0;
  }

  lost(): void {
    this.#fewerBeats = 0;
  }
}

/**
 * How many processes share the limits, by their heartbeats, and whether they can reach each other. The numbers are the
 * last that were received: while none can be received, a share of the same size keeps the sum within the limit.
 */
export class Replicas implements AsyncDisposable {
  readonly #holder: string;
  readonly #hot: Attendance;
  readonly #events: ReplicasEvents;
  readonly #counts: ReadonlyMap<ReplicaGroup, Count>;
  #isLost = false;
  #isBeating = false;

  constructor(options: ReplicasOptions, dependencies: { hot: Attendance; events: ReplicasEvents }) {
    this.#holder = options.holder;
    this.#hot = dependencies.hot;
    this.#events = dependencies.events;
    this.#counts = new Map(options.groups.map((group) => [group, new Count()]));
  }

  /** Those that share a bucket; 1 for a bucket of a group that this process is not of. */
  countOf(bucket: string): number {
    return this.#counts.get(groupOf(bucket))?.value ?? 1;
  }

  get isLost(): boolean {
    return this.#isLost;
  }

  /** A caller waited for what is shared in vain. It is tried again by the next heartbeat, not by requests. */
  lost(): void {
    for (const count of this.#counts.values()) count.lost();
    if (this.#isLost) return;
    this.#isLost = true;
    this.#events.sharingLost(this.most);
  }

  /** One heartbeat, at most one under way. Never rejects. */
  async beat(): Promise<void> {
    if (this.#isBeating) return;
    this.#isBeating = true;
    try {
      const counted = [...this.#counts].map(async ([group, count]) => {
        count.set(await this.#hot.attend(group, this.#holder, presenceMs));
      });
      await Promise.all(counted);
      this.#events.replicasCounted(this.most);
      if (this.#isLost) this.#events.sharingRestored(this.most);
      this.#isLost = false;
    } catch {
      this.lost();
    } finally {
      this.#isBeating = false;
    }
  }

  /** Of the largest group. */
  get most(): number {
    return Math.max(1, ...[...this.#counts.values()].map(({ value }) => value));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // Who ends without saying so is counted for a while longer, which only makes the shares smaller.
    const leaving = [...this.#counts.keys()].map((group) => this.#hot.attend(group, this.#holder, 0));
    await Promise.allSettled(leaving);
  }
}

interface Bucket {
  readonly name: string;
  readonly rate: number;
  readonly burst: number;
}

/** Buckets of this process alone, with its share of rate and burst, for when what is shared is out of reach. */
export class OwnShares {
  readonly #limits: Limits;
  readonly #replicas: Pick<Replicas, "countOf">;

  constructor(options: { bucketsMax: number }, dependencies: { clock: Clock; replicas: Pick<Replicas, "countOf"> }) {
    this.#limits = createLimits(options, dependencies);
    this.#replicas = dependencies.replicas;
  }

  take({ name, rate, burst }: Bucket, cost: number): LimitDecision {
    const shares = this.#shares(name, burst);
    const decision = this.#limits.take(name, rate, burst, cost * shares);
    return { ...decision, remaining: Math.floor(decision.remaining / shares) };
  }

  /** What was leased is used from the share as well. */
  drain({ name, rate, burst }: Bucket, tokens: number): void {
    this.#limits.drain(name, rate, burst, tokens * this.#shares(name, burst));
  }

  /**
   * What was given out alone, as far as this process's share has not refilled since: the shared bucket has filled as
   * well meanwhile, up to its burst, and who used less than the share owes nothing.
   */
  debt({ name, rate, burst, owed }: Bucket & { readonly owed: number }): number {
    if (owed === 0) return 0;
    const missing = burst - this.#limits.take(name, rate, burst, 0).remaining;
    return Math.min(owed, Math.ceil(missing / this.#shares(name, burst)));
  }

  /**
   * A share of a bucket is the whole of it at as many times the price: whole numbers, whatever the number of shares.
   */
  #shares(name: string, burst: number): number {
    return Math.min(this.#replicas.countOf(name), burst);
  }
}
