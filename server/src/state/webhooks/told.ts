import type { StoreConnection } from "../connection.ts";
import type { Tx } from "../tables.ts";
import { checkIdentifier, checkText } from "../values.ts";
import { deliveryIdOfHex, type SingleDelivery, type WebhookTold } from "../webhook-delivery-records.ts";
import type { WebhookDeliveryRow } from "../webhook-tables.ts";
import { addWebhookNotice } from "./notices.ts";

const listenersMax = 100;
const dataLengthMax = 1024 * 1024;

/** In the one form of delivery ids, by chance. */
export const newDeliveryId = ({ random }: Pick<StoreConnection, "random">): string =>
  deliveryIdOfHex(Buffer.from(random.bytes(16)).toString("hex"));

/** A notice, and a delivery of its event for each webhook that listens, in the transaction of what it is about. */
export async function tellOwner(
  tx: Tx,
  connection: StoreConnection,
  { webhookId, code, detail, event }: WebhookTold,
): Promise<void> {
  await addWebhookNotice(tx, connection, { webhookId, code, detail });
  for (const id of await listenersOf(tx, webhookId, event.event)) {
    await raiseWaiting(tx, id, 1n);
    const row = singleRow(connection, id, { ...event, deliveryId: newDeliveryId(connection) });
    await tx.insertInto("webhook_deliveries").values(row).execute();
  }
}

/** Webhooks of the account that are active and name an event, but for the one that it is about; in order. */
export async function listenersOf(tx: Tx, webhookId: string, event: string): Promise<readonly string[]> {
  const account = await tx.selectFrom("webhooks").select("account_id").where("id", "=", webhookId).executeTakeFirst();
  if (account === undefined) return [];
  const rows = await tx
    .selectFrom("webhooks")
    .select("id")
    .where("account_id", "=", account.account_id)
    .where("status", "=", "active")
    .where("id", "!=", webhookId)
    .where("events", "like", `%"${event}"%`)
    .orderBy("id")
    .limit(listenersMax)
    .execute();
  return rows.map(({ id }) => id);
}

/** The row of a delivery that is of no block, before its first attempt. */
export function singleRow(
  { clock }: Pick<StoreConnection, "clock">,
  webhookId: string,
  { deliveryId, eventId, event, data }: SingleDelivery,
): WebhookDeliveryRow {
  return {
    delivery_id: checkIdentifier("deliveryId", deliveryId),
    webhook_id: webhookId,
    event_id: checkIdentifier("eventId", eventId),
    event: checkIdentifier("event", event),
    // Before everything that is of a block.
    slot: 0n,
    blockhash: "",
    ordinal: 0n,
    tx_index: null,
    account: null,
    status: "pending",
    attempts: 0n,
    created_at: BigInt(clock.now()),
    due_at: 0n,
    last_attempt_at: null,
    last_status_code: null,
    last_error: null,
    detail: checkText("data", data, dataLengthMax),
    undecided: null,
  };
}

/** So many more wait. Locks the row of the queue. */
export const raiseWaiting = (tx: Tx, webhookId: string, by: bigint) =>
  tx
    .updateTable("webhook_queues")
    .set(({ eb }) => ({ waiting: eb("waiting", "+", by) }))
    .where("webhook_id", "=", webhookId)
    .execute();
