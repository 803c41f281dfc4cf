import type { ChainAccount } from "../model/index.ts";
import { type AccountFilter, AccountIndexes, type IndexOptions, passesFiltersAt } from "./account-indexes.ts";

import type { AccountRows } from "./account-rows.ts";
import { LargestRows, largestOf, type Ranking, sortByAddress } from "./largest-rows.ts";

type Listed = [string, ChainAccount];

/**
 * Finds accounts among the rows: by program and filters, and the largest by what they hold. `limit` is the highest slot
 * ordinal that counts for the reader. What is given out is to be read before the next write.
 */
export class AccountSearch {
  readonly #options: IndexOptions;
  readonly #rows: AccountRows;
  readonly #indexes: AccountIndexes;
  readonly #byLamports: Ranking;
  /** Kept from the first query on. */
  #richest: LargestRows | null = null;

  constructor(options: IndexOptions, rows: AccountRows) {
    this.#options = options;
    this.#rows = rows;
    this.#indexes = new AccountIndexes(options, rows);
    this.#byLamports = {
      counts: () => true,
      high: (row) => rows.lamportsHigh(row),
      low: (row) => rows.lamportsLow(row),
    };
  }

  /** Takes in a row that says something now. */
  add(row: number): void {
    this.#indexes.add(row);
    this.#richest?.add(row);
  }

  /** Takes a row out, before it is changed. */
  remove(row: number): void {
    this.#indexes.remove(row);
    this.#richest?.remove(row);
  }

  find(program: string, filters: readonly AccountFilter[], limit: number, sorted: boolean): Generator<Listed> {
    const found = this.#matching(program, filters, limit);
    return this.#accounts(sorted ? sortByAddress(found, this.#rows) : found);
  }

  #matching(program: string, filters: readonly AccountFilter[], limit: number): number[] {
    const rows = this.#rows;
    const number = rows.programs.number(program);
    const { table, first } = this.#indexes.candidates(program, filters);
    const found: number[] = [];
    for (let row = first; row !== 0; row = table.next(row)) {
      if (!rows.isSeen(row, limit) || rows.program(row) !== number) continue;
      if (passesFiltersAt(filters, rows.dataBytes(row), rows.dataStart(row), rows.dataLength(row))) found.push(row);
    }
    return found;
  }

  *#accounts(found: Iterable<number>): Generator<Listed> {
    for (const row of found) {
      const account = this.#rows.account(row);
      if (account !== null) yield [this.#rows.address(row), account];
    }
  }

  largestHolders(program: string, mint: string, count: number, limit: number): Listed[] {
    const { candidates, ranking, ranked } = this.#indexes.holders(program, mint);
    const all = () => this.#indexes.rowsOf(candidates);
    return [...this.#accounts(this.#largest(ranked, ranking, all, count, limit))];
  }

  richest(count: number, limit: number): Listed[] {
    if (this.#richest === null) {
      this.#richest = new LargestRows(this.#options, this.#rows, this.#byLamports);
      this.#richest.build(this.#live());
    }
    return [...this.#accounts(this.#largest(this.#richest, this.#byLamports, () => this.#live(), count, limit))];
  }

  /**
   * Candidates first; when too few of them are seen they are gathered anew, and when versions crowd them, all are read.
   */
  #largest(
    ranked: LargestRows | null,
    ranking: Ranking,
    all: () => Iterable<number>,
    count: number,
    limit: number,
  ): number[] {
    const isSeen = (row: number) => this.#rows.isSeen(row, limit);
    let top = ranked?.top(count, isSeen) ?? null;
    if (top === null && ranked !== null) {
      ranked.build(all());
      top = ranked.top(count, isSeen);
    }
    if (top !== null) return top;
    const counted = Iterator.from(all()).filter((row) => isSeen(row) && ranking.counts(row));
    return largestOf(counted, count, this.#rows, ranking);
  }

  *#live(): Generator<number> {
    for (let row = 1; row < this.#rows.end; row += 1) if (this.#rows.isLive(row)) yield row;
  }

  /** Every account. Linear. */
  *all(limit: number): Generator<Listed> {
    for (const row of this.#live()) if (this.#rows.isSeen(row, limit)) yield* this.#accounts([row]);
  }
}
