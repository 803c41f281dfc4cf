/** How many attempts of one event may begin, a second and at once. */
export interface DeliveryRate {
  readonly perSecond: number;
  readonly burst: number;
}

/** What sums of parts of tokens may lack of a whole one. */
const rounding = 1e-9;

/** A token bucket of one queue, which one worker holds: it needs no other process to be exact. */
export class RateBucket {
  readonly #rate: DeliveryRate;
  #tokens: number;
  #filledAtMs: number;

  constructor(rate: DeliveryRate, nowMs: number) {
    this.#rate = rate;
    this.#tokens = rate.burst;
    this.#filledAtMs = nowMs;
  }

  /** 0 when an attempt may begin now, else how long until one may, in milliseconds. */
  waitMs(nowMs: number): number {
    const { perSecond, burst } = this.#rate;
    this.#tokens = Math.min(burst, this.#tokens + (Math.max(0, nowMs - this.#filledAtMs) * perSecond) / 1_000);
    this.#filledAtMs = Math.max(this.#filledAtMs, nowMs);
    return this.#tokens >= 1 - rounding ? 0 : Math.ceil(((1 - this.#tokens) * 1_000) / perSecond);
  }

  /** An attempt begins; only after `waitMs` has said 0. */
  take(): void {
    this.#tokens -= 1;
  }
}
