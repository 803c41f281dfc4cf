import { sql } from "kysely";
import type { StoreConnection } from "../connection.ts";
import type { Db, Tx } from "../tables.ts";
import { checkCount, checkIdentifier } from "../values.ts";
import type { KeptFacts, WebhookDeliveryStore } from "../webhook-delivery-records.ts";
import { WebhookQueues } from "./queues.ts";

const readMax = 1_000;
/** Commits among which a text is looked for. */
const searchedMax = 10_000;

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

  async factsWith(text: string, charactersMax: number): Promise<readonly KeptFacts[]> {
    const place = this.isShared ? sql<bigint>`strpos(facts, ${text})` : sql<bigint>`instr(facts, ${text})`;
    const rows = await this.#store.run((db) =>
      db
        .selectFrom(
          db
            .selectFrom("webhook_facts")
            .select(["id", "facts"])
            .where(
              "id",
              "in",
              db.selectFrom(newerOf(db).as("commits")).select("commits.id").where("newer", "<", BigInt(charactersMax)),
            )
            .orderBy("id", "desc")
            // The text is looked for in these alone, since no database takes a condition into what has a limit.
            .limit(searchedMax)
            .as("newest"),
        )
        .select(["id", "facts"])
        .where(sql<boolean>`${place} > 0`)
        .orderBy("id", "desc")
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
        .where(
          "id",
          "in",
          db
            .selectFrom(newerOf(db).as("commits"))
            .select("commits.id")
            .where(sql<bigint>`newer + length`, ">", BigInt(charactersMax)),
        )
        .returning("count")
        .execute(),
    );
    return rows.reduce((sum, { count }) => sum + Number(count), 0);
  }
}

/** Each commit with the characters of all that are newer. */
const newerOf = (db: Db | Tx) =>
  db
    .selectFrom("webhook_facts")
    .select(["id", "length", sql<bigint>`sum(length) over (order by id desc) - length`.as("newer")]);

const toFacts = ({ id, facts }: KeptFacts): KeptFacts => ({ id, facts: `[${facts}]` });
