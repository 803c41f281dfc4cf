/** Lists up to this many numbers share arrays; a longer one has its own. */
const SHARED_MAX = 1_024;
const CHUNK_BITS = 16;
const CHUNK_WORDS = 1 << CHUNK_BITS;
const CAPACITY_MIN = 2;

/** What is known of one list: four words. */
const START = 0;
const CAPACITY = 1;
const HEAD = 2;
const LENGTH = 3;
const WORDS = 4;

/**
 * Many lists of numbers of 32 bits, each in one piece so that it can be searched: appended at the end, shortened at both
 * ends. A list has room for at most four times what it holds and eight more.
 */
export class NumberLists {
  #lists = new Uint32Array(CHUNK_WORDS);
  readonly #chunks: Uint32Array[] = [];
  readonly #own = new Map<number, Uint32Array>();
  /** Released pieces by their length's logarithm. */
  readonly #released: number[][] = [];
  #nextWord = 0;

  length(list: number): number {
    return this.#lists[list * WORDS + LENGTH] ?? 0;
  }

  at(list: number, position: number): number {
    const words = this.#lists;
    const offset = (words[list * WORDS + HEAD] ?? 0) + position;
    if ((words[list * WORDS + CAPACITY] ?? 0) > SHARED_MAX) return this.#own.get(list)?.[offset] ?? 0;
    const start = words[list * WORDS + START] ?? 0;
    return this.#chunks[start >>> CHUNK_BITS]?.[(start & (CHUNK_WORDS - 1)) + offset] ?? 0;
  }

  append(list: number, value: number): void {
    if ((list + 1) * WORDS > this.#lists.length) {
      const grown = new Uint32Array(this.#lists.length * 2);
      grown.set(this.#lists);
      this.#lists = grown;
    }
    const at = list * WORDS;
    const length = this.length(list);
    if ((this.#lists[at + HEAD] ?? 0) + length === (this.#lists[at + CAPACITY] ?? 0)) {
      this.#move(list, Math.max(CAPACITY_MIN, 2 ** Math.ceil(Math.log2((length + 1) * 1.25))));
    }
    const offset = (this.#lists[at + HEAD] ?? 0) + length;
    const { words, start } = this.#piece(list);
    words[start + offset] = value;
    this.#lists[at + LENGTH] = length + 1;
  }

  dropFirst(list: number): void {
    const at = list * WORDS;
    this.#lists[at + HEAD] = (this.#lists[at + HEAD] ?? 0) + 1;
    this.#shortened(list);
  }

  dropLast(list: number): void {
    this.#shortened(list);
  }

  #shortened(list: number): void {
    const at = list * WORDS;
    const length = this.length(list) - 1;
    this.#lists[at + LENGTH] = length;
    if (length === 0) this.#free(list);
    else if ((this.#lists[at + CAPACITY] ?? 0) > length * 4 + 8)
      this.#move(list, 2 ** Math.ceil(Math.log2(length * 2)));
  }

  #piece(list: number): { words: Uint32Array; start: number } {
    const at = list * WORDS;
    const own = (this.#lists[at + CAPACITY] ?? 0) > SHARED_MAX ? this.#own.get(list) : undefined;
    if (own !== undefined) return { words: own, start: 0 };
    const start = this.#lists[at + START] ?? 0;
    const words = this.#chunks[start >>> CHUNK_BITS];
    if (words === undefined) throw new RangeError(`no list ${list}`);
    return { words, start: start & (CHUNK_WORDS - 1) };
  }

  /** Moves a list to a piece of another capacity, its first number to the front. */
  #move(list: number, capacity: number): void {
    const at = list * WORDS;
    const length = this.length(list);
    let held = new Uint32Array();
    if (length > 0) {
      const { words, start } = this.#piece(list);
      const head = start + (this.#lists[at + HEAD] ?? 0);
      held = words.slice(head, head + length);
    }
    this.#free(list);
    this.#lists[at + CAPACITY] = capacity;
    if (capacity > SHARED_MAX) this.#own.set(list, new Uint32Array(capacity));
    else this.#lists[at + START] = this.#allocate(capacity);
    const { words, start } = this.#piece(list);
    words.set(held, start);
    this.#lists[at + LENGTH] = length;
  }

  #allocate(capacity: number): number {
    const reused = this.#released[Math.log2(capacity)]?.pop();
    if (reused !== undefined) return reused;
    const used = this.#nextWord & (CHUNK_WORDS - 1);
    if (used === 0 || used + capacity > CHUNK_WORDS) {
      this.#nextWord = this.#chunks.length << CHUNK_BITS;
      this.#chunks.push(new Uint32Array(CHUNK_WORDS));
    }
    const start = this.#nextWord;
    this.#nextWord += capacity;
    return start >>> 0;
  }

  #free(list: number): void {
    const at = list * WORDS;
    const capacity = this.#lists[at + CAPACITY] ?? 0;
    if (capacity > SHARED_MAX) this.#own.delete(list);
    else if (capacity > 0) {
      const logarithm = Math.log2(capacity);
      let pieces = this.#released[logarithm];
      if (pieces === undefined) {
        pieces = [];
        this.#released[logarithm] = pieces;
      }
      pieces.push(this.#lists[at + START] ?? 0);
    }
    this.#lists.fill(0, at, at + WORDS);
  }
}
