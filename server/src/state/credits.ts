import { invariant } from "@sluice/lib";
import { sql } from "kysely";
import { TouchedAdvances } from "./booked-advances.ts";
import type { Connection } from "./connection.ts";
import type { GroupKind } from "./group-commit.ts";
import { type BookPlace, checkBook, TouchedBooks } from "./lease-books.ts";
import type { CreditStore, HeldLeaseBook, LeaseBook, LeaseBookPlace, OpenLeaseBook, SpentAdvance } from "./meter.ts";
import type { StateDriver } from "./records.ts";
import type { CreditRow, MeterTable, Tx } from "./tables.ts";
import { checkAmount, checkIdentifier, checkMonth, int64Max, isIdentifier } from "./values.ts";

/** One change of one account's month. */
type CreditChange =
  | {
      readonly kind: "lease";
      readonly accountId: string;
      readonly month: string;
      readonly want: bigint;
      readonly allowance: bigint;
      readonly book: LeaseBook | null;
    }
  | { readonly kind: "give-back"; readonly accountId: string; readonly month: string; readonly unspent: bigint }
  | ({ readonly kind: "settle"; readonly spent: bigint | null } & BookPlace)
  | ({ readonly kind: "advance"; readonly spent: bigint } & BookPlace);

const booksMax = 1_000;
/** A data directory that comes back later than this could have its advances charged a second time. */
const bookedKeptMs = 400 * 86_400_000;

/**
 * Leases are rare beside requests (a gateway leases credits by the thousand and spends them in memory), but all
 * accounts of a busy replica lease at the turn of the month, so they share commits.
 */
export class Credits implements CreditStore {
  readonly #connection: Connection;
  readonly #table: MeterTable;
  readonly #changes: GroupKind<CreditChange, bigint | null, Tx>;

