/** Agave nests no deeper than serde_json reads: 128. */
const depthMax = 128;
/** Shorter strings are read byte by byte; in longer ones the runtime searches for the quote, many bytes at a time. */
const walkedBytes = 32;

const quote = 0x22;
const backslash = 0x5c;

/**
 * Finds the end of one JSON object, array or string in bytes that arrive in pieces. It checks brackets and strings
 * alone, so that a large value costs little: the content is the node's, its end must be certain.
 */
export class ValueScanner {
  /** The closing bracket of each open one. */
  readonly #closing = new Uint8Array(depthMax);
  #depth = 0;
  #isInString = false;
  /** Whether the last piece ended within a string after an odd number of backslashes. */
  #isEscaped = false;

  /**
   * The place after the value where it ends in these bytes, -1 while it goes on, null when its brackets do not match.
   */
  feed(bytes: Uint8Array): number | null {
    const { length } = bytes;
    let at = 0;
    while (at < length) {
      if (this.#isInString) {
        at = this.#skipString(bytes, at);
        if (at < 0) return -1;
        if (this.#depth === 0) return at;
        continue;
      }
      const byte = bytes[at] ?? 0;
      at += 1;
      if (byte === quote) this.#isInString = true;
      else if (byte === 0x7b || byte === 0x5b) {
        if (this.#depth === depthMax) return null;
        this.#closing[this.#depth] = byte + 2;
        this.#depth += 1;
      } else if (byte === 0x7d || byte === 0x5d) {
        if (this.#depth === 0 || this.#closing[this.#depth - 1] !== byte) return null;
        this.#depth -= 1;
        if (this.#depth === 0) return at;
      }
    }
    return -1;
  }

  /** The place after the closing quote, or -1 when the string goes on in the next piece. */
  #skipString(bytes: Uint8Array, start: number): number {
    const { length } = bytes;
    let at = this.#isEscaped ? start + 1 : start;
    this.#isEscaped = false;
    const walked = Math.min(length, at + walkedBytes);
    while (at < walked) {
      const byte = bytes[at] ?? 0;
      if (byte === quote) {
        this.#isInString = false;
        return at + 1;
      }
      at += byte === backslash ? 2 : 1;
    }
    // From here to the quote no byte is read twice but backslashes right before a quote.
    const from = at;
    while (at < length) {
      const found = bytes.indexOf(quote, at);
      const end = found < 0 ? length : found;
      let run = end;
      while (run > from && bytes[run - 1] === backslash) run -= 1;
      const isEscaped = ((end - run) & 1) === 1;
      if (found < 0) {
        this.#isEscaped = isEscaped;
        return -1;
      }
      if (!isEscaped) {
        this.#isInString = false;
        return found + 1;
      }
      at = found + 1;
    }
    // The walk may have stepped over the end of the piece with a backslash.
    this.#isEscaped = at > length;
    return -1;
  }
}
