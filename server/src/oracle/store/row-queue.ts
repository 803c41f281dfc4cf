import { LedgerUnavailableError } from "../../ledger/index.ts";
import type { RowDropReason } from "../model/events.ts";

/** Bounds of the rows that wait for the ledger. */
export const rowLimits = {
  /** Rows that wait in one queue. A full queue drops the oldest: the newest are queried most. */
  waitingMax: 50_000,
  /** Rows of one INSERT. */
  batchMax: 10_000,
} as const;

export interface RowQueueDependencies {
  readonly insert: (table: string, rows: readonly object[]) => Promise<void>;
  /** Rows of a table that were not stored. */
  readonly dropped: (table: string, rows: number, reason: RowDropReason) => void;
}

/**
 * Rows that wait for one table of the ledger, written in their order of arrival. While the ledger is unavailable, as
 * with a full disk, they wait; a batch that it refuses for good is dropped, so that it does not block the rest.
 */
export class RowQueue<Row> {
  readonly #table: string;
  readonly #toRow: (item: Row) => object;
  readonly #dependencies: RowQueueDependencies;
  #waiting: Row[] = [];
  /** While another process writes: how many of the waiting rows arrived between calls of `standBy`, oldest first. */
  #arrivals: number[] = [];

  constructor(table: string, toRow: (item: Row) => object, dependencies: RowQueueDependencies) {
    this.#table = table;
    this.#toRow = toRow;
    this.#dependencies = dependencies;
  }

  /** Items that are not known to be written, oldest first. */
  get waiting(): readonly Row[] {
    return this.#waiting;
  }

  push(item: Row): void {
    this.#waiting.push(item);
    // Cut in larger pieces, so that a full queue does not move its whole length for each row.
    const excess = this.#waiting.length - rowLimits.waitingMax;
    if (excess > rowLimits.batchMax) this.#drop(excess, "full");
  }

  /**
   * Called in place of `write` while another process writes the same rows: lets go of those that arrived more than
   * `callsKept` calls ago. What is kept is written should the other process end.
   */
  standBy(callsKept: number): void {
    const known = this.#arrivals.reduce((sum, count) => sum + count, 0);
    this.#arrivals.push(Math.max(0, this.#waiting.length - known));
    while (this.#arrivals.length > callsKept) this.#waiting = this.#waiting.slice(this.#arrivals.shift());
  }

  /** Drops what waits, because nothing will write it any more. */
  giveUp(): void {
    if (this.#waiting.length > 0) this.#drop(this.#waiting.length, "unavailable");
  }

  /** Writes the waiting rows; rows that the ledger does not take stay. Never rejects. Callers run it one at a time. */
  async write(): Promise<void> {
    this.#arrivals = [];
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.slice(0, rowLimits.batchMax);
      const first = batch[0];
      try {
        await this.#dependencies.insert(this.#table, batch.map(this.#toRow));
      } catch (error) {
        if (error instanceof LedgerUnavailableError) return;
        if (this.#waiting[0] === first) this.#drop(batch.length, "refused");
        return;
      }
      // A full queue may have dropped the written rows from its front meanwhile.
      const at = first === undefined ? -1 : this.#waiting.indexOf(first);
      if (at === 0) this.#waiting = this.#waiting.slice(batch.length);
    }
  }

  #drop(rows: number, reason: RowDropReason): void {
    this.#waiting = this.#waiting.slice(rows);
    this.#arrivals = [];
    this.#dependencies.dropped(this.#table, rows, reason);
  }
}
