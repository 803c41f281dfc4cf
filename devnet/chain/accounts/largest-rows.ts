import type { AccountRows } from "./account-rows.ts";

/** Positions that fit beside 32 bits of an address into a double. */
const positionsMax = 2 ** 21;

const addressWords = 8;

/** Four bytes of an address as they are compared, the first of them weighing most. */
function weighed(word: number): number {
  return ((word << 24) | ((word & 0xff00) << 8) | ((word >>> 8) & 0xff00) | (word >>> 24)) >>> 0;
}

/** Orders two rows by the bytes of their addresses. */
export function compareAddresses(rows: AccountRows, left: number, right: number): number {
  for (let word = 0; word < addressWords; word += 1) {
    const leftWord = rows.addressWord(left, word);
    const rightWord = rows.addressWord(right, word);
    if (leftWord !== rightWord) return weighed(leftWord) - weighed(rightWord);
  }
  return 0;
}

/**
 * Rows by the bytes of their addresses. Up to two million are sorted as doubles of the first four bytes and the
 * position, natively, and only those whose four bytes are alike are compared in full: a million takes 0.3 s instead of
 * 2.
 */
export function sortByAddress(found: readonly number[], rows: AccountRows): number[] {
  const compare = (left: number, right: number): number => compareAddresses(rows, left, right);
  if (found.length > positionsMax) return found.toSorted(compare);
  const keys = new Float64Array(found.length);
  found.forEach((row, position) => {
    keys[position] = weighed(rows.addressWord(row, 0)) * positionsMax + position;
  });
  keys.sort();
  const sorted = Array.from(keys, (key) => found[key % positionsMax] ?? 0);
  for (let first = 0; first < sorted.length; ) {
    const like = Math.floor((keys[first] ?? 0) / positionsMax);
    let after = first + 1;
    while (after < sorted.length && Math.floor((keys[after] ?? 0) / positionsMax) === like) after += 1;
    if (after - first > 1) {
      const alike = sorted.slice(first, after).sort(compare);
      for (let at = first; at < after; at += 1) sorted[at] = alike[at - first] ?? 0;
    }
    first = after;
  }
  return sorted;
}

/** An amount by which rows are put in order, in two halves, and which rows count. */
export interface Ranking {
  counts(row: number): boolean;
  high(row: number): number;
  low(row: number): number;
}

interface Floor {
  readonly high: number;
  readonly low: number;
  readonly address: Uint8Array;
}

/** The largest amount first, and of equal ones the larger address, as a node orders them. */
function inOrder(rows: AccountRows, ranking: Ranking): (left: number, right: number) => number {
  return (left, right) =>
    ranking.high(right) - ranking.high(left) ||
    ranking.low(right) - ranking.low(left) ||
    compareAddresses(rows, right, left);
}

/** The `count` largest of some rows, in order. */
export function largestOf(found: Iterable<number>, count: number, rows: AccountRows, ranking: Ranking): number[] {
  const compare = inOrder(rows, ranking);
  const largest: number[] = [];
  for (const row of found) {
    const last = largest[count - 1];
    if (last !== undefined && compare(last, row) < 0) continue;
    let place = largest.length;
    while (place > 0 && compare(largest[place - 1] ?? row, row) > 0) place -= 1;
    largest.splice(place, 0, row);
    if (largest.length > count) largest.pop();
  }
  return largest;
}

/**
 * The rows with the largest amounts, kept up to date: all rows at or above a floor are candidates, none below it is.
 * When they are too many the floor rises; when too few of them are seen the owner builds them anew from all rows.
 */
export class LargestRows {
  /** Half of them stay when there are more. */
  readonly #candidatesMax: number;
  readonly #rows: AccountRows;
  readonly #ranking: Ranking;
  readonly #candidates = new Set<number>();
  /** The candidates in order; null when they have changed since they were sorted. */
  #sorted: readonly number[] | null = null;
  /** Null while every row is a candidate. */
  #floor: Floor | null = null;

  constructor(options: { readonly candidatesMax: number }, rows: AccountRows, ranking: Ranking) {
    this.#candidatesMax = options.candidatesMax;
    this.#rows = rows;
    this.#ranking = ranking;
  }

  add(row: number): void {
    if (!this.#ranking.counts(row) || this.#isBelow(row)) return;
    this.#candidates.add(row);
    this.#sorted = null;
    if (this.#candidates.size > this.#candidatesMax) this.#cut();
  }

  remove(row: number): void {
    if (this.#candidates.delete(row)) this.#sorted = null;
  }

  /** Starts over from all rows. */
  build(all: Iterable<number>): void {
    this.#candidates.clear();
    this.#sorted = null;
    this.#floor = null;
    for (const row of all) this.add(row);
  }

  /** The `count` largest rows of those that `isSeen`; null when there may be more of them below the floor. */
  top(count: number, isSeen: (row: number) => boolean): number[] | null {
    this.#sorted ??= [...this.#candidates].sort(inOrder(this.#rows, this.#ranking));
    const top: number[] = [];
    for (const row of this.#sorted) {
      if (top.length === count) break;
      if (isSeen(row)) top.push(row);
    }
    return top.length < count && this.#floor !== null ? null : top;
  }

  #isBelow(row: number): boolean {
    const floor = this.#floor;
    if (floor === null) return false;
    const apart = this.#ranking.high(row) - floor.high || this.#ranking.low(row) - floor.low;
    return apart < 0 || (apart === 0 && Buffer.compare(this.#rows.addressBytes(row), floor.address) < 0);
  }

  #cut(): void {
    const sorted = [...this.#candidates].sort(inOrder(this.#rows, this.#ranking));
    const last = sorted[Math.ceil(this.#candidatesMax / 2) - 1] ?? 0;
    const address = this.#rows.addressBytes(last).slice();
    this.#floor = { high: this.#ranking.high(last), low: this.#ranking.low(last), address };
    // Versions of one account may be equal in all that is compared: those at the floor stay.
    for (const row of sorted) if (this.#isBelow(row)) this.#candidates.delete(row);
    this.#sorted = null;
  }
}
