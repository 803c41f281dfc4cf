/** Failures in a row after which what fails is left alone for a while. */
const failuresMax = 5;
const restMsFirst = 1_000;
const restMsMax = 60_000;

/**
 * Counts failures in a row. After some of them it is open: what it stands for is left alone, 1 s to a minute, and then
 * one attempt decides. Times are monotonic milliseconds.
 */
export class Circuit {
  #failures = 0;
  #rests = 0;
  #restUntilMs = 0;
  #isOpen = false;

  /** Whether one attempt at a time decides. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Whether the last attempt failed. */
  get isFailing(): boolean {
    return this.#failures > 0;
  }

  get restUntilMs(): number {
    return this.#restUntilMs;
  }

  succeeded(): void {
    this.#failures = 0;
    this.#rests = 0;
    this.#restUntilMs = 0;
    this.#isOpen = false;
  }

  /** `decides` opens it at once. What was under way beside the attempt that decides says nothing new. */
  failed(nowMs: number, decides = false): void {
    this.#failures += 1;
    if ((this.#failures < failuresMax && !decides) || nowMs < this.#restUntilMs) return;
    this.#isOpen = true;
    this.#restUntilMs = nowMs + Math.min(restMsMax, restMsFirst * 2 ** this.#rests);
    this.#rests = Math.min(this.#rests + 1, 16);
  }

  /** The attempt that decides may begin now. */
  endRest(): void {
    this.#restUntilMs = 0;
  }
}
