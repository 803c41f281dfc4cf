import { networks } from "@sluice/contract/tiers";
import { sql } from "kysely";
import type { StoreConnection } from "../connection.ts";
import { numberOf, numberOrNull, oneOf } from "../rows.ts";
import type { Db, Tx } from "../tables.ts";
import { checkCount, checkIdentifier, checkText, checkWhole, checkWholeOrNull, isIdentifier } from "../values.ts";
import {
  type DeliveryOutcome,
  type HeldWebhookQueue,
  type KeptFact,
  type QueuedDelivery,
  type QueuePlace,
  type RecoverableTelling,
  type RetriesPage,
  type RevivedDelivery,
  type SingleDelivery,
  shortDetailMax,
  type WebhookDeliveryStore,
  type WebhookDisabling,
  type WebhookTold,
} from "../webhook-delivery-records.ts";
import type { WebhookDeliveryRow } from "../webhook-tables.ts";
import { recordWebhookChange } from "./changes.ts";
import { toListed } from "./delivery-rows.ts";
import { WebhookFacts } from "./facts.ts";
import { Outcomes } from "./outcomes.ts";
import { newDeliveryId, raiseWaiting, singleRow, tellOwner } from "./told.ts";

const pageMax = 10_000;
const readMax = 1_000;
const detailLengthMax = 32 * 1024 * 1024;
const wordsLengthMax = 200;

/** The database, outside a transaction or within one. */
type Rows = Db | Tx;

export class WebhookDeliveries extends WebhookFacts implements WebhookDeliveryStore {
  readonly #connection: StoreConnection;
  readonly #outcomes: Outcomes;

  constructor(connection: StoreConnection) {
    super(connection);
    this.#connection = connection;
    this.#outcomes = new Outcomes(connection.driver, () => connection.newId("facts"));
  }

  newDeliveryId(): string {
    return newDeliveryId(this.#connection);
  }

  async fresh(webhookId: string, limit: number, except: readonly string[] = []): Promise<readonly QueuedDelivery[]> {
    checkCount("limit", limit, pageMax);
    const rows = await this.#connection.run((db) =>
      without(ofQueue(db, webhookId), except)
        .where("due_at", "=", 0n)
        .orderBy("slot")
        .orderBy("ordinal")
        .limit(limit)
        .execute(),
    );
    return rows.map(toListed);
  }

