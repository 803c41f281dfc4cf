import type { GroupKind } from "../group-commit.ts";
import type { StateDriver } from "../records.ts";
import { type Cell, RowStatement } from "../row-statement.ts";
import type { Tx } from "../tables.ts";
import type { DeliveryOutcome, HeldWebhookQueue, KeptFact } from "../webhook-delivery-records.ts";

export interface RecordedOutcome {
  readonly queue: HeldWebhookQueue;
  readonly outcome: DeliveryOutcome;
  readonly fact: KeptFact | null;
}

interface Gone {
  readonly webhook_id: string;
}

/**
 * The outcomes of attempts, many in one transaction. The rows of their queues are locked first, in the order of their
 * ids, as schedulers lock them too; an epoch that has gone on means that another worker has the queue. Outcomes of
 * several queues share a commit, so one that is fenced takes no other with it. The facts of a commit are one row, so
 * that they cost next to nothing beside it.
 */
export class Outcomes implements GroupKind<RecordedOutcome, boolean, Tx> {
  readonly #driver: StateDriver;
  readonly #newId: () => string;
  readonly #kept: RowStatement<never>;
  readonly #delivered: RowStatement<Gone>;
  readonly #failed: RowStatement<Gone>;
  readonly #lowered: RowStatement<never>;

  /** @param newId - of a row of facts; in the order of time */
  constructor(driver: StateDriver, newId: () => string) {
    this.#driver = driver;
    this.#newId = newId;
    this.#kept = new RowStatement(
      driver,
      ["text", "text", "text", "bigint", "bigint"],
      (rows) =>
        "insert into webhook_facts (id, worker, facts, count, length) " +
        `select column1, column2, column3, column4, column5 from (${rows}) as v`,
    );
    this.#delivered = new RowStatement(
      driver,
      ["text"],
      (rows) =>
        `delete from webhook_deliveries where delivery_id in (select column1 from (${rows}) as gone) returning webhook_id`,
    );
    this.#failed = new RowStatement(
      driver,
      ["text", "text", "bigint", "bigint", "bigint", "bigint", "text"],
      (rows) =>
        "update webhook_deliveries set status = column2, attempts = column3, due_at = column4, " +
        `last_attempt_at = column5, last_status_code = column6, last_error = column7 from (${rows}) as failed ` +
        "where delivery_id = column1 and status = 'pending' returning webhook_id, status",
    );
    this.#lowered = new RowStatement(
      driver,
      ["text", "bigint"],
      (rows) =>
        `update webhook_queues set waiting = waiting - column2 from (${rows}) as gone where webhook_id = column1`,
    );
  }

  async apply(tx: Tx, items: readonly RecordedOutcome[]): Promise<readonly boolean[]> {
    const epochs = await this.#lock(tx, [...new Set(items.map(({ queue }) => queue.webhookId))].sort());
    const results = items.map(({ queue }) => epochs.get(queue.webhookId) === queue.epoch);
    const outcomes = items.filter((_, index) => results[index] === true).map(({ outcome }) => outcome);
    const delivered = outcomes.filter(({ kind }) => kind === "delivered").map(({ deliveryId }) => [deliveryId]);
    const gone = await this.#delivered.execute(tx, delivered);
    for (const row of await this.#failed.execute(tx, outcomes.flatMap(failedCells))) {
      if ("status" in row && row.status === "exhausted") gone.push(row);
    }
    const counts = new Map<string, bigint>();
    for (const { webhook_id } of gone) counts.set(webhook_id, (counts.get(webhook_id) ?? 0n) + 1n);
    await this.#lowered.execute(tx, [...counts]);
    await this.#kept.execute(tx, this.#factCells(items.filter((_, index) => results[index] === true)));
    return results;
  }

  #factCells(items: readonly RecordedOutcome[]): (readonly Cell[])[] {
    const byWorker = new Map<string, string[]>();
    for (const { fact } of items) {
      if (fact === null) continue;
      const facts = byWorker.get(fact.worker);
      if (facts === undefined) byWorker.set(fact.worker, [fact.fact]);
      else facts.push(fact.fact);
    }
    return [...byWorker].map(([worker, facts]) => {
      const text = facts.join();
      return [this.#newId(), worker, text, BigInt(facts.length), BigInt(text.length)];
    });
  }

  async #lock(tx: Tx, ids: readonly string[]): Promise<ReadonlyMap<string, bigint>> {
    const query = tx
      .selectFrom("webhook_queues")
      .select(["webhook_id", "epoch"])
      .where("webhook_id", "in", ids)
      .orderBy("webhook_id");
    const rows = await (this.#driver === "postgres" ? query.forUpdate() : query).execute();
    return new Map(rows.map((row) => [row.webhook_id, row.epoch]));
  }
}

function failedCells(outcome: DeliveryOutcome): (readonly Cell[])[] {
  if (outcome.kind === "delivered") return [];
  const isOver = outcome.kind === "exhausted";
  return [
    [
      outcome.deliveryId,
      isOver ? "exhausted" : "pending",
      BigInt(outcome.attempts),
      isOver ? null : BigInt(outcome.dueAt),
      BigInt(outcome.at),
      outcome.statusCode === null ? null : BigInt(outcome.statusCode),
      outcome.error,
    ],
  ];
}
