/** Small memory may be a part of the runtime's pool (8 KiB), which others use. */
const freedBytesMin = 16 * 1024;

/**
 * Gives memory back that is read no more, at once: left to the collector the buffers of the socket's reads add up to 70
 * MB in the first 200 MB of a process. Only for memory that has one user, such as what a socket's read has brought.
 */
export function free(bytes: Uint8Array): void {
  const { buffer } = bytes;
  if (buffer instanceof ArrayBuffer && buffer.byteLength > freedBytesMin && !buffer.detached) buffer.transfer(0);
}

const nothing = new Uint8Array(0);
const growthBytesDefault = 64 * 1024;

/**
 * The bytes of a body as they arrive. One piece stays a view of what the socket gave (the runtime hands out a buffer of
 * its own for each read); from the second on they are copied together into memory that doubles, never beyond the length
 * that was stated, so that neither many small pieces nor a false length cost more than what has really come.
 */
export class BodyBuffer {
  readonly #growthBytes: number;
  #view: Uint8Array | null = null;
  #owned: Buffer | null = null;
  #length = 0;
  #expected: number | null = null;

  /** `growthBytes` is the size of the first memory that pieces are copied into. */
  constructor(options: { readonly growthBytes?: number } = {}) {
    this.#growthBytes = options.growthBytes ?? growthBytesDefault;
  }

  get length(): number {
    return this.#length;
  }

  /** Forgets what it holds and begins a body; `expected` is its whole length where that is known. */
  begin(expected: number | null): void {
    this.#view = null;
    this.#owned = null;
    this.#length = 0;
    this.#expected = expected;
  }

  part(bytes: Uint8Array, from: number, to: number): void {
    if (to === from) return;
    if (this.#length > 0) {
      this.#append(bytes.subarray(from, to));
      return;
    }
    this.#view = from === 0 && to === bytes.length ? bytes : bytes.subarray(from, to);
    this.#length = to - from;
  }

  /** As `part`, for bytes that are gone when the next ones come. */
  addCopy(bytes: Uint8Array): void {
    if (bytes.length > 0) this.#append(bytes);
  }

  /**
   * Hands out the whole and keeps nothing, so that an idle connection holds no body. Memory that is more than a quarter
   * empty is given back by a copy.
   */
  take(): Uint8Array {
    const taken = this.#owned === null ? (this.#view ?? nothing) : this.#owned.subarray(0, this.#length);
    const isWasteful = this.#owned !== null && this.#length * 4 < this.#owned.length * 3;
    this.begin(this.#expected);
    return isWasteful ? Buffer.from(taken) : taken;
  }

  #append(bytes: Uint8Array): void {
    const length = this.#length + bytes.length;
    this.#room(length).set(bytes, this.#length);
    this.#length = length;
  }

  #room(length: number): Buffer {
    if (this.#owned !== null && this.#owned.length >= length) return this.#owned;
    const doubled = Math.max(this.#growthBytes, length * 2);
    const expected = this.#expected ?? doubled;
    const grown = Buffer.allocUnsafeSlow(Math.min(Math.max(expected, length), doubled));
    const held = this.#owned === null ? this.#view : this.#owned.subarray(0, this.#length);
    if (held !== null) grown.set(held, 0);
    if (this.#owned !== null) free(this.#owned);
    this.#view = null;
    this.#owned = grown;
    return grown;
  }
}
