const CHUNK_BYTES = 1_024 * 1_024;
const CHUNK_RECORDS_MIN = 1_024;

interface Chunk {
  readonly bytes: Uint8Array;
  /** The number of its first record. */
  readonly first: number;
  count: number;
  used: number;
  /** Where each record starts. */
  starts: Uint32Array;
}

/** Where a record lies. */
export interface RecordPlace {
  readonly bytes: Uint8Array;
  readonly start: number;
}

/**
 * Records one after another, numbered upwards from 0, in chunks of 1 MiB (a longer record has a chunk of its own). The
 * oldest are dropped and the newest taken back; a chunk goes with the last record in it.
 */
export class RecordLog {
  #chunks: Chunk[] = [];
  #first = 0;
  #end = 0;

  /** The number of the oldest record. */
  get first(): number {
    return this.#first;
  }

  /** The number that the next record gets. */
  get end(): number {
    return this.#end;
  }

  append(record: Uint8Array): number {
    let chunk = this.#chunks.at(-1);
    if (chunk === undefined || chunk.used + record.length > chunk.bytes.length) {
      chunk = {
        bytes: new Uint8Array(Math.max(CHUNK_BYTES, record.length)),
        first: this.#end,
        count: 0,
        used: 0,
        starts: new Uint32Array(CHUNK_RECORDS_MIN),
      };
      this.#chunks.push(chunk);
    }
    if (chunk.count === chunk.starts.length) {
      const grown = new Uint32Array(chunk.count * 2);
      grown.set(chunk.starts);
      chunk.starts = grown;
    }
    chunk.starts[chunk.count] = chunk.used;
    chunk.bytes.set(record, chunk.used);
    chunk.used += record.length;
    chunk.count += 1;
    this.#end += 1;
    return this.#end - 1;
  }

  place(number: number): RecordPlace {
    let low = 0;
    let high = this.#chunks.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if ((this.#chunks[middle]?.first ?? 0) <= number) low = middle;
      else high = middle - 1;
    }
    const chunk = this.#chunks[low];
    if (chunk === undefined || number < this.#first || number >= this.#end) throw new RangeError(`no record ${number}`);
    return { bytes: chunk.bytes, start: chunk.starts[number - chunk.first] ?? 0 };
  }

  /** Drops the records below `number`. */
  dropBefore(number: number): void {
    this.#first = number;
    const kept = this.#chunks.findIndex(({ first, count }) => first + count > number);
    if (kept !== 0) this.#chunks.splice(0, kept < 0 ? this.#chunks.length : kept);
  }

  /** Takes back the records from `number` on; it is the next one to be given. */
  truncate(number: number): void {
    this.#end = number;
    while ((this.#chunks.at(-1)?.first ?? -1) >= number) this.#chunks.pop();
    const last = this.#chunks.at(-1);
    if (last === undefined || last.first + last.count <= number) return;
    last.used = last.starts[number - last.first] ?? 0;
    last.count = number - last.first;
  }
}
