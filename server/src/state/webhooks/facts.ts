import { sql } from "kysely";
import type { StoreConnection } from "../connection.ts";
import { checkCount, checkIdentifier } from "../values.ts";
import type { KeptFacts, WebhookDeliveryStore } from "../webhook-delivery-records.ts";
import { WebhookQueues } from "./queues.ts";

const readMax = 1_000;

/** What attempts were, from the commit of their outcomes until the ledger has it. */
export class WebhookFacts
  extends WebhookQueues
  implements Pick<WebhookDeliveryStore, "facts" | "orphanedFacts" | "factsWith" | "dropFacts" | "boundFacts">
{
  readonly #store: StoreConnection;

  constructor(connection: StoreConnection) {
    super(connection);
    this.#store = connection;
  }

  async facts(worker: string, limit: number): Promise<readonly KeptFacts[]> {
    checkCount("limit", limit, readMax);
    const rows = await this.#store.run((db) =>
      db
        .selectFrom("webhook_facts")
        .select(["id", "facts"])
        .where("worker", "=", checkIdentifier("worker", worker))
        .orderBy("id")
        .limit(limit)
        .execute(),
    );
    return rows.map(toFacts);
  }

  async orphanedFacts(limit: number): Promise<readonly KeptFacts[]> {
    checkCount("limit", limit, readMax);
    const rows = await this.#store.run((db) =>
      db
        .selectFrom("webhook_facts")
        .select(["id", "facts"])
        .where("worker", "not in", (query) => query.selectFrom("webhook_workers").select("webhook_workers.worker"))
        .orderBy("id")
        .limit(limit)
        .execute(),
    );
    return rows.map(toFacts);
  }

  async factsWith(text: string, limit: number): Promise<readonly KeptFacts[]> {
    checkCount("limit", limit, readMax);
    const place = this.isShared ? sql<bigint>`strpos(facts, ${text})` : sql<bigint>`instr(facts, ${text})`;
    const rows = await this.#store.run((db) =>
      db
        .selectFrom("webhook_facts")
        .select(["id", "facts"])
        .where(sql<boolean>`${place} > 0`)
        .orderBy("id", "desc")
        .limit(limit)
        .execute(),
    );
    return rows.map(toFacts);
  }

  async dropFacts(ids: readonly string[]): Promise<void> {
    checkCount("ids", ids.length, readMax);
    if (ids.length === 0) return;
    await this.#store.write((db) => db.deleteFrom("webhook_facts").where("id", "in", ids).execute());
  }

  async boundFacts(charactersMax: number): Promise<number> {
    const rows = await this.#store.write((db) =>
      db
        .deleteFrom("webhook_facts")
        .where("id", "in", (query) =>
          query
            .selectFrom((inner) =>
              inner
                .selectFrom("webhook_facts")
                .select(["id", sql<bigint>`sum(length) over (order by id desc)`.as("total")])
                .as("summed"),
            )
            .select("summed.id")
            .where("summed.total", ">", BigInt(charactersMax)),
        )
        .returning("count")
        .execute(),
    );
    return rows.reduce((sum, { count }) => sum + Number(count), 0);
  }
}

const toFacts = ({ id, facts }: KeptFacts): KeptFacts => ({ id, facts: `[${facts}]` });
