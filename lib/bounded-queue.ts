/**
 * A first-in, first-out queue that refuses when it is full, so that its owner has to say what happens to the item that
 * did not fit. Adding and taking are amortised O(1): the array is compacted when half of it has been taken.
 */
export class BoundedQueue<T> {
  readonly max: number;
  #items: T[] = [];
  #head = 0;

  constructor(options: { max: number }) {
    if (!Number.isSafeInteger(options.max) || options.max < 1) {
      throw new RangeError("A queue's bound is a whole number of at least 1.");
    }
    this.max = options.max;
  }

  get length(): number {
    return this.#items.length - this.#head;
  }

  /** Adds at the end; false, with nothing changed, when `max` items are waiting. */
  push(item: T): boolean {
    if (this.length >= this.max) return false;
    this.#items.push(item);
    return true;
  }

  /** Takes up to `count` items from the front, oldest first. */
  take(count: number): T[] {
    const end = Math.min(this.#items.length, this.#head + Math.max(0, count));
    const taken = this.#items.slice(this.#head, end);
    this.#head = end;
    if (this.#head * 2 >= this.#items.length) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
    return taken;
  }
}
