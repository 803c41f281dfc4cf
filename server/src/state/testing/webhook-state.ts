/** A state store with webhooks and what waits for them, on SQLite or PostgreSQL, for tests of other rooms. */
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Clock, systemRandom } from "@sluice/lib";
import type { LeaseRecord } from "../lease-records.ts";
import { applyMigrations } from "../migrate.ts";
import { migrations } from "../migrations.ts";
import { createState } from "../open.ts";
import { openPostgres } from "../postgres.ts";
import type { State } from "../records.ts";
import { openSqlite } from "../sqlite.ts";
import type { Db, Tx } from "../tables.ts";
import type { QueuedDelivery } from "../webhook-delivery-records.ts";
import type { WebhookContent, WebhookRecord } from "../webhook-records.ts";
import type { WebhookDeliveryRow } from "../webhook-tables.ts";
import { toDelivery } from "../webhooks/delivery-rows.ts";

export type AddedDelivery = Partial<
  Pick<QueuedDelivery, "eventId" | "event" | "slot" | "ordinal" | "detail" | "createdAt">
>;

/** What a scheduler commits of one slot: an event for each webhook and place, under its lease. */
export interface ScheduledSlot {
  readonly lease: Pick<LeaseRecord, "name" | "epoch">;
  readonly webhookIds: readonly string[];
  /** Events of the slot. */
  readonly events: number;
  /** What they are, in turn. */
  readonly names: readonly string[];
}

export interface WebhookState extends AsyncDisposable {
  readonly state: State;
  /** Another process on the same database; null with SQLite. */
  replica(): Promise<State> | null;
  createWebhook(content?: Partial<WebhookContent> & { readonly accountId?: string }): Promise<WebhookRecord>;
  /** Rows and the count of their queue in one transaction, as a scheduler commits them. */
  add(webhookId: string, deliveries: readonly AddedDelivery[]): Promise<readonly QueuedDelivery[]>;
  /**
   * Commits the slot after the one of the cursor with its rows and the cursor, all or nothing; null where the lease has
   * passed on.
   */
  schedule(slot: ScheduledSlot): Promise<{ readonly slot: bigint; readonly rows: readonly QueuedDelivery[] } | null>;
}

const log = { info: () => {}, warn: () => {} };

/**
 * `databaseUrl` names a schema of PostgreSQL; null is SQLite in `kept`, or in a directory of its own that is removed
 * afterwards.
 */
export async function openWebhookState(
  databaseUrl: string | null,
  clock: Clock,
  kept: string | null = null,
): Promise<WebhookState> {
  const directory = kept ?? mkdtempSync(join(tmpdir(), "sluice-webhooks-"));
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
    schedule: (slot) => schedule(opened, { ...slot, state, clock }),
    [Symbol.asyncDispose]: async () => {
      for (const each of [...replicas, state]) await each[Symbol.asyncDispose]();
      if (kept === null) rmSync(directory, { recursive: true, force: true });
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
  const rows = rowsOf(deliveries, { state, clock, webhookId });
  if (rows.length === 0) return [];
  await db.transaction().execute((tx) => insert(tx, webhookId, rows));
  return rows.map(toDelivery);
}

function rowsOf(
  deliveries: readonly AddedDelivery[],
  { state, clock, webhookId }: Omit<Added, "deliveries">,
): WebhookDeliveryRow[] {
  return deliveries.map(({ eventId, event, slot, ordinal, detail, createdAt }) => {
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
      undecided: null,
    };
  });
}

async function insert(tx: Tx, webhookId: string, rows: readonly WebhookDeliveryRow[]): Promise<void> {
  await tx
    .updateTable("webhook_queues")
    .set(({ eb }) => ({ waiting: eb("waiting", "+", BigInt(rows.length)) }))
    .where("webhook_id", "=", webhookId)
    .execute();
  for (let at = 0; at < rows.length; at += 500) {
    await tx
      .insertInto("webhook_deliveries")
      .values(rows.slice(at, at + 500))
      .execute();
  }
}

/** The name of an event of a slot, the same whoever schedules it. */
export const eventIdOf = (slot: bigint, ordinal: number): string =>
  createHash("sha256").update(`${slot} ${ordinal}`).digest("hex");

async function schedule(
  { db, driver }: { readonly db: Db; readonly driver: "sqlite" | "postgres" },
  { lease, webhookIds, events, names, state, clock }: ScheduledSlot & Pick<Added, "state" | "clock">,
) {
  return await db.transaction().execute(async (tx) => {
    const query = tx.selectFrom("leases").select("epoch").where("name", "=", lease.name);
    const held = await (driver === "postgres" ? query.forKeyShare() : query).executeTakeFirst();
    if (held?.epoch !== lease.epoch) return null;
    const place = { network: "devnet", shard: 0n, stage: "confirmed" };
    const cursor = await tx
      .selectFrom("webhook_cursors")
      .select("cursor")
      .where("network", "=", place.network)
      .executeTakeFirst();
    const slot = BigInt(cursor?.cursor ?? 0) + 1n;
    const row = { ...place, cursor: String(slot), epoch: lease.epoch };
    await tx
      .insertInto("webhook_cursors")
      .values(row)
      .onConflict((conflict) => conflict.columns(["network", "shard", "stage"]).doUpdateSet(row))
      .execute();
    const all: QueuedDelivery[] = [];
    for (const webhookId of webhookIds.toSorted()) {
      const places = Array.from({ length: events }, (_, ordinal) => ({
        slot,
        ordinal,
        eventId: eventIdOf(slot, ordinal),
        event: names[ordinal % names.length] ?? "",
      }));
      const rows = rowsOf(places, { state, clock, webhookId });
      await insert(tx, webhookId, rows);
      all.push(...rows.map(toDelivery));
    }
    return { slot, rows: all };
  });
}
