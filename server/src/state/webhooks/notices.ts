import type { StoreConnection } from "../connection.ts";
import { numberOf, parse } from "../rows.ts";
import type { Db, Tx } from "../tables.ts";
import { checkIdentifier, checkJson } from "../values.ts";
import { type WebhookNotice, webhookNoticesMax } from "../webhook-records.ts";
import type { WebhookNoticeRow } from "../webhook-tables.ts";

const detailLengthMax = 4_096;

/** What the owner of a webhook is told of it, written in the transaction of what it is about. */
export async function addWebhookNotice(
  tx: Tx,
  { clock, newId }: Pick<StoreConnection, "clock" | "newId">,
  { webhookId, code, detail }: Pick<WebhookNotice, "webhookId" | "code" | "detail">,
): Promise<void> {
  const row: WebhookNoticeRow = {
    id: newId("notice"),
    webhook_id: webhookId,
    at: BigInt(clock.now()),
    code: checkIdentifier("code", code),
    detail: checkJson("detail", detail, detailLengthMax),
  };
  await tx.insertInto("webhook_notices").values(row).execute();
  const old = await newest(tx, webhookId).offset(webhookNoticesMax).execute();
  if (old.length === 0) return;
  const ids = old.map(({ id }) => id);
  await tx.deleteFrom("webhook_notices").where("id", "in", ids).execute();
}

/** Newest first. */
export async function readWebhookNotices(db: Db, webhookId: string): Promise<readonly WebhookNotice[]> {
  return (await newest(db, webhookId).execute()).map(toNotice);
}

const newest = (db: Db | Tx, webhookId: string) =>
  db
    .selectFrom("webhook_notices")
    .selectAll()
    .where("webhook_id", "=", webhookId)
    .orderBy("at", "desc")
    .orderBy("id", "desc")
    .limit(webhookNoticesMax);

function toNotice({ id, webhook_id, at, code, detail }: WebhookNoticeRow): WebhookNotice {
  return {
    id,
    webhookId: webhook_id,
    at: numberOf(at),
    code,
    detail: objectOf(parse("webhook_notices.detail", detail)),
  };
}

const objectOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null ? { ...value } : {};
