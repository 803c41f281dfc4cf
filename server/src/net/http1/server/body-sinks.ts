/** What came of a body that had to be waited for: its bytes, or why there are none. */
export type BodyOutcome = Uint8Array | "too-large" | "broken";

/** Takes a body's bytes as they come; a part is the connection's memory, and gone after the call. */
export interface BodySink {
  part(bytes: Uint8Array): void;
  end(): void;
  /** The rest is not coming: malformed, or the client has gone. */
  fail(): void;
}

const firstGrowthBytes = 4 * 1024;
const nothing = Buffer.alloc(0);

/** Puts a body together in memory that doubles, so that neither many small pieces nor a false length cost more than came. */
export class GatheringSink implements BodySink {
  readonly #bytesMax: number;
  readonly #expected: number | null;
  readonly #done: (body: BodyOutcome) => void;
  #held: Buffer = nothing;
  #length = 0;
  #isOver = false;

  /** `expected` is the length that was stated, if one was. */
  constructor(
    options: { readonly bytesMax: number; readonly expected: number | null },
    done: (body: BodyOutcome) => void,
  ) {
    this.#bytesMax = options.bytesMax;
    this.#expected = options.expected;
    this.#done = done;
  }

  part(bytes: Uint8Array): void {
    if (this.#isOver) return;
    const length = this.#length + bytes.length;
    if (length > this.#bytesMax) {
      this.#conclude("too-large");
      return;
    }
    if (length > this.#held.length) {
      const doubled = Math.max(firstGrowthBytes, length * 2);
      const grown = Buffer.allocUnsafeSlow(Math.min(doubled, Math.max(length, this.#expected ?? doubled)));
      grown.set(this.#held.subarray(0, this.#length));
      this.#held = grown;
    }
    this.#held.set(bytes, this.#length);
    this.#length = length;
  }

  end(): void {
    this.#conclude(this.#held.subarray(0, this.#length));
  }

  fail(): void {
    this.#conclude("broken");
  }

  #conclude(body: BodyOutcome): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#held = nothing;
    this.#done(body);
  }
}

/** What is left of a body that nobody reads, up to a bound. */
export class DiscardingSink implements BodySink {
  readonly #tooMuch: () => void;
  #left: number;

  constructor(bytesMax: number, tooMuch: () => void) {
    this.#left = bytesMax;
    this.#tooMuch = tooMuch;
  }

  part(bytes: Uint8Array): void {
    this.#left -= bytes.length;
    if (this.#left < 0) this.#tooMuch();
  }

  end(): void {}

  fail(): void {}
}
