/** What comes next of a frame, and how many bytes say what follows (RFC 8878, section 3.1). */
const bytesOf = { magic: 4, descriptor: 1, blockHeader: 3, skippedBytes: 4 } as const;

const frameMagic = 0xfd2fb528;
/** Of a frame that a decoder skips; its last four bits are free. */
const skippableMagic = 0x184d2a50;
/** Bytes of the dictionary's id and of the content's size, by their flags in the frame's descriptor. */
const dictionaryBytes = [0, 1, 2, 4] as const;
const contentSizeBytes = [0, 2, 4, 8] as const;
const repeatedByteBlock = 1;

/**
 * Follows the frames of a zstd body, whatever pieces it comes in, to tell whether it ends with one: the runtime's
 * decoder gives out what a cut body holds as if it were whole. It evaluates no more than lengths; what is not zstd is
 * the decoder's to refuse.
 */
export class ZstdFrames {
  #next: keyof typeof bytesOf = "magic";
  /** Little-endian, of the bytes that came of what is next. */
  #value = 0;
  #taken = 0;
  #skip = 0;
  #checksumBytes = 0;

  /** Whether nothing of a frame is missing. */
  get isWhole(): boolean {
    return this.#next === "magic" && this.#taken === 0 && this.#skip === 0;
  }

  feed(bytes: Uint8Array): void {
    let at = 0;
    while (at < bytes.length) {
      if (this.#skip > 0) {
        const skipped = Math.min(this.#skip, bytes.length - at);
        this.#skip -= skipped;
        at += skipped;
        continue;
      }
      this.#value += (bytes[at] ?? 0) * 256 ** this.#taken;
      this.#taken += 1;
      at += 1;
      if (this.#taken === bytesOf[this.#next]) this.#step();
    }
  }

  #step(): void {
    const value = this.#value;
    this.#value = 0;
    this.#taken = 0;
    switch (this.#next) {
      case "magic":
        if (value === frameMagic) this.#next = "descriptor";
        else if (value - (value % 16) === skippableMagic) this.#next = "skippedBytes";
        break;
      case "skippedBytes":
        this.#skip = value;
        this.#next = "magic";
        break;
      case "descriptor":
        this.#skip = headerBytes(value);
        this.#checksumBytes = (value & 0b100) === 0 ? 0 : 4;
        this.#next = "blockHeader";
        break;
      case "blockHeader":
        this.#skip = ((value >> 1) & 0b11) === repeatedByteBlock ? 1 : value >> 3;
        if ((value & 1) === 0) break;
        this.#skip += this.#checksumBytes;
        this.#next = "magic";
        break;
    }
  }
}

/** Bytes of a frame's header behind its descriptor. */
function headerBytes(descriptor: number): number {
  const isSingleSegment = (descriptor & 0b10_0000) !== 0;
  const sizeFlag = descriptor >> 6;
  const sizeBytes = sizeFlag === 0 && isSingleSegment ? 1 : (contentSizeBytes[sizeFlag] ?? 0);
  return (isSingleSegment ? 0 : 1) + (dictionaryBytes[descriptor & 0b11] ?? 0) + sizeBytes;
}
