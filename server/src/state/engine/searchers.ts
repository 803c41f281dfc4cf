import { SluiceError } from "@sluice/contract/errors";
import type { StoreConnection } from "../connection.ts";
import type { SearcherLimit, SearcherLink, SearcherStore } from "../engine-records.ts";
import type { SearcherLimitRow, SearcherRow } from "../engine-tables.ts";
import { recordKeyChange } from "../key-changes.ts";
import type { PageRequest, RecordPage } from "../page.ts";
import { readPageRequest, toPage } from "../paging.ts";
import { numberOf } from "../rows.ts";
import { checkIdentifier, checkWhole, isIdentifier } from "../values.ts";

export class Searchers implements SearcherStore {
  readonly #connection: StoreConnection;

  constructor(connection: StoreConnection) {
    this.#connection = connection;
  }

  async link(pubkey: string, accountId: string): Promise<SearcherLink> {
    const row: SearcherRow = {
      pubkey: checkIdentifier("pubkey", pubkey),
      account_id: checkIdentifier("accountId", accountId),
      linked_at: BigInt(this.#connection.clock.now()),
    };
    return this.#connection.transaction(async (tx) => {
      const created = await tx
        .insertInto("searchers")
        .values(row)
        .onConflict((conflict) => conflict.column("pubkey").doNothing())
        .executeTakeFirst();
      const stands = await tx.selectFrom("searchers").selectAll().where("pubkey", "=", pubkey).executeTakeFirst();
      if (stands?.account_id !== accountId) throw new SluiceError("CONFLICT");
      if (created.numInsertedOrUpdatedRows === 1n) await recordKeyChange(tx, { kind: "account", accountId });
      return toLink(stands);
    });
  }

  async unlink(pubkey: string): Promise<boolean> {
    if (!isIdentifier(pubkey)) return false;
    return this.#connection.transaction(async (tx) => {
      const row = await tx
        .deleteFrom("searchers")
        .where("pubkey", "=", pubkey)
        .returning("account_id")
        .executeTakeFirst();
      if (row === undefined) return false;
      // Streams that were opened by its signature are checked again in every process.
      await recordKeyChange(tx, { kind: "account", accountId: row.account_id });
      return true;
    });
  }

  async find(pubkey: string): Promise<SearcherLink | null> {
    if (!isIdentifier(pubkey)) return null;
    return this.#connection.run(async (db) => {
      const row = await db.selectFrom("searchers").selectAll().where("pubkey", "=", pubkey).executeTakeFirst();
      return row === undefined ? null : toLink(row);
    });
  }

  async list(page: PageRequest & { readonly accountId?: string }): Promise<RecordPage<SearcherLink>> {
    const { limit, after } = readPageRequest("searchers", page);
    const { accountId } = page;
    if (accountId !== undefined && !isIdentifier(accountId)) return { items: [], nextCursor: null };
    return this.#connection.run(async (db) => {
      let query = db.selectFrom("searchers").selectAll();
      if (accountId !== undefined) query = query.where("account_id", "=", accountId);
      if (after !== null) query = query.where("pubkey", ">", after.id);
      const rows = await query
        .orderBy("pubkey")
        .limit(limit + 1)
        .execute();
      return toPage("searchers", limit, rows, toLink, (row) => ({ time: 0n, id: row.pubkey }));
    });
  }

  async setLimit(searcherId: string, limit: Pick<SearcherLimit, "bundlesPerSecond" | "burst">): Promise<SearcherLimit> {
    const changed = {
      bundles_per_second: checkWhole("bundlesPerSecond", limit.bundlesPerSecond),
      burst: checkWhole("burst", limit.burst),
      set_at: BigInt(this.#connection.clock.now()),
    };
    const row: SearcherLimitRow = { searcher_id: checkIdentifier("searcherId", searcherId), ...changed };
    await this.#connection.run((db) =>
      db
        .insertInto("searcher_limits")
        .values(row)
        .onConflict((conflict) => conflict.column("searcher_id").doUpdateSet(changed))
        .execute(),
    );
    return toLimit(row);
  }

  async clearLimit(searcherId: string): Promise<boolean> {
    if (!isIdentifier(searcherId)) return false;
    return this.#connection.run(async (db) => {
      const result = await db.deleteFrom("searcher_limits").where("searcher_id", "=", searcherId).executeTakeFirst();
      return result.numDeletedRows > 0n;
    });
  }

  async limitOf(searcherId: string): Promise<SearcherLimit | null> {
    if (!isIdentifier(searcherId)) return null;
    return this.#connection.run(async (db) => {
      const query = db.selectFrom("searcher_limits").selectAll().where("searcher_id", "=", searcherId);
      const row = await query.executeTakeFirst();
      return row === undefined ? null : toLimit(row);
    });
  }

  async limits(page: PageRequest): Promise<RecordPage<SearcherLimit>> {
    const { limit, after } = readPageRequest("searcher_limits", page);
    return this.#connection.run(async (db) => {
      let query = db.selectFrom("searcher_limits").selectAll();
      if (after !== null) query = query.where("searcher_id", ">", after.id);
      const rows = await query
        .orderBy("searcher_id")
        .limit(limit + 1)
        .execute();
      return toPage("searcher_limits", limit, rows, toLimit, (row) => ({ time: 0n, id: row.searcher_id }));
    });
  }
}

function toLink(row: SearcherRow): SearcherLink {
  return { pubkey: row.pubkey, accountId: row.account_id, linkedAt: numberOf(row.linked_at) };
}

function toLimit(row: SearcherLimitRow): SearcherLimit {
  return {
    searcherId: row.searcher_id,
    bundlesPerSecond: numberOf(row.bundles_per_second),
    burst: numberOf(row.burst),
    setAt: numberOf(row.set_at),
  };
}
