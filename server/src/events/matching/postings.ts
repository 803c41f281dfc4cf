import type { HeadField, KeyTable } from "./key-table.ts";

const chunkBits = 10;
const chunkNodes = 1 << chunkBits;
const inChunk = chunkNodes - 1;
const width = 3;
const groupField = 0;
const nextField = 1;
const previousField = 2;

/**
 * For each key the groups of filters that are looked for there, as lists of nodes in typed arrays. A node is put in and
 * taken out in constant time; node 0 is none.
 */
export class Postings {
  readonly #keys: KeyTable;
  readonly #chunks: Int32Array[] = [];
  #made = 1;
  #free = 0;

  constructor(keys: KeyTable) {
    this.#keys = keys;
  }

  /** Puts a group before the others of a key; the node to take it out by. */
  put(key: number, field: HeadField, group: number): number {
    const node = this.#next();
    const first = this.#keys.head(key, field);
    this.#set(node, groupField, group);
    this.#set(node, nextField, first);
    this.#set(node, previousField, 0);
    if (first !== 0) this.#set(first, previousField, node);
    this.#keys.setHead(key, field, node);
    return node;
  }

  takeOut(key: number, field: HeadField, node: number): void {
    const next = this.next(node);
    const previous = this.#get(node, previousField);
    if (next !== 0) this.#set(next, previousField, previous);
    if (previous === 0) this.#keys.setHead(key, field, next);
    else this.#set(previous, nextField, next);
    this.#set(node, nextField, this.#free);
    this.#free = node;
  }

  group(node: number): number {
    return this.#get(node, groupField);
  }

  next(node: number): number {
    return this.#get(node, nextField);
  }

  #next(): number {
    if (this.#free !== 0) {
      const node = this.#free;
      this.#free = this.next(node);
      return node;
    }
    if (this.#made >>> chunkBits >= this.#chunks.length) this.#chunks.push(new Int32Array(chunkNodes * width));
    return this.#made++;
  }

  #get(node: number, field: number): number {
    return this.#chunks[node >>> chunkBits]?.[(node & inChunk) * width + field] ?? 0;
  }

  #set(node: number, field: number, value: number): void {
    const chunk = this.#chunks[node >>> chunkBits];
    if (chunk !== undefined) chunk[(node & inChunk) * width + field] = value;
  }
}
