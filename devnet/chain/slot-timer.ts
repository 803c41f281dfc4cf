/**
 * Closes a slot every `slotMs`, on a grid that does not drift. When closing takes longer than a slot, the missed ticks
 * are left out instead of being made up in a burst.
 */
export class SlotTimer {
  readonly #slotMs: number;
  readonly #close: () => Promise<void>;
  #next: number;
  #timer: ReturnType<typeof setTimeout> | null = null;

  constructor(slotMs: number, close: () => Promise<void>) {
    this.#slotMs = slotMs;
    this.#close = close;
    this.#next = performance.now() + slotMs;
    this.#schedule();
  }

  #schedule(): void {
    const wait = Math.max(0, this.#next - performance.now());
    this.#timer = setTimeout(() => void this.#tick(), wait);
  }

  async #tick(): Promise<void> {
    try {
      await this.#close();
    } catch (error) {
      console.error(error);
    }
    if (this.#timer === null) return;
    const now = performance.now();
    this.#next += this.#slotMs;
    if (this.#next < now) this.#next = now;
    this.#schedule();
  }

  stop(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }
}