  async retries(webhookId: string, { until, limit, except = [] }: RetriesPage): Promise<readonly QueuedDelivery[]> {
    checkCount("limit", limit, pageMax);
    const rows = await this.#connection.run((db) =>
      without(ofQueue(db, webhookId), except)
        .where("due_at", ">", 0n)
        .where("due_at", "<=", checkWhole("until", until))
        .orderBy("due_at")
        .orderBy("slot")
        .orderBy("ordinal")
        .limit(limit)
        .execute(),
    );
    return rows.map(toListed);
  }

  async waitingSince(webhookId: string, before: number, limit: number): Promise<readonly QueuedDelivery[]> {
    checkCount("limit", limit, pageMax);
    const rows = await this.#connection.run((db) =>
      ofQueue(db, webhookId)
        .where("due_at", "is not", null)
        .where("created_at", "<=", checkWhole("before", before))
        .orderBy("slot")
        .orderBy("ordinal")
        .limit(limit)
        .execute(),
    );
    return rows.map(toListed);
  }

  async nextRetry(webhookId: string): Promise<number | null> {
    const row = await this.#connection.run((db) =>
      db
        .selectFrom("webhook_deliveries")
        .select("due_at")
        .where("webhook_id", "=", webhookId)
        .where("due_at", ">", 0n)
        .orderBy("due_at")
        .limit(1)
        .executeTakeFirst(),
    );
    return numberOrNull(row?.due_at ?? null);
  }

  record(queue: HeldWebhookQueue, outcome: DeliveryOutcome, fact: KeptFact | null = null): Promise<boolean> {
    return this.#connection.group(this.#outcomes, { queue, outcome, fact });
  }

  async keepDetail({ webhookId, epoch }: HeldWebhookQueue, deliveryId: string, detail: string): Promise<boolean> {
    checkText("detail", detail, detailLengthMax);
    const result = await this.#connection.write((db) =>
      db
        .updateTable("webhook_deliveries")
        .set({ detail })
        .where("delivery_id", "=", deliveryId)
        .where(({ exists, selectFrom }) =>
          exists(
            selectFrom("webhook_queues")
              .select("webhook_queues.webhook_id")
              .where("webhook_queues.webhook_id", "=", webhookId)
              .where("webhook_queues.epoch", "=", epoch),
          ),
        )
        .executeTakeFirst(),
    );
    return result.numUpdatedRows > 0n;
  }

  async succeeded(webhookId: string, at: number): Promise<number | null> {
    return await this.#connection.transaction(async (tx) => {
      const row = await this.#lockWebhook(tx, webhookId);
      if (row === undefined) return null;
      const set = { last_success_at: checkWhole("at", at), failing_since: null };
      await tx.updateTable("webhooks").set(set).where("id", "=", webhookId).execute();
      return numberOrNull(row.failing_since);
    });
  }

  async failing(webhookId: string, at: number): Promise<number> {
    return await this.#connection.transaction(async (tx) => {
      const row = await this.#lockWebhook(tx, webhookId);
      if (row?.failing_since !== null && row !== undefined) return numberOf(row.failing_since);
      const failing_since = checkWhole("at", at);
      await tx.updateTable("webhooks").set({ failing_since }).where("id", "=", webhookId).execute();
      return at;
    });
  }

  async disable({ webhookId, reason, at, ...told }: WebhookDisabling): Promise<boolean> {
    return await this.#connection.transaction(async (tx) => {
      const row = await this.#lockWebhook(tx, webhookId);
      if (row?.status !== "active") return false;
      const now = checkWhole("at", at);
      const set = { status: "disabled", status_reason: checkText("reason", reason, wordsLengthMax), status_at: now };
      await tx.updateTable("webhooks").set(set).where("id", "=", webhookId).execute();
      await recordWebhookChange(tx, oneOf("webhooks.network", row.network, networks), webhookId);
      await tellOwner(tx, this.#connection, { webhookId, ...told });
      return true;
    });
  }

  async tell(told: WebhookTold): Promise<void> {
    await this.#connection.transaction(async (tx) => {
      if (told.event.event === "webhook.recoverable") {
        const set = { recoverable_told_at: BigInt(this.#connection.clock.now()) };
        await tx.updateTable("webhooks").set(set).where("id", "=", told.webhookId).execute();
      }
      await tellOwner(tx, this.#connection, told);
    });
  }

  async exhausted(webhookId: string): Promise<number> {
    const row = await this.#connection.run((db) =>
      db
        .selectFrom("webhook_deliveries")
        .select(({ fn }) => fn.countAll<bigint>().as("count"))
        .where("webhook_id", "=", webhookId)
        .where("due_at", "is", null)
        .executeTakeFirst(),
    );
    return Number(row?.count ?? 0n);
  }

  async tellRecoverable({ webhookId, everyMs, told }: RecoverableTelling): Promise<"told" | "nothing" | "later"> {
    const now = this.#connection.clock.now();
    return await this.#connection.transaction(async (tx) => {
      const webhook = await this.#lockWebhook(tx, webhookId);
      if (webhook === undefined) return "nothing";
      const before = numberOrNull(webhook.recoverable_told_at);
      const ofWebhook = tx
        .selectFrom("webhook_deliveries")
        .where("webhook_id", "=", webhookId)
        .where("due_at", "is", null);
      const untold = ofWebhook.where(givenUpAt, ">", BigInt(before ?? -1));
      const first = await untold.select(givenUpAt.as("at")).orderBy(givenUpAt).limit(1).executeTakeFirst();
      if (first === undefined) return "nothing";
      if (before !== null && now - before < everyMs) return "later";
      const { count } = await ofWebhook.select(({ fn }) => fn.countAll<bigint>().as("count")).executeTakeFirstOrThrow();
      const set = { recoverable_told_at: BigInt(now) };
      await tx.updateTable("webhooks").set(set).where("id", "=", webhookId).execute();
      await tellOwner(tx, this.#connection, told({ deliveries: Number(count), since: Number(first.at) }));
      return "told";
    });
  }

  async addSingle(webhookId: string, delivery: SingleDelivery): Promise<boolean> {
    const row = singleRow(this.#connection, webhookId, delivery);
    return await this.#connection.transaction(async (tx) => {
      const webhook = await this.#lockWebhook(tx, webhookId);
      if (webhook?.status !== "active") return false;
      await raiseWaiting(tx, webhookId, 1n);
      await ask(tx, webhookId);
      await tx.insertInto("webhook_deliveries").values(row).execute();
      return true;
    });
  }

  async retry(webhookId: string, deliveryId: string): Promise<QueuedDelivery | null> {
    if (!isIdentifier(webhookId) || !isIdentifier(deliveryId)) return null;
    const due = BigInt(this.#connection.clock.now());
    return await this.#connection.transaction(async (tx) => {
      // The queue first, in the order in which workers lock.
      await raiseWaiting(tx, webhookId, 0n);
      const row = await ofQueue(tx, webhookId).where("delivery_id", "=", deliveryId).executeTakeFirst();
      if (row === undefined) return null;
      const set = { status: "pending", due_at: row.due_at === 0n ? 0n : due };
      if (row.status === "exhausted") await raiseWaiting(tx, webhookId, 1n);
      await ask(tx, webhookId);
      await tx.updateTable("webhook_deliveries").set(set).where("delivery_id", "=", deliveryId).execute();
      return toListed({ ...row, ...set });
    });
  }

  async revive(delivery: RevivedDelivery): Promise<boolean> {
    const { webhookId } = delivery;
    const row: WebhookDeliveryRow = {
      delivery_id: checkIdentifier("deliveryId", delivery.deliveryId),
      webhook_id: checkIdentifier("webhookId", webhookId),
      event_id: checkIdentifier("eventId", delivery.eventId),
      event: checkIdentifier("event", delivery.event),
      slot: delivery.slot,
      blockhash: delivery.blockhash,
      ordinal: checkWhole("ordinal", delivery.ordinal),
      tx_index: checkWholeOrNull("txIndex", delivery.txIndex),
      account: delivery.account,
      status: "pending",
      attempts: checkWhole("attempts", delivery.attempts),
      created_at: checkWhole("createdAt", delivery.createdAt),
      due_at: BigInt(this.#connection.clock.now()),
      last_attempt_at: null,
      last_status_code: null,
      last_error: null,
      detail: delivery.detail,
      undecided: null,
    };
    return await this.#connection.transaction(async (tx) => {
      if ((await this.#lockWebhook(tx, webhookId)) === undefined) return false;
      const inserted = await tx
        .insertInto("webhook_deliveries")
        .values(row)
        .onConflict((conflict) => conflict.column("delivery_id").doNothing())
        .executeTakeFirst();
      if (inserted.numInsertedOrUpdatedRows !== 1n) return false;
      await raiseWaiting(tx, webhookId, 1n);
      await ask(tx, webhookId);
      return true;
    });
  }

  async recover(webhookId: string, since: number, limit: number): Promise<number> {
    checkCount("limit", limit, pageMax);
    const [from, due] = [checkWhole("since", since), BigInt(this.#connection.clock.now())];
    return await this.#connection.transaction(async (tx) => {
      await ask(tx, webhookId);
      const found = tx
        .selectFrom("webhook_deliveries")
        .select("delivery_id")
        .where("webhook_id", "=", webhookId)
        .where("due_at", "is", null)
        .where(givenUpAt, ">=", from)
        .orderBy("slot")
        .orderBy("ordinal")
        .limit(limit);
      const { numUpdatedRows } = await tx
        .updateTable("webhook_deliveries")
        .set({ status: "pending", due_at: due })
        .where("delivery_id", "in", found)
        .executeTakeFirst();
      await raiseWaiting(tx, webhookId, numUpdatedRows);
      return Number(numUpdatedRows);
    });
  }

  async pending(webhookId: string, after: QueuePlace | null, limit: number): Promise<readonly QueuedDelivery[]> {
    checkCount("limit", limit, pageMax);
    const rows = await this.#connection.run((db) => {
      let query = ofQueue(db, webhookId).where("due_at", "is not", null);
      if (after !== null) {
        const { dueAt, slot, ordinal, deliveryId } = after;
        const place = sql`(${BigInt(dueAt ?? 0)}, ${slot}, ${BigInt(ordinal)}, ${deliveryId})`;
        query = query.where(sql<boolean>`(due_at, slot, ordinal, delivery_id) > ${place}`);
      }
      const ordered = query.orderBy("due_at").orderBy("slot").orderBy("ordinal").orderBy("delivery_id");
      return ordered.limit(limit).execute();
    });
    return rows.map(toListed);
  }

  async get(deliveryIds: readonly string[]): Promise<readonly QueuedDelivery[]> {
    checkCount("deliveryIds", deliveryIds.length, readMax);
    const ids = deliveryIds.filter(isIdentifier);
    if (ids.length === 0) return [];
    const rows = await this.#connection.run((db) => listed(db).where("delivery_id", "in", ids).execute());
    return rows.map(toListed);
  }

  async detail(deliveryId: string): Promise<string | null> {
    const row = await this.#connection.run((db) =>
      db.selectFrom("webhook_deliveries").select("detail").where("delivery_id", "=", deliveryId).executeTakeFirst(),
    );
    return row?.detail ?? null;
  }

  async dropExhausted(before: number, limit: number): Promise<number> {
    checkCount("limit", limit, pageMax);
    const result = await this.#connection.write((db) =>
      db
        .deleteFrom("webhook_deliveries")
        .where("delivery_id", "in", (query) =>
          query
            .selectFrom("webhook_deliveries")
            .select("delivery_id")
            .where("due_at", "is", null)
            .where("last_attempt_at", "<", checkWhole("before", before))
            .limit(limit),
        )
        .executeTakeFirst(),
    );
    return Number(result.numDeletedRows);
  }

  async #lockWebhook(tx: Tx, webhookId: string) {
    const query = tx
      .selectFrom("webhooks")
      .select(["status", "network", "failing_since", "recoverable_told_at"])
      .where("id", "=", webhookId);
    return await (this.isShared ? query.forUpdate() : query).executeTakeFirst();
  }
}