  /** Each metered product has its own table, all of one form; the lease books of all products share one. */
  constructor(connection: Connection, table: MeterTable) {
    this.#connection = connection;
    this.#table = table;
    this.#changes = {
      apply: (tx, items) =>
        applyChanges(tx, { driver: connection.driver, table, nowMs: connection.clock.now() }, items),
    };
  }

  async lease(
    accountId: string,
    month: string,
    want: bigint,
    allowance: bigint | null,
    book: LeaseBook | null = null,
  ): Promise<bigint> {
    const change: CreditChange = {
      kind: "lease",
      accountId: checkIdentifier("accountId", accountId),
      month: checkMonth("month", month),
      want: checkAmount("want", want),
      allowance: allowance === null ? int64Max : checkAmount("allowance", allowance),
      book: book === null ? null : checkBook(book),
    };
    if (want === 0n || allowance === 0n) return 0n;
    return (await this.#connection.group(this.#changes, change)) ?? 0n;
  }

  async giveBack(accountId: string, month: string, unspent: bigint): Promise<void> {
    checkAmount("unspent", unspent);
    checkMonth("month", month);
    if (unspent === 0n || !isIdentifier(accountId)) return;
    await this.#connection.group(this.#changes, { kind: "give-back", accountId, month, unspent });
  }

  async settle(accountId: string, month: string, book: LeaseBook, spent: bigint | null): Promise<bigint | null> {
    checkMonth("month", month);
    checkBook(book);
    if (spent !== null) checkAmount("spent", spent);
    if (!isIdentifier(accountId)) return null;
    return this.#connection.group(this.#changes, { kind: "settle", accountId, month, book, spent });
  }

  async bookAdvance({ accountId, month, holder, number, spent }: SpentAdvance): Promise<boolean> {
    const change: CreditChange = {
      kind: "advance",
      accountId: checkIdentifier("accountId", accountId),
      month: checkMonth("month", month),
      book: checkBook({ holder, number }),
      spent: checkAmount("spent", spent),
    };
    return (await this.#connection.group(this.#changes, change)) === 1n;
  }

  async openBooks(holder: string, limit: number): Promise<readonly OpenLeaseBook[]> {
    if (!isIdentifier(holder)) return [];
    const rows = await this.#connection.run((db) =>
      db
        .selectFrom("lease_books")
        .selectAll()
        .where("meter", "=", this.#table)
        .where("holder", "=", holder)
        .orderBy("number")
        .limit(Math.min(Math.max(limit, 1), booksMax))
        .execute(),
    );
    return rows.map((row) => ({
      holder: row.holder,
      number: Number(row.number),
      accountId: row.account_id,
      month: row.month,
      leased: row.leased,
    }));
  }

  async heldBooks(after: LeaseBookPlace | null, limit: number): Promise<readonly HeldLeaseBook[]> {
    const rows = await this.#connection.run((db) => {
      const query = db.selectFrom("lease_books").selectAll().where("meter", "=", this.#table);
      const place = sql`(holder, number, account_id, month)`;
      const beyond =
        after === null
          ? query
          : query.where(
              sql<boolean>`${place} > (${after.holder}, ${BigInt(after.number)}, ${after.accountId}, ${after.month})`,
            );
      return beyond
        .orderBy("holder")
        .orderBy("number")
        .orderBy("account_id")
        .orderBy("month")
        .limit(Math.min(Math.max(limit, 1), booksMax))
        .execute();
    });
    return rows.map((row) => ({
      holder: row.holder,
      number: Number(row.number),
      accountId: row.account_id,
      month: row.month,
      leased: row.leased,
      leasedAt: row.leased_at === null ? null : Number(row.leased_at),
    }));
  }

  async closeBooksBefore(month: string): Promise<number> {
    checkMonth("month", month);
    const result = await this.#connection.run((db) =>
      db.deleteFrom("lease_books").where("meter", "=", this.#table).where("month", "<", month).executeTakeFirst(),
    );
    const longAgo = BigInt(this.#connection.clock.now() - bookedKeptMs);
    await this.#connection.run((db) =>
      db.deleteFrom("booked_advances").where("meter", "=", this.#table).where("booked_at", "<", longAgo).execute(),
    );
    return Number(result.numDeletedRows);
  }

  async held(accountId: string, month: string): Promise<bigint> {
    checkMonth("month", month);
    if (!isIdentifier(accountId)) return 0n;
    const books = await this.#connection.run((db) =>
      db
        .selectFrom("lease_books")
        .select("leased")
        .where("meter", "=", this.#table)
        .where("account_id", "=", accountId)
        .where("month", "=", month)
        .execute(),
    );
    return books.reduce((sum, { leased }) => sum + leased, 0n);
  }

  async used(accountId: string, month: string): Promise<bigint> {
    checkMonth("month", month);
    if (!isIdentifier(accountId)) return 0n;
    return this.#connection.run(async (db) => {
      const row = await db
        .selectFrom(this.#table)
        .select("used")
        .where("account_id", "=", accountId)
        .where("month", "=", month)
        .executeTakeFirst();
      return row?.used ?? 0n;
    });
  }
}

interface Meter {
  readonly driver: StateDriver;
  readonly table: MeterTable;
  readonly nowMs: number;
}

const keyOf = (change: { accountId: string; month: string }): string => `${change.month} ${change.accountId}`;

/**
 * Applies the changes in their order, on locked rows. Rows are created and locked in one sorted order, so that replicas
 * that lease for the same accounts wait for each other instead of deadlocking. The lock of an account's month covers
 * its books.
 */
async function applyChanges(
  tx: Tx,
  meter: Meter,
  changes: readonly CreditChange[],
): Promise<readonly (bigint | null)[]> {
  const sorted = [...new Map(changes.map((change) => [keyOf(change), change])).entries()]
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([, change]) => change);
  const leased = new Set(changes.filter(({ kind }) => kind === "lease" || kind === "advance").map(keyOf));
  await makeRows(tx, meter.table, sorted, leased);
  const rows = await lockRows(tx, meter, sorted);
  const books = await TouchedBooks.read(tx, meter, changes.flatMap(bookOf));
  const advances = await TouchedAdvances.read(
    tx,
    { meter: meter.table, nowMs: meter.nowMs },
    changes.filter(isAdvance),
  );
  const before = new Map(rows.map((row) => [keyOf({ accountId: row.account_id, month: row.month }), row.used]));
  const after = new Map(before);
  const results = changes.map((change) => {
    const used = after.get(keyOf(change));
    if (used === undefined) return null;
    const { result, next } = isAdvance(change)
      ? applyAdvance(change, used, advances)
      : applyChange(change, used, books);
    after.set(keyOf(change), next);
    return result;
  });
  const changed = rows.filter((row) => {
    const key = keyOf({ accountId: row.account_id, month: row.month });
    return before.get(key) !== after.get(key);
  });
  await writeRows(
    tx,
    meter.table,
    changed.map((row) => ({ ...row, used: after.get(keyOf({ accountId: row.account_id, month: row.month })) ?? 0n })),
  );
  await books.write(tx);
  await advances.write(tx);
  return results;
}

