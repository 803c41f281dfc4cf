import { type Clock, invariant } from "@sluice/lib";

/** The outcome of one take; the shape that http writes as X-RateLimit headers. */
export interface LimitDecision {
  readonly allowed: boolean;
  /** The rate, in tokens a second. */
  readonly limit: number;
  readonly burst: number;
  /** Whole tokens left. */
  readonly remaining: number;
  /** Unix seconds at which the bucket is full again if nothing more is taken. */
  readonly resetAt: number;
  /** Whole seconds after which the same take would be allowed if nothing else is taken; 0 when it was allowed. */
  readonly retryAfterSeconds: number;
}

export interface Limits {
  /**
   * Takes `cost` tokens from a bucket, or none when they are not all there. `rate` and `burst` are whole positive
   * numbers of tokens; they may change between calls, as tiers do. A take that costs more than the burst is never
   * allowed.
   *
   * @throws {RangeError} when a rate, a burst or a cost is not a whole number of tokens
   */
  take(bucket: string, rate: number, burst: number, cost?: number): LimitDecision;
  /** Takes up to `cost` tokens, as far as they are there: what was decided elsewhere counts here too. */
  drain(bucket: string, rate: number, burst: number, cost: number): void;
  /** Buckets in memory. */
  readonly size: number;
}

export interface LimitsOptions {
  /** Buckets kept at most; what comes beyond shares a fixed number of overflow buckets. */
  readonly bucketsMax?: number;
}

/** Tokens are counted in millionths, time in microseconds: a rate of n a second is then exactly n millionths each. */
const micro = 1_000_000;

const bucketsDefault = 100_000;
const overflowBuckets = 256;
/** Buckets examined for one that is full when a new one needs room. */
const sweepSteps = 16;
/** A Retry-After longer than this says no more than "not soon". */
const retryAfterMax = 3_600;

interface Bucket {
  microTokens: number;
  atMicros: number;
  rate: number;
  burst: number;
}

/**
 * Token buckets of one process, exact: integers only, so that no rounding mints or loses a token however often a bucket
 * is asked. Time is monotonic, and a clock that goes back all the same counts as standing still. A take is a map
 * look-up and a few integer operations: no timers, no queues.
 *
 * The number of buckets is bounded. Only a full bucket may be forgotten, since a forgotten one begins full again. When
 * none can be, a new name takes from one of a few overflow buckets that it shares with others: too strict for them
 * then, but never a way to get a fresh burst by making up names.
 */
class TokenBuckets implements Limits {
  readonly #clock: Clock;
  readonly #bucketsMax: number;
  readonly #buckets = new Map<string, Bucket>();
  readonly #overflow = new Map<number, Bucket>();

  constructor(options: LimitsOptions, dependencies: { clock: Clock }) {
    this.#clock = dependencies.clock;
    this.#bucketsMax = options.bucketsMax ?? bucketsDefault;
  }

  get size(): number {
    return this.#buckets.size + this.#overflow.size;
  }

  take(name: string, rate: number, burst: number, cost = 1): LimitDecision {
    if (
      !(
        Number.isInteger(rate) &&
        Number.isInteger(burst) &&
        Number.isInteger(cost) &&
        rate > 0 &&
        burst > 0 &&
        cost >= 0
      )
    ) {
      throw new RangeError("A rate, a burst and a cost are whole numbers of tokens");
    }
    const bucket = this.#present(name, rate, burst);
    const costMicros = cost * micro;
    const allowed = bucket.microTokens >= costMicros;
    if (allowed) bucket.microTokens -= costMicros;
    invariant(
      bucket.microTokens >= 0 && bucket.microTokens <= burst * micro,
      "a bucket holds between none and all tokens",
    );
    const microsToFull = Math.ceil((burst * micro - bucket.microTokens) / rate);
    return {
      allowed,
      limit: rate,
      burst,
      remaining: Math.floor(bucket.microTokens / micro),
      resetAt: Math.ceil((this.#clock.now() + microsToFull / 1_000) / 1_000),
      retryAfterSeconds: allowed ? 0 : secondsUntil(bucket, Math.min(costMicros, burst * micro), rate),
    };
  }

  drain(name: string, rate: number, burst: number, cost: number): void {
    const bucket = this.#present(name, rate, burst);
    bucket.microTokens = Math.max(0, bucket.microTokens - cost * micro);
  }

  #present(name: string, rate: number, burst: number): Bucket {
    const nowMicros = Math.floor(this.#clock.monotonic() * 1_000);
    const bucket = this.#buckets.get(name) ?? this.#open(name, rate, burst, nowMicros);
    refill(bucket, rate, burst, nowMicros);
    return bucket;
  }

  #open(name: string, rate: number, burst: number, nowMicros: number): Bucket {
    if (this.#buckets.size >= this.#bucketsMax && !this.#forgetFull(nowMicros)) {
      return this.#shared(name, rate, burst, nowMicros);
    }
    const bucket: Bucket = { microTokens: burst * micro, atMicros: nowMicros, rate, burst };
    this.#buckets.set(name, bucket);
    return bucket;
  }

  /** Looks at the next few buckets in turn and forgets those that are full; true when there is room now. */
  #forgetFull(nowMicros: number): boolean {
    let steps = 0;
    for (const [name, bucket] of this.#buckets) {
      steps += 1;
      refill(bucket, bucket.rate, bucket.burst, nowMicros);
      this.#buckets.delete(name);
      // One that is not full goes to the end of the line, so that the next sweep looks at others.
      if (bucket.microTokens < bucket.burst * micro) this.#buckets.set(name, bucket);
      if (steps >= sweepSteps) break;
    }
    return this.#buckets.size < this.#bucketsMax;
  }

  #shared(name: string, rate: number, burst: number, nowMicros: number): Bucket {
    const slot = Bun.hash.xxHash32(name) % overflowBuckets;
    const shared = this.#overflow.get(slot);
    if (shared !== undefined) return shared;
    const bucket: Bucket = { microTokens: burst * micro, atMicros: nowMicros, rate, burst };
    this.#overflow.set(slot, bucket);
    return bucket;
  }
}

/** Brings a bucket to the present. What has passed is credited at the rate that held while it passed. */
function refill(bucket: Bucket, rate: number, burst: number, nowMicros: number): void {
  if (nowMicros > bucket.atMicros) {
    const elapsed = nowMicros - bucket.atMicros;
    const capacity = bucket.burst * micro;
    // Compared by division first, so that a long absence never multiplies past the exact integers.
    const isFull = elapsed >= Math.ceil((capacity - bucket.microTokens) / bucket.rate);
    bucket.microTokens = isFull ? capacity : bucket.microTokens + elapsed * bucket.rate;
    bucket.atMicros = nowMicros;
  }
  if (bucket.rate !== rate || bucket.burst !== burst) {
    bucket.rate = rate;
    bucket.burst = burst;
    bucket.microTokens = Math.min(bucket.microTokens, burst * micro);
  }
}

function secondsUntil(bucket: Bucket, neededMicroTokens: number, rate: number): number {
  const micros = Math.ceil((neededMicroTokens - bucket.microTokens) / rate);
  return Math.min(Math.max(1, Math.ceil(micros / micro)), retryAfterMax);
}

export function createLimits(options: LimitsOptions, dependencies: { clock: Clock }): Limits {
  return new TokenBuckets(options, dependencies);
}