const listedColumns = [
  "delivery_id",
  "webhook_id",
  "event_id",
  "event",
  "slot",
  "blockhash",
  "ordinal",
  "tx_index",
  "account",
  "status",
  "attempts",
  "created_at",
  "due_at",
  "last_attempt_at",
  "last_status_code",
  "last_error",
  "undecided",
] as const;
const shortDetail = sql<string | null>`case when length(detail) <= ${sql.lit(shortDetailMax)} then detail end`;
const isLong = sql<bigint>`cast(case when length(detail) > ${sql.lit(shortDetailMax)} then 1 else 0 end as bigint)`;

/** When a delivery that is exhausted was given up: with its last attempt, if there was one. */
const givenUpAt = sql<bigint>`coalesce(last_attempt_at, created_at)`;

const listed = (db: Rows) =>
  db.selectFrom("webhook_deliveries").select([...listedColumns, shortDetail.as("detail"), isLong.as("is_long")]);

const ofQueue = (db: Rows, webhookId: string) => listed(db).where("webhook_id", "=", webhookId);

/** Locks the row of the queue too; its worker sees that something was made due. */
const ask = (tx: Tx, webhookId: string) =>
  tx
    .updateTable("webhook_queues")
    .set(({ fn, eb, val }) => ({ asked: eb(fn.coalesce("asked", val(0n)), "+", 1n) }))
    .where("webhook_id", "=", webhookId)
    .execute();

const without = (query: ReturnType<typeof ofQueue>, events: readonly string[]): typeof query =>
  events.length === 0 ? query : query.where("event", "not in", events);
