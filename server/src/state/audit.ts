import type { StoreConnection } from "./connection.ts";
import type { GroupKind } from "./group-commit.ts";
import { beyond, readPageRequest, toPage } from "./paging.ts";
import type { AuditRecord, AuditStore, PageRequest, RecordPage } from "./records.ts";
import { toAudit } from "./rows.ts";
import type { AuditRow, Tx } from "./tables.ts";
import { checkIdentifier, checkJson, checkText, isIdentifier } from "./values.ts";

/** A key's restrictions before and after a change, at their longest. */
const detailLengthMax = 64 * 1024;
const wordsLengthMax = 200;

/** All entries of a group go in as one statement. */
const appends: GroupKind<AuditRow, undefined, Tx> = {
  apply: async (tx, items) => {
    await tx.insertInto("audit").values(items).execute();
    return items.map(() => undefined);
  },
};

export class Audit implements AuditStore {
  readonly #connection: StoreConnection;

  constructor(connection: StoreConnection) {
    this.#connection = connection;
  }

  async append(entry: Parameters<AuditStore["append"]>[0]): Promise<AuditRecord> {
    const row: AuditRow = {
      id: this.#connection.newId("audit"),
      at: BigInt(this.#connection.clock.now()),
      actor: checkText("actor", entry.actor, wordsLengthMax),
      action: checkText("action", entry.action, wordsLengthMax),
      subject: checkIdentifier("subject", entry.subject),
      detail: checkJson("detail", entry.detail ?? {}, detailLengthMax),
    };
    await this.#connection.group(appends, row);
    return toAudit(row);
  }

  async list(page: PageRequest & { readonly subject?: string }): Promise<RecordPage<AuditRecord>> {
    const { limit, after } = readPageRequest("audit", page);
    const { subject } = page;
    if (subject !== undefined && !isIdentifier(subject)) return { items: [], nextCursor: null };
    return this.#connection.run(async (db) => {
      let query = db.selectFrom("audit").selectAll();
      if (subject !== undefined) query = query.where("subject", "=", subject);
      const rows = await query
        .where(beyond({ time: "at", id: "id" }, after, "desc"))
        .orderBy("at", "desc")
        .orderBy("id", "desc")
        .limit(limit + 1)
        .execute();
      return toPage("audit", limit, rows, toAudit, (row) => ({ time: row.at, id: row.id }));
    });
  }
}
