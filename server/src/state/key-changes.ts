import type { StoreConnection } from "./connection.ts";
import type { GrantChange, KeyChangeStore } from "./records.ts";
import type { Tx } from "./tables.ts";
import { checkIdentifier } from "./values.ts";

/** Of both tables: the present revision's row, and whose changes it counts. */
const counter = "keys";
/** Changes that are kept: a process that missed more forgets all keys that it has in memory. */
const keptMax = 10_000n;
/** Changes that are read at a time; with more it is cheaper to forget all keys. */
const readMax = 1_000;

/**
 * Counts a change of a key or an account in the transaction that makes it. The row of the counter stays locked until
 * the commit, so who sees a revision sees all changes up to it.
 */
export async function recordKeyChange(tx: Tx, change: GrantChange): Promise<void> {
  const { revision } = await tx
    .insertInto("revisions")
    .values({ name: counter, revision: 1n })
    .onConflict((conflict) =>
      conflict.column("name").doUpdateSet(({ eb }) => ({ revision: eb("revisions.revision", "+", 1n) })),
    )
    .returning("revision")
    .executeTakeFirstOrThrow();
  const subject = checkIdentifier("subject", change.kind === "key" ? change.hash : change.accountId);
  await tx.insertInto("key_changes").values({ revision, kind: change.kind, subject }).execute();
  await tx
    .deleteFrom("key_changes")
    .where("revision", "<=", revision - keptMax)
    .execute();
}

export class KeyChangeLog implements KeyChangeStore {
  readonly #connection: StoreConnection;

  constructor(connection: StoreConnection) {
    this.#connection = connection;
  }

  revision(): Promise<bigint> {
    return this.#connection.run(async (db) => {
      const row = await db.selectFrom("revisions").select("revision").where("name", "=", counter).executeTakeFirst();
      return row?.revision ?? 0n;
    });
  }

  async since(seen: bigint): Promise<{ readonly revision: bigint; readonly changes: readonly GrantChange[] | null }> {
    const revision = await this.revision();
    if (revision === seen) return { revision, changes: [] };
    const missed = revision - seen;
    // Fewer than were seen before: the database is another, or an earlier copy of this one.
    if (missed < 0n || missed > readMax) return { revision, changes: null };
    const rows = await this.#connection.run((db) =>
      db
        .selectFrom("key_changes")
        .selectAll()
        .where("revision", ">", seen)
        .where("revision", "<=", revision)
        .orderBy("revision")
        .limit(readMax)
        .execute(),
    );
    const changes = rows.map(
      ({ kind, subject }): GrantChange =>
        kind === "key" ? { kind: "key", hash: subject } : { kind: "account", accountId: subject },
    );
    return { revision, changes: BigInt(changes.length) === missed ? changes : null };
  }
}
