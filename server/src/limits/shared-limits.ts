import type { Clock, Timer } from "@sluice/lib";
import type { LimitDecision } from "./limits.ts";
import { OwnShares, Replicas } from "./replicas.ts";
import {
  adaptBlock,
  evictOne,
  holdOff,
  openShared,
  type SharedBucket,
  sharedDecision,
  stopWaiting,
} from "./shared-bucket.ts";
import type { SharedLimits, SharedLimitsDependencies, SharedLimitsOptions, SharedStore } from "./shared-interfaces.ts";

/** The holder may spend what it leased for so long; the shared bucket counts it as held for longer. */
const leaseMs = 3_000;
const countedMs = 4_000;
const sweepMs = 250;
const beatEverySweeps = 4;
/** At the start every sweep: processes that start together do not know of each other yet. */
const firstBeats = 8;
/** Sweeps without a take after which what is held goes back. */
const idleSweeps = 4;
const sweepsPerTickMax = 500;
const waitersMax = 10_000;
const bucketsDefault = 100_000;

/**
 * Token buckets over several processes: the bucket is in Redis, and each process spends from leases of its tokens. All
 * together never get more than one bucket would give (see `leaseFromBucket`), and what a lease holds back from others
 * is small and short-lived, so that the rate is used as well.
 *
 * Out of reach of Redis each process decides by a bucket of its own with the rate and burst divided by the last known
 * number of processes; it is kept as full as the process's own use leaves it, so that losing Redis again and again
 * mints nothing. What was given out meanwhile is a debt to the shared bucket afterwards.
 */
class LeasedLimits implements SharedLimits {
  readonly #options: Required<Omit<SharedLimitsOptions, "tickIntervalMs" | "groups">>;
  readonly #clock: Clock;
  readonly #store: SharedStore;
  readonly #replicas: Replicas;
  readonly #own: OwnShares;
  readonly #buckets = new Map<string, SharedBucket>();
  /** Those that hold tokens or owe some. */
  readonly #unsettled = new Set<SharedBucket>();
  readonly #flights = new Set<Promise<void>>();
  readonly #timer: Timer | null;
  #sequence = 0;
  #sweeps = 0;
  #isClosed = false;

