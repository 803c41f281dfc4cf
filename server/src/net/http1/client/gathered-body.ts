import { free } from "./memory.ts";

const nothing = new Uint8Array(0);
const firstGrowthBytes = 64 * 1024;

/**
 * The bytes of a body as they arrive. One piece stays a view of what the socket gave (the runtime hands out a buffer of
 * its own for each read); from the second on they are copied together into memory that doubles, never beyond the length
 * that was stated, so that neither many small pieces nor a false length cost more than what has really come.
 */
export class GatheredBody {
  #view: Uint8Array | null = null;
  #owned: Buffer | null = null;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  clear(): void {
    this.#view = null;
    this.#owned = null;
    this.#length = 0;
  }

  /** `expected` is the body's whole length where it is known. */
  add(bytes: Uint8Array, from: number, to: number, expected: number | null): void {
    if (to === from) return;
    if (this.#length === 0) {
      this.#view = from === 0 && to === bytes.length ? bytes : bytes.subarray(from, to);
      this.#length = to - from;
      return;
    }
    this.#append(bytes.subarray(from, to), expected);
  }

  /** As `add`, for bytes that are gone when the next ones come. */
  addCopy(bytes: Uint8Array): void {
    if (bytes.length > 0) this.#append(bytes, null);
  }

  #append(bytes: Uint8Array, expected: number | null): void {
    const length = this.#length + bytes.length;
    this.#room(length, expected).set(bytes, this.#length);
    this.#length = length;
  }

  /**
   * Hands out the whole and keeps nothing, so that an idle connection holds no answer. Memory that is more than a quarter
   * empty is given back by a copy.
   */
  take(): Uint8Array {
    const taken = this.#owned === null ? (this.#view ?? nothing) : this.#owned.subarray(0, this.#length);
    const isWasteful = this.#owned !== null && this.#length * 4 < this.#owned.length * 3;
    this.clear();
    return isWasteful ? Buffer.from(taken) : taken;
  }

  #room(length: number, expected: number | null): Buffer {
    if (this.#owned !== null && this.#owned.length >= length) return this.#owned;
    const doubled = Math.max(firstGrowthBytes, length * 2);
    const grown = Buffer.allocUnsafeSlow(expected === null ? doubled : Math.min(Math.max(expected, length), doubled));
    const held = this.#owned === null ? this.#view : this.#owned.subarray(0, this.#length);
    if (held !== null) grown.set(held, 0);
    if (this.#owned !== null) free(this.#owned);
    this.#view = null;
    this.#owned = grown;
    return grown;
  }
}
