/** A state store with webhooks and what waits for them, on SQLite or PostgreSQL, for tests of other rooms. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Clock, systemRandom } from "@sluice/lib";
import { applyMigrations } from "../migrate.ts";
import { migrations } from "../migrations.ts";
import { createState } from "../open.ts";
import { openPostgres } from "../postgres.ts";
import type { State } from "../records.ts";
import { openSqlite } from "../sqlite.ts";
import type { Db } from "../tables.ts";
import type { QueuedDelivery } from "../webhook-delivery-records.ts";
import type { WebhookContent, WebhookRecord } from "../webhook-records.ts";
import type { WebhookDeliveryRow } from "../webhook-tables.ts";
import { toDelivery } from "../webhooks/delivery-rows.ts";

export type AddedDelivery = Partial<
  Pick<QueuedDelivery, "eventId" | "event" | "slot" | "ordinal" | "detail" | "createdAt">
>;

export interface WebhookState extends AsyncDisposable {
  readonly state: State;
  /** Another process on the same database; null with SQLite. */
  replica(): Promise<State> | null;
  createWebhook(content?: Partial<WebhookContent> & { readonly accountId?: string }): Promise<WebhookRecord>;
  /** Rows and the count of their queue in one transaction, as a scheduler commits them. */
  add(webhookId: string, deliveries: readonly AddedDelivery[]): Promise<readonly QueuedDelivery[]>;
}

const log = { info: () => {}, warn: () => {} };

/** `databaseUrl` names an empty schema of PostgreSQL; null is SQLite in a directory of its own. */
export async function openWebhookState(databaseUrl: string | null, clock: Clock): Promise<WebhookState> {
  const directory = mkdtempSync(join(tmpdir(), "sluice-webhooks-"));
  const dependencies = { clock, random: systemRandom, log };
  const open = async () =>
    databaseUrl === null
      ? { ...(await openSqlite(directory)), driver: "sqlite" as const }
      : { ...openPostgres(databaseUrl, dependencies), driver: "postgres" as const };
  const opened = await open();
  await applyMigrations(opened, migrations, { clock });
  const state = createState(opened, dependencies);
  const replicas: State[] = [];
  return {
    state,
    replica: () => {
      if (databaseUrl === null) return null;
      return open().then((other) => {
        const replica = createState(other, dependencies);
        replicas.push(replica);
        return replica;
      });
    },
    createWebhook: (content) => createWebhook(state, content),
    add: (webhookId, deliveries) => add(opened.db, { state, clock, webhookId, deliveries }),
    [Symbol.asyncDispose]: async () => {
      for (const each of [...replicas, state]) await each[Symbol.asyncDispose]();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

async function createWebhook(
  state: State,
  { accountId, ...content }: Partial<WebhookContent> & { readonly accountId?: string } = {},
): Promise<WebhookRecord> {
  const id = state.webhooks.newId();
  const made = await state.webhooks.create(
    {
      id,
      accountId: accountId ?? (await state.accounts.create({ name: "of webhooks" })).id,
      network: "devnet",
      url: "https://hooks.example/",
      events: ["transaction.confirmed"],
      filters: "{}",
      description: "",
      retryPolicy: { maxAttempts: 18, backoffMultiplier: 2 },
      fifo: false,
      secret: new TextEncoder().encode("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"),
      ...content,
    },
    100_000,
  );
  if (made === null) throw new Error("there was room");
  return made;
}

interface Added {
  readonly state: State;
  readonly clock: Pick<Clock, "now">;
  readonly webhookId: string;
  readonly deliveries: readonly AddedDelivery[];
}

async function add(db: Db, { state, clock, webhookId, deliveries }: Added): Promise<readonly QueuedDelivery[]> {
  const rows = deliveries.map(({ eventId, event, slot, ordinal, detail, createdAt }): WebhookDeliveryRow => {
    const deliveryId = state.webhookDeliveries.newDeliveryId();
    return {
      delivery_id: deliveryId,
      webhook_id: webhookId,
      event_id: eventId ?? `event-of-${deliveryId}`,
      event: event ?? "transaction.confirmed",
      slot: slot ?? 1n,
      blockhash: "hash",
      ordinal: BigInt(ordinal ?? 0),
      tx_index: null,
      account: null,
      status: "pending",
      attempts: 0n,
      created_at: BigInt(createdAt ?? clock.now()),
      due_at: 0n,
      last_attempt_at: null,
      last_status_code: null,
      last_error: null,
      detail: detail ?? null,
    };
  });
  if (rows.length === 0) return [];
  await db.transaction().execute(async (tx) => {
    for (let at = 0; at < rows.length; at += 500) {
      await tx
        .insertInto("webhook_deliveries")
        .values(rows.slice(at, at + 500))
        .execute();
    }
    await tx
      .updateTable("webhook_queues")
      .set(({ eb }) => ({ waiting: eb("waiting", "+", BigInt(rows.length)) }))
      .where("webhook_id", "=", webhookId)
      .execute();
  });
  return rows.map(toDelivery);
}
