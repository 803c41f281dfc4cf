import { type RawBuilder, sql } from "kysely";
import type { LeaseBook } from "./meter.ts";
import type { LeaseBookRow, MeterTable, Tx } from "./tables.ts";
import { checkIdentifier, checkWhole } from "./values.ts";

/** Where a book's row is: it is written and read only while the row of its account's month is locked. */
export interface BookPlace {
  readonly accountId: string;
  readonly month: string;
  readonly book: LeaseBook;
}

export function checkBook(book: LeaseBook): LeaseBook {
  checkIdentifier("book.holder", book.holder);
  checkWhole("book.number", book.number);
  return book;
}

const placeKey = ({ accountId, month, book }: BookPlace): string =>
  `${book.holder} ${book.number} ${month} ${accountId}`;

const placeOf = (row: LeaseBookRow): BookPlace => ({
  accountId: row.account_id,
  month: row.month,
  book: { holder: row.holder, number: Number(row.number) },
});

const keyColumns = ["meter", "holder", "number", "account_id", "month"] as const;

/** Whose books they are, and when. */
interface BookMeter {
  readonly table: MeterTable;
  readonly nowMs: number;
}

/** The open books that one group of changes touches: read at its beginning, changed in memory, written at its end. */
export class TouchedBooks {
  readonly #meter: MeterTable;
  readonly #before: ReadonlyMap<string, LeaseBookRow>;
  readonly #after: Map<string, LeaseBookRow>;

  readonly #nowMs: number;

  private constructor({ table, nowMs }: BookMeter, rows: readonly LeaseBookRow[]) {
    this.#meter = table;
    this.#nowMs = nowMs;
    this.#before = new Map(rows.map((row) => [placeKey(placeOf(row)), row]));
    this.#after = new Map(this.#before);
  }

  static async read(tx: Tx, meter: BookMeter, places: readonly BookPlace[]): Promise<TouchedBooks> {
    if (places.length === 0) return new TouchedBooks(meter, []);
    const rows = await tx
      .selectFrom("lease_books")
      .selectAll()
      .where("meter", "=", meter.table)
      .where(among(places))
      .execute();
    return new TouchedBooks(meter, rows);
  }

  /** Enters a grant; the first one opens the book. */
  enter(place: BookPlace, granted: bigint): void {
    if (granted === 0n) return;
    const key = placeKey(place);
    const leased = (this.#after.get(key)?.leased ?? 0n) + granted;
    this.#after.set(key, {
      meter: this.#meter,
      holder: place.book.holder,
      number: BigInt(place.book.number),
      account_id: place.accountId,
      month: place.month,
      leased,
      leased_at: BigInt(this.#nowMs),
    });
  }

  /** Takes the book out and says what was leased on it; null when it is not open. */
  close(place: BookPlace): bigint | null {
    const key = placeKey(place);
    const leased = this.#after.get(key)?.leased ?? null;
    this.#after.delete(key);
    return leased;
  }

  async write(tx: Tx): Promise<void> {
    const closed = [...this.#before].filter(([key]) => !this.#after.has(key)).map(([, row]) => placeOf(row));
    const changed = [...this.#after].filter(([key, row]) => this.#before.get(key) !== row).map(([, row]) => row);
    if (closed.length > 0) {
      await tx.deleteFrom("lease_books").where("meter", "=", this.#meter).where(among(closed)).execute();
    }
    if (changed.length === 0) return;
    await tx
      .insertInto("lease_books")
      .values(changed)
      .onConflict((conflict) =>
        conflict.columns([...keyColumns]).doUpdateSet((row) => ({
          leased: row.ref("excluded.leased"),
          leased_at: row.ref("excluded.leased_at"),
        })),
      )
      .execute();
  }
}

function among(places: readonly BookPlace[]): RawBuilder<boolean> {
  const tuples = places.map(
    ({ accountId, month, book }) =>
      sql`(${book.holder}, cast(${BigInt(book.number)} as bigint), ${accountId}, ${month})`,
  );
  return sql<boolean>`(holder, number, account_id, month) in (values ${sql.join(tuples)})`;
}
