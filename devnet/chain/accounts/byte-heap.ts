const GRAIN_BYTES = 16;
const GRAINS_BITS = 16;
const CHUNK_GRAINS = 1 << GRAINS_BITS;

/** Longest block that the heap holds: longer ones are worth an array of their own. */
export const BLOCK_BYTES_MAX = 1_024;

function classOf(length: number): number {
  return (length + GRAIN_BYTES - 1) >> 4;
}

/**
 * Small blocks of bytes in chunks of 1 MiB, so that a million of them are no work for the garbage collector. A block takes
 * its length rounded up to 16 bytes; what is released is given out again to a block of the same rounded length. A
 * block's location counts units of 16 bytes from the first chunk on.
 */
export class ByteHeap {
  readonly #chunks: Uint8Array[] = [];
  readonly #released: number[][] = [];
  #nextGrain = 0;

  /** Room for `length` bytes, 1 to BLOCK_BYTES_MAX. What stands in it is not defined. */
  allocate(length: number): number {
    const grains = classOf(length);
    const reused = this.#released[grains]?.pop();
    if (reused !== undefined) return reused;
    const used = this.#nextGrain & (CHUNK_GRAINS - 1);
    if (used === 0 || used + grains > CHUNK_GRAINS) {
      this.#nextGrain = this.#chunks.length << GRAINS_BITS;
      this.#chunks.push(new Uint8Array(CHUNK_GRAINS * GRAIN_BYTES));
    }
    const location = this.#nextGrain;
    this.#nextGrain += grains;
    return location >>> 0;
  }

  release(location: number, length: number): void {
    const grains = classOf(length);
    let list = this.#released[grains];
    if (list === undefined) {
      list = [];
      this.#released[grains] = list;
    }
    list.push(location);
  }

  /** Whether a block of either length fits where the other lies. */
  static alike(left: number, right: number): boolean {
    return classOf(left) === classOf(right);
  }

  /** The chunk that holds a block; `offset` says where in it. */
  chunk(location: number): Uint8Array {
    const chunk = this.#chunks[location >>> GRAINS_BITS];
    if (chunk === undefined) throw new RangeError(`no block at ${location}`);
    return chunk;
  }

  offset(location: number): number {
    return (location & (CHUNK_GRAINS - 1)) * GRAIN_BYTES;
  }
}
