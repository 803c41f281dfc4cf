import type { Clock } from "@sluice/lib";

/** The calls a second that a node may be sent, as its provider allows them: a bucket of one second's worth. */
export class RateGate {
  readonly #perSecond: number;
  readonly #clock: Clock;
  #tokens: number;
  #atMs: number;

  constructor(perSecond: number, dependencies: { readonly clock: Clock }) {
    this.#perSecond = perSecond;
    this.#clock = dependencies.clock;
    this.#tokens = perSecond;
    this.#atMs = dependencies.clock.monotonic();
  }

  take(): boolean {
    const nowMs = this.#clock.monotonic();
    this.#tokens = Math.min(this.#perSecond, this.#tokens + ((nowMs - this.#atMs) / 1_000) * this.#perSecond);
    this.#atMs = nowMs;
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }
}
