import { type RawBuilder, sql } from "kysely";
import type { BookPlace } from "./lease-books.ts";
import type { BookedAdvanceRow, MeterTable, Tx } from "./tables.ts";

const placeKey = ({ book }: BookPlace): string => `${book.holder} ${book.number}`;

/**
 * The advances that one group of changes books: which of them are booked already is read at its beginning, so that an
 * advance is charged once however often that is said.
 */
export class TouchedAdvances {
  readonly #meter: MeterTable;
  readonly #nowMs: number;
  readonly #booked: Set<string>;
  readonly #added: BookedAdvanceRow[] = [];

  private constructor(meter: MeterTable, nowMs: number, booked: readonly string[]) {
    this.#meter = meter;
    this.#nowMs = nowMs;
    this.#booked = new Set(booked);
  }

  static async read(
    tx: Tx,
    { meter, nowMs }: { readonly meter: MeterTable; readonly nowMs: number },
    places: readonly BookPlace[],
  ): Promise<TouchedAdvances> {
    if (places.length === 0) return new TouchedAdvances(meter, nowMs, []);
    const rows = await tx
      .selectFrom("booked_advances")
      .select(["holder", "number"])
      .where("meter", "=", meter)
      .where(among(places))
      .execute();
    const booked = rows.map(({ holder, number }) => `${holder} ${number}`);
    return new TouchedAdvances(meter, nowMs, booked);
  }

  /** False where it is booked already. */
  book(place: BookPlace, spent: bigint): boolean {
    const key = placeKey(place);
    if (this.#booked.has(key)) return false;
    this.#booked.add(key);
    this.#added.push({
      meter: this.#meter,
      holder: place.book.holder,
      number: BigInt(place.book.number),
      account_id: place.accountId,
      month: place.month,
      spent,
      booked_at: BigInt(this.#nowMs),
    });
    return true;
  }

  async write(tx: Tx): Promise<void> {
    if (this.#added.length > 0) await tx.insertInto("booked_advances").values(this.#added).execute();
  }
}

function among(places: readonly BookPlace[]): RawBuilder<boolean> {
  const pairs = places.map(({ book }) => sql`(${book.holder}, cast(${BigInt(book.number)} as bigint))`);
  return sql<boolean>`(holder, number) in (values ${sql.join(pairs)})`;
}
