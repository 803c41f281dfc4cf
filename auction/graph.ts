/**
 * Steps (about one machine word touched each) that searches share. Work is bounded, not time, so that every run decides
 * alike.
 */
export interface SearchBudget {
  steps: number;
}

/** Vertices of the largest graph that is searched in machine words. */
export const narrowMax = 32;

/** A conflict graph on its own, its vertices numbered from 0. */
export interface Graph {
  readonly size: number;
  readonly words: number;
  /** Neighbours of each vertex, `words` words each. */
  readonly rows: Int32Array;
  /** Whole numbers, sums below 2^53. */
  readonly weights: Float64Array;
}

export function hasBit(bits: Int32Array, start: number, bit: number): boolean {
  return ((bits[start + (bit >> 5)] ?? 0) & (1 << (bit & 31))) !== 0;
}

export function putBit(bits: Int32Array, start: number, bit: number): void {
  const at = start + (bit >> 5);
  bits[at] = (bits[at] ?? 0) | (1 << (bit & 31));
}

/** The vertices of `order` as a graph, vertex `at` being `order[at]` of rows that begin at `rowStart`. */
export function subgraph(
  rows: Int32Array,
  rowStart: number,
  rowWords: number,
  order: readonly number[],
  weightOf: (vertex: number) => number,
): Graph {
  const size = order.length;
  const words = (size + 31) >> 5;
  const compact = new Int32Array(size * words);
  const wanted = new Int32Array(rowWords);
  const places = new Int32Array(rowWords * 32);
  for (let at = 0; at < size; at++) {
    putBit(wanted, 0, order[at] ?? 0);
    places[order[at] ?? 0] = at;
  }
  for (let at = 0; at < size; at++) {
    const row = rowStart + (order[at] ?? 0) * rowWords;
    for (let word = 0; word < rowWords; word++) {
      for (let rest = (rows[row + word] ?? 0) & (wanted[word] ?? 0); rest !== 0; rest &= rest - 1) {
        putBit(compact, at * words, places[word * 32 + 31 - Math.clz32(rest & -rest)] ?? 0);
      }
    }
  }
  return { size, words, rows: compact, weights: Float64Array.from(order, weightOf) };
}

/** The connected parts of the live vertices, in the order of their first ones. */
export function partsOf(rows: Int32Array, rowStart: number, words: number, live: Int32Array): number[][] {
  const open = live.slice();
  const parts: number[][] = [];
  for (let word = 0; word < words; word++) {
    for (let first = open[word] ?? 0; first !== 0; first = open[word] ?? 0) {
      const bit = 31 - Math.clz32(first & -first);
      open[word] = first & ~(1 << bit);
      const part = [word * 32 + bit];
      for (let at = 0; at < part.length; at++) {
        const row = rowStart + (part[at] ?? 0) * words;
        for (let other = word; other < words; other++) {
          const met = (rows[row + other] ?? 0) & (open[other] ?? 0);
          if (met === 0) continue;
          open[other] = (open[other] ?? 0) & ~met;
          for (let rest = met; rest !== 0; rest &= rest - 1) part.push(other * 32 + 31 - Math.clz32(rest & -rest));
        }
      }
      parts.push(part);
    }
  }
  return parts;
}
