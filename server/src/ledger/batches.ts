import { type Clock, type Random, sleep } from "@sluice/lib";
import type { InsertBody, LedgerConnection } from "./connection.ts";
import { LedgerQueryError, LedgerUnavailableError } from "./errors.ts";
import type { TableDefinition } from "./table-definition.ts";

/** Bounds of one INSERT and of its repetitions. */
const batchLimits = {
  /** Rows of one INSERT. Together with `bytesMax` this keeps an INSERT one block, and so all or nothing. */
  rowsMax: 50_000,
  /** Approximate JSON bytes of one INSERT. */
  bytesMax: 12 * 1024 * 1024,
  /** How long a failed INSERT is repeated before it fails, and the waits between, in milliseconds. */
  retryMsMax: 15_000,
  retryMsFirst: 50,
  retryMsLast: 1_000,
} as const;

/** Rows that enter the ledger together or not at all, under one number, however often they are sent. */
export interface Batch {
  readonly table: TableDefinition;
  readonly number: bigint;
  /** Rows of one month, with their `batch` column. */
  readonly body: InsertBody;
  readonly rows: number;
  readonly fromMs: number;
  readonly toMs: number;
  /** Times it was sent with an unknown outcome. */
  unknownOutcomes: number;
  /** The token that it is sent with. */
  token: string;
  /** Whether it waited in a file: the ledger may have it, and may know its token no more. */
  isOld: boolean;
}

/** Numbers batches: milliseconds of the clock above 22 random bits, never the same twice in a process. */
export class BatchNumbers {
  readonly #clock: Clock;
  readonly #random: Random;
  #last = 0n;

  constructor(dependencies: { readonly clock: Clock; readonly random: Random }) {
    this.#clock = dependencies.clock;
    this.#random = dependencies.random;
  }

