/** The calendar month in UTC of a moment (Unix milliseconds), written as state keeps it: "2026-11". */
export function monthOf(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 7);
}

/** The month of a clock that is read on every request: a comparison of two numbers until the month is over. */
export class CurrentMonth {
  #fromMs = 0;
  #untilMs = 0;
  #month = "";

  at(nowMs: number): string {
    if (nowMs >= this.#untilMs || nowMs < this.#fromMs) {
      const date = new Date(nowMs);
      this.#fromMs = Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1);
      this.#untilMs = Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1);
      this.#month = monthOf(nowMs);
    }
    return this.#month;
  }
}
