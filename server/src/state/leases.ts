import type { StoreConnection } from "./connection.ts";
import type { LeaseRecord, LeaseStore } from "./lease-records.ts";
import { checkIdentifier, isIdentifier } from "./values.ts";

type Held = Pick<LeaseRecord, "name" | "epoch">;

export class Leases implements LeaseStore {
  readonly #connection: StoreConnection;

  constructor(connection: StoreConnection) {
    this.#connection = connection;
  }

  get isShared(): boolean {
    return this.#connection.driver === "postgres";
  }

  async find(name: string): Promise<LeaseRecord | null> {
    if (!isIdentifier(name)) return null;
    return this.#connection.run(async (db) => {
      const row = await db.selectFrom("leases").selectAll().where("name", "=", name).executeTakeFirst();
      return row ?? null;
    });
  }

  async take(name: string, holder: string, seen: LeaseRecord | null): Promise<LeaseRecord | null> {
    const first = {
      name: checkIdentifier("name", name),
      epoch: 1n,
      beats: 0n,
      holder: checkIdentifier("holder", holder),
    };
    return this.#connection.transaction(async (tx) => {
      const query = tx.selectFrom("leases").selectAll().where("name", "=", name);
      // This lock is the one that fences wait for and that waits for them.
      const row = await (this.isShared ? query.forUpdate() : query).executeTakeFirst();
      if (row === undefined) {
        const created = await tx
          .insertInto("leases")
          .values(first)
          .onConflict((conflict) => conflict.column("name").doNothing())
          .executeTakeFirst();
        return seen === null && created.numInsertedOrUpdatedRows === 1n ? first : null;
      }
      if (seen === null || row.epoch !== seen.epoch || row.beats !== seen.beats) return null;
      const taken = { epoch: row.epoch + 1n, beats: 0n, holder };
      await tx.updateTable("leases").set(taken).where("name", "=", name).execute();
      return { name, ...taken };
    });
  }

  async beat({ name, epoch }: Held): Promise<boolean> {
    return this.#connection.run(async (db) => {
      const result = await db
        .updateTable("leases")
        .set(({ eb }) => ({ beats: eb("beats", "+", 1n) }))
        .where("name", "=", name)
        .where("epoch", "=", epoch)
        .executeTakeFirst();
      return result.numUpdatedRows > 0n;
    });
  }

  async release({ name, epoch }: Held): Promise<void> {
    await this.#connection.run((db) =>
      db
        .updateTable("leases")
        .set({ holder: "" })
        .where("name", "=", name)
        .where("epoch", "=", epoch)
        .executeTakeFirst(),
    );
  }
}
