/** Counts messages in windows of a second; cheap, and exact enough for a bound that only floods meet. */
export class MessageRate {
  readonly #max: number;
  #windowMs = Number.NEGATIVE_INFINITY;
  #count = 0;

  constructor(options: { perSecond: number }) {
    this.#max = options.perSecond;
  }

  /** False for a message beyond the bound of its second. */
  take(nowMs: number): boolean {
    if (nowMs - this.#windowMs >= 1_000) {
      this.#windowMs = nowMs;
      this.#count = 0;
    }
    this.#count += 1;
    return this.#count <= this.#max;
  }
}
