import { SluiceError } from "@sluice/contract/errors";
import { sqlLimits } from "@sluice/contract/sql";
import type { Connection } from "./connection.ts";
import { numberOf } from "./rows.ts";
import type { SavedQueryContent, SavedQueryRecord, SavedQueryStore } from "./saved-query-records.ts";
import type { Db, SavedQueryRow, Tx } from "./tables.ts";
import { checkIdentifier, checkText, isIdentifier } from "./values.ts";

const nameLengthMax = sqlLimits.savedNameLength;

const toRecord = (row: SavedQueryRow): SavedQueryRecord => ({
  id: row.id,
  accountId: row.account_id,
  name: row.name,
  query: row.query,
  parameters: row.parameters,
  createdAt: numberOf(row.created_at),
  updatedAt: numberOf(row.updated_at),
});

const checked = ({ name, query, parameters }: SavedQueryContent): SavedQueryContent => ({
  name: checkText("name", name, nameLengthMax),
  query: checkText("query", query, sqlLimits.queryBytes),
  parameters: checkText("parameters", parameters, sqlLimits.parameterBytes),
});

export class SavedQueries implements SavedQueryStore {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  async create(accountId: string, content: SavedQueryContent): Promise<SavedQueryRecord | null> {
    const now = BigInt(this.#connection.clock.now());
    const row: SavedQueryRow = {
      id: this.#connection.newId("query"),
      account_id: checkIdentifier("accountId", accountId),
      ...checked(content),
      created_at: now,
      updated_at: now,
    };
    return await this.#connection.transaction(async (tx) => {
      await this.#lock(tx, accountId);
      const { count } = await tx
        .selectFrom("saved_queries")
        .select(({ fn }) => fn.countAll<bigint>().as("count"))
        .where("account_id", "=", accountId)
        .executeTakeFirstOrThrow();
      if (Number(count) >= sqlLimits.savedQueries) return null;
      await refuseTaken(tx, row);
      await tx.insertInto("saved_queries").values(row).execute();
      return toRecord(row);
    });
  }

  async get(accountId: string, id: string): Promise<SavedQueryRecord | null> {
    if (!isIdentifier(accountId) || !isIdentifier(id)) return null;
    return await this.#connection.run(async (db) => {
      const row = await one(db, accountId, id);
      return row === undefined ? null : toRecord(row);
    });
  }

  async list(accountId: string): Promise<readonly SavedQueryRecord[]> {
    if (!isIdentifier(accountId)) return [];
    return await this.#connection.run(async (db) => {
      const rows = await db
        .selectFrom("saved_queries")
        .selectAll()
        .where("account_id", "=", accountId)
        .limit(sqlLimits.savedQueries)
        .execute();
      // Databases sort text in their own orders.
      return rows.map(toRecord).toSorted((one, other) => (one.name < other.name ? -1 : 1));
    });
  }

  async update(accountId: string, id: string, changes: Partial<SavedQueryContent>): Promise<SavedQueryRecord | null> {
    if (!isIdentifier(accountId) || !isIdentifier(id)) return null;
    return await this.#connection.transaction(async (tx) => {
      await this.#lock(tx, accountId);
      const row = await one(tx, accountId, id);
      if (row === undefined) return null;
      const content = checked({ name: row.name, query: row.query, parameters: row.parameters, ...changes });
      const changed = { ...row, ...content, updated_at: BigInt(this.#connection.clock.now()) };
      await refuseTaken(tx, changed);
      await tx
        .updateTable("saved_queries")
        .set({ ...content, updated_at: changed.updated_at })
        .where("id", "=", id)
        .execute();
      return toRecord(changed);
    });
  }

  async delete(accountId: string, id: string): Promise<boolean> {
    if (!isIdentifier(accountId) || !isIdentifier(id)) return false;
    return await this.#connection.run(async (db) => {
      const result = await db
        .deleteFrom("saved_queries")
        .where("account_id", "=", accountId)
        .where("id", "=", id)
        .executeTakeFirst();
      return result.numDeletedRows > 0n;
    });
  }

  /** Two that save at once would both see room. */
  async #lock(tx: Tx, accountId: string): Promise<void> {
    if (this.#connection.driver !== "postgres") return;
    await tx.selectFrom("accounts").select("id").where("id", "=", accountId).forUpdate().execute();
  }
}

const one = (db: Db | Tx, accountId: string, id: string): Promise<SavedQueryRow | undefined> =>
  db
    .selectFrom("saved_queries")
    .selectAll()
    .where("account_id", "=", accountId)
    .where("id", "=", id)
    .executeTakeFirst();

async function refuseTaken(tx: Tx, { account_id, id, name }: SavedQueryRow): Promise<void> {
  const taken = await tx
    .selectFrom("saved_queries")
    .select("id")
    .where("account_id", "=", account_id)
    .where("name", "=", name)
    .where("id", "!=", id)
    .executeTakeFirst();
  if (taken !== undefined)
    throw new SluiceError("CONFLICT", { message: "The account has a query of this name already" });
}
