import type { Clock } from "@sluice/lib";
import { createLimits, type LimitDecision, type Limits } from "./limits.ts";

interface Bucket {
  readonly name: string;
  readonly rate: number;
  readonly burst: number;
}

/** Buckets of this process alone, with its share of rate and burst, for when what is shared is out of reach. */
export class OwnShares {
  readonly #limits: Limits;
  readonly #replicas: { readonly count: number };

  constructor(options: { bucketsMax: number }, dependencies: { clock: Clock; replicas: { readonly count: number } }) {
    this.#limits = createLimits(options, dependencies);
    this.#replicas = dependencies.replicas;
  }

  take({ name, rate, burst }: Bucket, cost: number): LimitDecision {
    const shares = this.#shares(burst);
    const decision = this.#limits.take(name, rate, burst, cost * shares);
    return { ...decision, remaining: Math.floor(decision.remaining / shares) };
  }

  /** What was leased is used from the share as well. */
  drain({ name, rate, burst }: Bucket, tokens: number): void {
    this.#limits.drain(name, rate, burst, tokens * this.#shares(burst));
  }

  /**
   * What was given out alone, as far as this process's share has not refilled since: the shared bucket has filled as well
   * meanwhile, up to its burst, and who used less than the share owes nothing.
   */
  debt({ name, rate, burst, owed }: Bucket & { readonly owed: number }): number {
    if (owed === 0) return 0;
    const missing = burst - this.#limits.take(name, rate, burst, 0).remaining;
    return Math.min(owed, Math.ceil(missing / this.#shares(burst)));
  }

  /** A share of a bucket is the whole of it at as many times the price: whole numbers, whatever the number of shares. */
  #shares(burst: number): number {
    return Math.min(this.#replicas.count, burst);
  }
}