  next(): bigint {
    const drawn = BigInt(Math.floor(this.#random.next() * 2 ** 22));
    const number = (BigInt(Math.trunc(this.#clock.now())) << 22n) | drawn;
    this.#last = number > this.#last ? number : this.#last + 1n;
    return this.#last;
  }
}

function timeOf(table: TableDefinition, row: object): number {
  const value: unknown = Reflect.get(row, table.timeColumn);
  if (typeof value === "number" && Number.isFinite(value)) return Math.trunc(value);
  throw new TypeError(`A row of ${table.name} has no ${table.timeColumn} in Unix milliseconds`);
}

/** An estimate that errs upwards for what ledger rows hold. */
function jsonBytes(row: object): number {
  let bytes = 2;
  for (const [name, value] of Object.entries(row)) {
    bytes += name.length + 4 + (typeof value === "string" ? value.length + 2 : 20);
  }
  return bytes;
}

/**
 * Splits rows into batches: by month, since an INSERT over two partitions could land in one of them alone, and by size.
 * Throws TypeError when a row lacks its time.
 */
export function batchesOf(table: TableDefinition, rows: readonly object[], numbers: BatchNumbers): Batch[] {
  const months = new Map<string, object[]>();
  for (const row of rows) {
    const month = new Date(timeOf(table, row)).toISOString().slice(0, 7);
    const held = months.get(month);
    if (held === undefined) months.set(month, [row]);
    else held.push(row);
  }
  const batches: Batch[] = [];
  for (const held of months.values()) {
    let start = 0;
    let bytes = 0;
    for (let index = 0; index < held.length; index++) {
      bytes += jsonBytes(held[index] ?? {});
      const last = index === held.length - 1;
      if (!last && index - start + 1 < batchLimits.rowsMax && bytes < batchLimits.bytesMax) continue;
      batches.push(oneBatch(table, held.slice(start, index + 1), numbers.next()));
      start = index + 1;
      bytes = 0;
    }
  }
  return batches;
}

function oneBatch(table: TableDefinition, rows: readonly object[], number: bigint): Batch {
  let fromMs = Number.POSITIVE_INFINITY;
  let toMs = Number.NEGATIVE_INFINITY;
  for (const row of rows) {
    const at = timeOf(table, row);
    if (at < fromMs) fromMs = at;
    if (at > toMs) toMs = at;
  }
  const numbered = rows.map((row) => ({ ...row, batch: number }));
  return newBatch(table, number, { kind: "rows", rows: numbered }, { rows: rows.length, fromMs, toMs });
}

/** Creates a batch that was not sent. */
export function newBatch(
  table: TableDefinition,
  number: bigint,
  body: InsertBody,
  held: { readonly rows: number; readonly fromMs: number; readonly toMs: number },
): Batch {
  return { table, number, body, ...held, unknownOutcomes: 0, token: `batch-${number}`, isOld: false };
}

/** The part of a connection that batches are written through. */
type BatchConnection = Pick<LedgerConnection, "insertRows" | "query">;

export interface BatchWriterOptions {
  /** True where tables are replicated: there Keeper commits token and rows together. */
  readonly replicated: boolean;
}

/**
 * Writes batches exactly once.
 *
 * An INSERT whose outcome is not known is sent again under its token, which the table takes once. On a table that is
 * not replicated the token is logged just before the rows become visible: a kill between the two leaves a token without
 * rows, and the repeated INSERT would count as a copy of rows that do not exist. So after a repetition the rows are
 * counted by their batch number; when there are none they are sent under a fresh token. (At that point the first INSERT
 * cannot be under way any more: the token was found under the lock under which rows become visible.)
 */
export class BatchWriter {
  readonly #connection: BatchConnection;
  readonly #clock: Clock;
  readonly #replicated: boolean;

  constructor(
    options: BatchWriterOptions,
    dependencies: { readonly connection: BatchConnection; readonly clock: Clock },
  ) {
    this.#connection = dependencies.connection;
    this.#clock = dependencies.clock;
    this.#replicated = options.replicated;
  }

  /**
   * Returns when the rows are on disk. Throws LedgerUnavailableError after the retry deadline (the batch may be written
   * again later, by the same object), LedgerQueryError at once when the ledger refuses the rows for good.
   */
  async write(batch: Batch, retryMsMax: number = batchLimits.retryMsMax): Promise<void> {
    const until = this.#clock.monotonic() + retryMsMax;
    let waitMs: number = batchLimits.retryMsFirst;
    for (;;) {
      try {
        await this.#once(batch);
        return;
      } catch (error) {
        const transient = error instanceof LedgerQueryError && error.transient;
        if (!transient && !(error instanceof LedgerUnavailableError)) throw error;
        batch.unknownOutcomes++;
        if (this.#clock.monotonic() + waitMs >= until) {
          throw error instanceof LedgerUnavailableError ? error : new LedgerUnavailableError(error.message, error);
        }
      }
      await sleep(this.#clock, waitMs);
      waitMs = Math.min(waitMs * 2, batchLimits.retryMsLast);
    }
  }

  async #once(batch: Batch): Promise<void> {
    if (batch.isOld && (await this.#isWhole(batch))) return;
    const isKeyed = batch.table.replacing !== undefined;
    // A row of such a table that is written twice is one row. Its rows cannot be counted, since a merge may have taken
    // those that a later version replaced.
    if (isKeyed && batch.unknownOutcomes > 0) batch.token = `batch-${batch.number}-${batch.unknownOutcomes}`;
    await this.#connection.insertRows(batch.table.name, batch.body, batch.token);
    if (batch.unknownOutcomes === 0 || this.#replicated || isKeyed) return;
    if (await this.#isWhole(batch)) return;
    batch.token = `batch-${batch.number}-${batch.unknownOutcomes}`;
    await this.#connection.insertRows(batch.table.name, batch.body, batch.token);
    if (!(await this.#isWhole(batch))) throw new LedgerUnavailableError("an insert left no rows");
  }

  /** True when all rows exist, false when none does; any number between breaks the rule of one part an INSERT. */
  async #isWhole(batch: Batch): Promise<boolean> {
    const { name, timeColumn } = batch.table;
    const sql =
      `SELECT count() AS rows FROM ${name} WHERE batch = {batch:UInt64} AND ` +
      `${timeColumn} BETWEEN fromUnixTimestamp64Milli({from:Int64}) AND fromUnixTimestamp64Milli({to:Int64})`;
    const parameters = { batch: batch.number, from: batch.fromMs, to: batch.toMs };
    const [found] = await this.#connection.query<{ rows: string }>(sql, parameters);
    const rows = Number(found?.rows ?? 0);
    if (rows === batch.rows) return true;
    if (rows === 0) return false;
    const text = `batch ${batch.number} of ${name} has ${rows} of ${batch.rows} rows`;
    throw new LedgerQueryError(0, text);
  }
}
