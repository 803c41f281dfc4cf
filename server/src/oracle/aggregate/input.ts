import type { Tick } from "../tick.ts";

/**
 * What rounds are made of, in one total order: ticks as they came, and marks of our own clock. Ticks only change what is
 * known; the rounds of all symbols that changed are made at the next mark, together, so that a burst of ticks costs one
 * round a symbol. The same inputs in the same order give the same rounds to the byte, which is why marks are kept with
 * the ticks.
 */
export type Input = TickInput | TimeInput;

export interface TickInput {
  readonly kind: "tick";
  readonly tick: Tick;
}

export interface TimeInput {
  readonly kind: "time";
  /**
   * Unix milliseconds by our clock. Up to five seconds before an earlier input it counts as that input's time; from there
   * on the clock was set, and all quotes are forgotten.
   */
  readonly atMs: number;
}