type AdvanceChange = Extract<CreditChange, { kind: "advance" }>;

const isAdvance = (change: CreditChange): change is AdvanceChange => change.kind === "advance";

/** The result is 1 where the advance is charged, 0 where that was done before. */
function applyAdvance(change: AdvanceChange, used: bigint, advances: TouchedAdvances): Applied {
  if (!advances.book(change, change.spent)) return { result: 0n, next: used };
  return { result: 1n, next: within(used + change.spent) };
}

function bookOf(change: CreditChange): BookPlace[] {
  if (change.kind === "give-back" || change.kind === "advance" || change.book === null) return [];
  return [{ accountId: change.accountId, month: change.month, book: change.book }];
}

/** The result of one change, and the amount used after it. */
interface Applied {
  readonly result: bigint | null;
  readonly next: bigint;
}

function applyChange(change: Exclude<CreditChange, AdvanceChange>, used: bigint, books: TouchedBooks): Applied {
  if (change.kind === "give-back") return { result: null, next: within(used - change.unspent) };
  if (change.kind === "lease") {
    const granted = least(change.want, change.allowance - used);
    // Credits are money. A few ns beside a commit of 8 µs at best (group-commit.campaign.ts).
    invariant(granted >= 0n && granted <= change.want, "a lease is between nothing and what was requested");
    invariant(granted === 0n || used + granted <= change.allowance, "a lease never exceeds the allowance");
    if (change.book !== null) books.enter({ ...change, book: change.book }, granted);
    return { result: granted, next: used + granted };
  }
  const leased = books.close(change);
  if (leased === null) return { result: null, next: used };
  const unspent = leased - (change.spent ?? leased);
  return { result: unspent, next: within(used - unspent) };
}

/** The smaller of the two, and never below zero: a tier that was lowered can leave an allowance below what is used. */
function least(want: bigint, left: bigint): bigint {
  if (left <= 0n) return 0n;
  return want < left ? want : left;
}

/** The nearest amount that both drivers hold. */
function within(amount: bigint): bigint {
  if (amount < 0n) return 0n;
  return amount > int64Max ? int64Max : amount;
}

/** Only a lease or an advance creates a row; giving back to a month without leases changes nothing. */
async function makeRows(
  tx: Tx,
  table: MeterTable,
  sorted: readonly CreditChange[],
  leased: ReadonlySet<string>,
): Promise<void> {
  const rows = sorted
    .filter((change) => leased.has(keyOf(change)))
    .map(({ accountId, month }): CreditRow => ({ account_id: accountId, month, used: 0n }));
  if (rows.length === 0) return;
  await tx
    .insertInto(table)
    .values(rows)
    .onConflict((conflict) => conflict.columns(["account_id", "month"]).doNothing())
    .execute();
}

async function lockRows(tx: Tx, { driver, table }: Meter, sorted: readonly CreditChange[]): Promise<CreditRow[]> {
  const pairs = sql.join(sorted.map(({ accountId, month }) => sql`(${accountId}, ${month})`));
  const query = tx
    .selectFrom(table)
    .selectAll()
    .where(sql<boolean>`(account_id, month) in (values ${pairs})`)
    .orderBy("month")
    .orderBy("account_id");
  return driver === "postgres" ? query.forUpdate().execute() : query.execute();
}

async function writeRows(tx: Tx, table: MeterTable, rows: readonly CreditRow[]): Promise<void> {
  if (rows.length === 0) return;
  const values = sql.join(
    rows.map((row) => sql`(cast(${row.account_id} as text), cast(${row.month} as text), cast(${row.used} as bigint))`),
  );
  await sql`update ${sql.table(table)} set used = v.column3 from (values ${values}) as v
    where account_id = v.column1 and month = v.column2`.execute(tx);
}
