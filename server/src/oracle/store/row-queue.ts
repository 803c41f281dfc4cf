/** Bounds of what waits for the ledger. */
export const rowLimits = {
  /** Rows that wait in one queue. When full the oldest go: what is asked for most is the newest. */
  waitingMax: 50_000,
  /** Rows of one INSERT. */
  batchMax: 10_000,
  /** Attempts for one batch; each lasts as long as the ledger itself tries. A batch that it refuses would block the rest. */
  attemptsMax: 3,
} as const;

export interface RowQueueDependencies {
  readonly insert: (table: string, rows: readonly object[]) => Promise<void>;
  readonly dropped: (table: string, rows: number) => void;
}

/**
 * Rows that wait for one table of the ledger, written in the order in which they came. A batch whose outcome was not known
 * may be written twice; whoever reads these tables puts equal rows together.
 */
export class RowQueue<Row> {
  readonly #table: string;
  readonly #toRow: (item: Row) => object;
  readonly #dependencies: RowQueueDependencies;
  #waiting: Row[] = [];
  #attempts = 0;

  constructor(table: string, toRow: (item: Row) => object, dependencies: RowQueueDependencies) {
    this.#table = table;
    this.#toRow = toRow;
    this.#dependencies = dependencies;
  }

  /** Items that are not yet known to be written, oldest first. */
  get waiting(): readonly Row[] {
    return this.#waiting;
  }

  push(item: Row): void {
    this.#waiting.push(item);
    // Cut in larger pieces, so that a full queue does not move its whole length for each row.
    const excess = this.#waiting.length - rowLimits.waitingMax;
    if (excess > rowLimits.batchMax) this.#drop(excess);
  }

  /** Writes what waits; what the ledger does not take stays for the next time. Never rejects. One at a time. */
  async write(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.slice(0, rowLimits.batchMax);
      const first = batch[0];
      try {
        await this.#dependencies.insert(this.#table, batch.map(this.#toRow));
        this.#attempts = 0;
      } catch {
        this.#attempts += 1;
        if (this.#attempts < rowLimits.attemptsMax) return;
        this.#attempts = 0;
        if (this.#waiting[0] === first) this.#drop(batch.length);
        return;
      }
      // What was written meanwhile may have been dropped from the front, since the queue was full.
      const at = first === undefined ? -1 : this.#waiting.indexOf(first);
      if (at === 0) this.#waiting = this.#waiting.slice(batch.length);
    }
  }

  #drop(rows: number): void {
    this.#waiting = this.#waiting.slice(rows);
    this.#dependencies.dropped(this.#table, rows);
  }
}
