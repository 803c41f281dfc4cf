/** Lets everybody through, or makes everybody wait until a time has passed or somebody opens it. */
export class Gate {
  #waiting: { readonly opened: Promise<void>; readonly open: () => void } | null = null;
  #timer: ReturnType<typeof setTimeout> | null = null;

  get isShut(): boolean {
    return this.#waiting !== null;
  }

  /** Shuts it for this long from now, whatever was said before. */
  shut(ms: number): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    if (this.#waiting === null) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#waiting = { opened: promise, open: resolve };
    }
    this.#timer = setTimeout(() => this.open(), ms);
  }

  open(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#waiting?.open();
    this.#waiting = null;
  }

  /** Resolves when the gate is open. */
  async pass(): Promise<void> {
    while (this.#waiting !== null) await this.#waiting.opened;
  }
}