  constructor(options: SharedLimitsOptions, dependencies: SharedLimitsDependencies) {
    this.#options = { bucketsMax: bucketsDefault, waitMs: 100, ...options };
    this.#clock = dependencies.clock;
    this.#store = dependencies.store;
    this.#replicas = new Replicas(
      { groups: ["gateways"], ...options },
      { hot: dependencies.store, events: dependencies.events },
    );
    this.#own = new OwnShares({ bucketsMax: this.#options.bucketsMax }, { ...dependencies, replicas: this.#replicas });
    const interval = options.tickIntervalMs === undefined ? sweepMs : options.tickIntervalMs;
    this.#timer = interval === null ? null : this.#clock.every(interval, () => void this.tick());
    if (interval !== null) void this.#replicas.beat();
  }

  take(name: string, rate: number, burst: number, cost = 1): LimitDecision | Promise<LimitDecision> {
    const nowMs = this.#clock.monotonic();
    const bucket = this.#buckets.get(name) ?? this.#open(name, rate, burst, nowMs);
    if (bucket === null || this.#isClosed) return this.#own.take({ name, rate, burst }, cost);
    if (!Number.isSafeInteger(cost) || cost < 0) throw new RangeError("A cost is a whole number of tokens");
    bucket.rate = rate;
    bucket.burst = burst;
    bucket.usedAtSweep = this.#sweeps;
    if (bucket.heldUntilMs <= nowMs) bucket.held = 0;
    if (bucket.held >= cost) {
      bucket.held -= cost;
      if (bucket.held < bucket.watermark && !bucket.isLeasing && !this.#replicas.isLost) this.#lease(bucket, nowMs);
      return this.#decide(bucket, true, cost);
    }
    if (this.#replicas.isLost) return this.#takeOwn(bucket, cost);
    const isKnownEmpty = nowMs < bucket.emptyUntilMs && cost >= bucket.emptyCost;
    if (isKnownEmpty || cost > burst || bucket.waiters.length >= waitersMax) return this.#decide(bucket, false, cost);
    return this.#wait(bucket, cost, nowMs);
  }

  get replicas(): number {
    return this.#replicas.most;
  }

  async tick(): Promise<void> {
    this.#sweeps += 1;
    const isDue = this.#sweeps <= firstBeats || this.#sweeps % beatEverySweeps === 1;
    const beat = isDue ? this.#replicas.beat() : null;
    if (!this.#replicas.isLost) this.#sweep();
    await beat;
    await Promise.all(this.#flights);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    this.#timer?.cancel();
    await Promise.all(this.#flights);
    let steps = 0;
    for (const bucket of this.#unsettled) {
      steps += 1;
      if (steps > sweepsPerTickMax || this.#replicas.isLost) break;
      this.#giveBack(bucket, this.#clock.monotonic());
    }
    await Promise.all(this.#flights);
    await this.#replicas[Symbol.asyncDispose]();
  }

  #decide(bucket: SharedBucket, allowed: boolean, cost: number): LimitDecision {
    return sharedDecision(bucket, allowed, cost, { nowMs: this.#clock.monotonic(), unixMs: this.#clock.now() });
  }

  #takeOwn(bucket: SharedBucket, cost: number): LimitDecision {
    const decision = this.#own.take(bucket, cost);
    if (decision.allowed) {
      bucket.owed = Math.min(bucket.burst, bucket.owed + cost);
      this.#unsettled.add(bucket);
    }
    return decision;
  }

  #wait(bucket: SharedBucket, cost: number, nowMs: number): Promise<LimitDecision> {
    const { promise, resolve } = Promise.withResolvers<LimitDecision>();
    bucket.waiters.push({ cost, resolve });
    bucket.deadline ??= this.#clock.after(this.#options.waitMs, () => {
      bucket.deadline = null;
      this.#replicas.lost();
      this.#decideWaiting(bucket);
    });
    if (!bucket.isLeasing) this.#lease(bucket, nowMs);
    return promise;
  }

  /**
   * The wait is over: this process's own share decides. What is held covers none of those that wait, since each grant
   * serves all that it covers.
   */
  #decideWaiting(bucket: SharedBucket): void {
    for (const waiter of bucket.waiters.splice(0)) waiter.resolve(this.#takeOwn(bucket, waiter.cost));
    stopWaiting(bucket);
  }

  #lease(bucket: SharedBucket, nowMs: number): void {
    adaptBlock(bucket, nowMs);
    const needed = bucket.waiters.reduce((sum, { cost }) => sum + cost, 0);
    this.#ask(bucket, nowMs, { needed, want: Math.max(needed, bucket.held) + bucket.block });
  }

  #giveBack(bucket: SharedBucket, nowMs: number): void {
    const { held } = bucket;
    // Spent from now on, whatever becomes of the message: a token that is given back twice would be minted.
    bucket.held = 0;
    this.#ask(bucket, nowMs, { needed: 0, want: 0 }, held);
  }

  #ask(
    bucket: SharedBucket,
    nowMs: number,
    wish: { readonly needed: number; readonly want: number },
    held = bucket.held,
  ): void {
    bucket.isLeasing = true;
    this.#unsettled.add(bucket);
    this.#sequence += 1;
    const { name, rate, burst } = bucket;
    const given = bucket.owed;
    const owed = this.#own.debt(bucket);
    const request = { ...wish, rate, burst, owed, held, holder: this.#options.holder, lifeMs: countedMs };
    const flight = this.#store
      .leaseTokens(name, { ...request, sequence: this.#sequence })
      .then(
        ({ granted, thousandths }) => {
          bucket.isLeasing = false;
          bucket.owed -= given;
          bucket.level = thousandths / 1_000;
          bucket.levelAtMs = this.#clock.monotonic();
          this.#granted(bucket, granted, nowMs, wish.needed > held + granted);
        },
        () => {
          // What was granted, if anything was, stays unspent; the debt is reported once more, which is too strict at
          // most.
          bucket.isLeasing = false;
          this.#replicas.lost();
          this.#decideWaiting(bucket);
        },
      )
      .finally(() => this.#flights.delete(flight));
    this.#flights.add(flight);
  }

  /** `askedAtMs` lies before the shared bucket counted the lease, so this process stops spending before that ends. */
  #granted(bucket: SharedBucket, granted: number, askedAtMs: number, isEmpty: boolean): void {
    const nowMs = this.#clock.monotonic();
    const untilMs = askedAtMs + leaseMs;
    bucket.held = untilMs > nowMs ? (bucket.heldUntilMs > nowMs ? bucket.held : 0) + granted : 0;
    bucket.heldUntilMs = untilMs;
    bucket.watermark = Math.floor(granted / 2);
    if (granted > 0) this.#own.drain(bucket, granted);
    const waiting = bucket.waiters.splice(0);
    for (const waiter of waiting) {
      if (bucket.held >= waiter.cost) {
        bucket.held -= waiter.cost;
        waiter.resolve(this.#decide(bucket, true, waiter.cost));
      } else if (isEmpty) {
        holdOff(bucket, Math.min(waiter.cost, bucket.emptyUntilMs > nowMs ? bucket.emptyCost : waiter.cost), nowMs);
        waiter.resolve(this.#decide(bucket, false, waiter.cost));
      } else bucket.waiters.push(waiter);
    }
    if (bucket.waiters.length === 0) stopWaiting(bucket);
    else this.#lease(bucket, nowMs);
  }

  #sweep(): void {
    const nowMs = this.#clock.monotonic();
    let asked = 0;
    for (const bucket of this.#unsettled) {
      if (asked >= sweepsPerTickMax) return;
      if (bucket.isLeasing) continue;
      if (bucket.heldUntilMs <= nowMs) bucket.held = 0;
      if (bucket.held === 0 && bucket.owed === 0) {
        this.#unsettled.delete(bucket);
        continue;
      }
      const isIdle = this.#sweeps - bucket.usedAtSweep > idleSweeps;
      const isEnding = bucket.held > 0 && bucket.heldUntilMs - nowMs < leaseMs / 2;
      if (!isIdle && !isEnding) continue;
      asked += 1;
      if (isIdle) this.#giveBack(bucket, nowMs);
      else this.#lease(bucket, nowMs);
    }
  }

  #open(name: string, rate: number, burst: number, nowMs: number): SharedBucket | null {
    if (!(Number.isSafeInteger(rate) && Number.isSafeInteger(burst) && rate > 0 && burst > 0)) {
      throw new RangeError("A rate and a burst are whole numbers of tokens");
    }
    if (this.#buckets.size >= this.#options.bucketsMax && !evictOne(this.#buckets)) return null;
    const bucket = openShared(name, rate, burst, nowMs);
    this.#buckets.set(name, bucket);
    return bucket;
  }
}

export function createSharedLimits(options: SharedLimitsOptions, dependencies: SharedLimitsDependencies): SharedLimits {
  return new LeasedLimits(options, dependencies);
}
