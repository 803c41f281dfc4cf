import { readShortVecPacked, shortVecTruncated } from "../short-vec.ts";
import type { TransactionFault, TransactionRefusal } from "./faults.ts";

/** A position in the bytes, and the first fault met there. Reads give -1 after a fault. */
export class Cursor {
  readonly bytes: Uint8Array;
  readonly end: number;
  offset: number;
  fault: TransactionFault | null = null;
  faultOffset = 0;

  constructor(bytes: Uint8Array, offset: number, end: number) {
    this.bytes = bytes;
    this.offset = offset;
    this.end = end;
  }

  fail(fault: TransactionFault, offset: number): -1 {
    if (this.fault === null) {
      this.fault = fault;
      this.faultOffset = offset;
    }
    return -1;
  }

  /** Steps over `length` bytes and gives where they start. */
  take(length: number): number {
    const start = this.offset;
    if (this.fault !== null) return -1;
    if (this.end - start < length) return this.fail("TRUNCATED", this.end);
    this.offset = start + length;
    return start;
  }

  byte(): number {
    if (this.fault !== null) return -1;
    if (this.offset >= this.end) return this.fail("TRUNCATED", this.end);
    return this.bytes[this.offset++] ?? 0;
  }

  /** A compact-u16 count of things that take at least `width` bytes each; a count that cannot fit is refused at once. */
  count(width: number): number {
    if (this.fault !== null) return -1;
    const packed = readShortVecPacked(this.bytes, this.offset, this.end);
    if (packed < 0) {
      return packed === shortVecTruncated
        ? this.fail("TRUNCATED", this.end)
        : this.fail("NON_CANONICAL_LENGTH", this.offset);
    }
    const start = this.offset;
    const count = packed >> 2;
    this.offset = start + (packed & 3);
    if (count * width > this.end - this.offset) return this.fail("TRUNCATED", start);
    return count;
  }

  refusal(): TransactionRefusal {
    return { ok: false, fault: this.fault ?? "TRUNCATED", offset: this.faultOffset };
  }
}
