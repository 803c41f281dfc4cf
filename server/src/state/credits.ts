import { sql } from "kysely";
import type { Connection } from "./connection.ts";
import type { GroupKind } from "./group-commit.ts";
import type { CreditStore } from "./meter.ts";
import type { StateDriver } from "./records.ts";
import type { CreditRow, MeterTable, Tx } from "./tables.ts";
import { checkAmount, checkIdentifier, checkMonth, int64Max, isIdentifier } from "./values.ts";

/** One change of one account's month. A give-back has a negative `want`; its result is 0. */
interface CreditChange {
  readonly accountId: string;
  readonly month: string;
  readonly want: bigint;
  readonly allowance: bigint;
}

/**
 * Leases are rare beside requests (a gateway leases credits by the thousand and spends them in memory), but all accounts
 * of a busy replica lease at the turn of the month, so they share commits.
 */
export class Credits implements CreditStore {
  readonly #connection: Connection;
  readonly #table: MeterTable;
  readonly #changes: GroupKind<CreditChange, bigint, Tx>;

  /** Each metered product counts in a table of its own, all of one form. */
  constructor(connection: Connection, table: MeterTable) {
    this.#connection = connection;
    this.#table = table;
    this.#changes = { apply: (tx, items) => applyChanges(tx, { driver: connection.driver, table }, items) };
  }

  async lease(accountId: string, month: string, want: bigint, allowance: bigint | null): Promise<bigint> {
    const change: CreditChange = {
      accountId: checkIdentifier("accountId", accountId),
      month: checkMonth("month", month),
      want: checkAmount("want", want),
      allowance: allowance === null ? int64Max : checkAmount("allowance", allowance),
    };
    if (want === 0n || allowance === 0n) return 0n;
    return this.#connection.group(this.#changes, change);
  }

  async giveBack(accountId: string, month: string, unspent: bigint): Promise<void> {
    const want = -checkAmount("unspent", unspent);
    checkMonth("month", month);
    if (unspent === 0n || !isIdentifier(accountId)) return;
    await this.#connection.group(this.#changes, { accountId, month, want, allowance: 0n });
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
}

const keyOf = (change: { accountId: string; month: string }): string => `${change.month} ${change.accountId}`;

/**
 * Applies the changes in the order they came, on rows locked for it. Rows are made and locked in one sorted order, so
 * that replicas that lease for the same accounts wait for each other instead of deadlocking.
 */
async function applyChanges(tx: Tx, meter: Meter, changes: readonly CreditChange[]): Promise<readonly bigint[]> {
  const sorted = [...new Map(changes.map((change) => [keyOf(change), change])).entries()]
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([, change]) => change);
  await makeRows(tx, meter.table, sorted, new Set(changes.filter(({ want }) => want > 0n).map(keyOf)));
  const rows = await lockRows(tx, meter, sorted);
  const before = new Map(rows.map((row) => [keyOf({ accountId: row.account_id, month: row.month }), row.used]));
  const after = new Map(before);
  const results = changes.map((change) => {
    const used = after.get(keyOf(change));
    if (used === undefined) return 0n;
    const granted = change.want > 0n ? least(change.want, change.allowance - used) : 0n;
    after.set(keyOf(change), change.want > 0n ? used + granted : most(used + change.want, 0n));
    return granted;
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
  return results;
}

/** The smaller of the two, and never below zero: a tier that was lowered can leave an allowance below what is used. */
function least(want: bigint, left: bigint): bigint {
  if (left <= 0n) return 0n;
  return want < left ? want : left;
}

function most(left: bigint, right: bigint): bigint {
  return left > right ? left : right;
}

/** Only a lease makes a row; giving back to a month that was never leased from changes nothing. */
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
