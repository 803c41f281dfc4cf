import type { Network } from "@sluice/contract/tiers";
import type { StoreConnection } from "../connection.ts";
import { numberOf, numberOrNull } from "../rows.ts";
import { checkCount, checkIdentifier, checkWhole, checkWholeOrNull } from "../values.ts";
import type {
  FreeWebhookQueue,
  HeldWebhookQueue,
  OverdueQueue,
  TakenWebhookQueue,
  WebhookDeliveryStore,
  WebhookQueueCounts,
} from "../webhook-delivery-records.ts";
import type { WebhookWorkerRow } from "../webhook-tables.ts";
import { toWebhook } from "./rows.ts";

const batchMax = 500;
const workersMax = 10_000;

/** Who holds which queue. */
export class WebhookQueues
  implements
    Pick<
      WebhookDeliveryStore,
      | "isShared"
      | "beat"
      | "workers"
      | "forget"
      | "free"
      | "take"
      | "find"
      | "release"
      | "held"
      | "heldQueues"
      | "overdue"
      | "park"
    >
{
  readonly #connection: StoreConnection;

  constructor(connection: StoreConnection) {
    this.#connection = connection;
  }

  get isShared(): boolean {
    return this.#connection.driver === "postgres";
  }

  async beat(worker: string): Promise<void> {
    const row = { worker: checkIdentifier("worker", worker), beats: 1n };
    await this.#connection.run((db) =>
      db
        .insertInto("webhook_workers")
        .values(row)
        .onConflict((conflict) =>
          conflict.column("worker").doUpdateSet(({ eb }) => ({ beats: eb("webhook_workers.beats", "+", 1n) })),
        )
        .execute(),
    );
  }

  async workers(): Promise<readonly WebhookWorkerRow[]> {
    return await this.#connection.run((db) =>
      db.selectFrom("webhook_workers").selectAll().orderBy("worker").limit(workersMax).execute(),
    );
  }

  async forget(worker: string): Promise<number> {
    const id = checkIdentifier("worker", worker);
    return await this.#connection.transaction(async (tx) => {
      await tx.deleteFrom("webhook_workers").where("worker", "=", id).execute();
      const held = tx.selectFrom("webhook_queues").select("webhook_id").where("holder", "=", id).orderBy("webhook_id");
      const rows = await (this.isShared ? held.forUpdate() : held).execute();
      if (rows.length === 0) return 0;
      await tx.updateTable("webhook_queues").set({ holder: "" }).where("holder", "=", id).execute();
      return rows.length;
    });
  }

  async free(networks: readonly Network[], limit: number): Promise<readonly FreeWebhookQueue[]> {
    if (networks.length === 0) return [];
    const rows = await this.#connection.run((db) =>
      db
        .selectFrom("webhook_queues")
        .innerJoin("webhooks", "webhooks.id", "webhook_queues.webhook_id")
        .select(["webhook_id", "epoch", "holder"])
        .where("holder", "=", "")
        .where("waiting", ">", 0n)
        .where("webhooks.status", "=", "active")
        .where("webhooks.network", "in", networks)
        .limit(limit)
        .execute(),
    );
    return rows.map(toFree);
  }

  async take(worker: string, queues: readonly HeldWebhookQueue[]): Promise<readonly TakenWebhookQueue[]> {
    checkCount("queues", queues.length, batchMax);
    if (queues.length === 0) return [];
    const holder = checkIdentifier("worker", worker);
    const seen = new Map(queues.map(({ webhookId, epoch }) => [webhookId, epoch]));
    return await this.#connection.transaction(async (tx) => {
      const query = tx
        .selectFrom("webhook_queues")
        .selectAll()
        .where("webhook_id", "in", [...seen.keys()])
        .orderBy("webhook_id");
      const found = await (this.isShared ? query.forUpdate() : query).execute();
      const rows = found.filter((row) => seen.get(row.webhook_id) === row.epoch);
      if (rows.length === 0) return [];
      const ids = rows.map((row) => row.webhook_id);
      await tx
        .updateTable("webhook_queues")
        .set(({ eb }) => ({ holder, epoch: eb("epoch", "+", 1n) }))
        .where("webhook_id", "in", ids)
        .execute();
      const webhooks = await tx.selectFrom("webhooks").selectAll().where("id", "in", ids).execute();
      const byId = new Map(webhooks.map((row) => [row.id, toWebhook(row)]));
      return rows.map((row) => ({
        webhookId: row.webhook_id,
        epoch: row.epoch + 1n,
        waiting: numberOf(row.waiting),
        asked: numberOf(row.asked ?? 0n),
        parkedAt: numberOrNull(row.parked_at),
        webhook: byId.get(row.webhook_id) ?? null,
      }));
    });
  }

  async find(webhookIds: readonly string[]): Promise<readonly FreeWebhookQueue[]> {
    checkCount("webhookIds", webhookIds.length, batchMax);
    if (webhookIds.length === 0) return [];
    const rows = await this.#connection.run((db) =>
      db
        .selectFrom("webhook_queues")
        .select(["webhook_id", "epoch", "holder"])
        .where("webhook_id", "in", webhookIds)
        .execute(),
    );
    return rows.map(toFree);
  }

  async release(queues: readonly HeldWebhookQueue[]): Promise<void> {
    checkCount("queues", queues.length, batchMax);
    if (queues.length === 0) return;
    await this.#connection.transaction(async (tx) => {
      for (const { webhookId, epoch } of queues.toSorted((one, other) => (one.webhookId < other.webhookId ? -1 : 1))) {
        await tx
          .updateTable("webhook_queues")
          .set({ holder: "" })
          .where("webhook_id", "=", webhookId)
          .where("epoch", "=", epoch)
          .execute();
      }
    });
  }

  async held(worker: string): Promise<ReadonlyMap<string, WebhookQueueCounts>> {
    const rows = await this.#connection.run((db) =>
      db
        .selectFrom("webhook_queues")
        .select(["webhook_id", "epoch", "waiting", "asked"])
        .where("holder", "=", worker)
        .execute(),
    );
    return new Map(
      rows.map(({ webhook_id, epoch, waiting, asked }) => [
        webhook_id,
        { epoch, waiting: numberOf(waiting), asked: numberOf(asked ?? 0n) },
      ]),
    );
  }

  async overdue(before: number, limit: number): Promise<readonly OverdueQueue[]> {
    checkCount("limit", limit, batchMax);
    const by = checkWhole("before", before);
    const rows = await this.#connection.run((db) =>
      db
        .selectFrom("webhook_queues as q")
        .innerJoin("webhooks as w", "w.id", "q.webhook_id")
        .innerJoin("webhook_deliveries as d", "d.webhook_id", "q.webhook_id")
        .select(({ fn }) => ["q.webhook_id", "q.epoch", fn.countAll<bigint>().as("deliveries")])
        .where("q.parked_at", "<=", by)
        .where("d.due_at", "is not", null)
        .where("d.created_at", "<=", by)
        .groupBy(["q.webhook_id", "q.epoch"])
        .orderBy("q.webhook_id")
        .limit(limit)
        .execute(),
    );
    return rows.map((row) => ({ webhookId: row.webhook_id, epoch: row.epoch, deliveries: Number(row.deliveries) }));
  }

  async heldQueues(): Promise<number> {
    const row = await this.#connection.run((db) =>
      db
        .selectFrom("webhook_queues")
        .select(({ fn }) => fn.countAll<bigint>().as("count"))
        .where("holder", "!=", "")
        .executeTakeFirst(),
    );
    return Number(row?.count ?? 0n);
  }

  async park({ webhookId, epoch }: HeldWebhookQueue, parkedAt: number | null): Promise<boolean> {
    const set = { parked_at: checkWholeOrNull("parkedAt", parkedAt) };
    const result = await this.#connection.write((db) =>
      db
        .updateTable("webhook_queues")
        .set(set)
        .where("webhook_id", "=", webhookId)
        .where("epoch", "=", epoch)
        .executeTakeFirst(),
    );
    return result.numUpdatedRows > 0n;
  }
}

const toFree = (row: { webhook_id: string; epoch: bigint; holder: string }): FreeWebhookQueue => ({
  webhookId: row.webhook_id,
  epoch: row.epoch,
  holder: row.holder,
});
