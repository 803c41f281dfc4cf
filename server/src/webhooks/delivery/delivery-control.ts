import { SluiceError } from "@sluice/contract/errors";
import type { Random } from "@sluice/lib";
import type { FinishedDelivery, Ledger, WebhookAttemptRecord } from "../../ledger/index.ts";
import type {
  QueuedDelivery,
  QueuePlace,
  WebhookDeliveryStore,
  WebhookRecord,
  WebhookStore,
} from "../../state/index.ts";
import type {
  AcceptedDelivery,
  AttemptReport,
  DeliveryControl,
  DeliveryQuestion,
  DeliveryReport,
  TestDelivery,
} from "../model/delivery-control.ts";

export interface DeliveryControlDependencies {
  readonly random: Random;
  readonly store: WebhookDeliveryStore;
  readonly webhooks: Pick<WebhookStore, "queues">;
  readonly ledger: Pick<Ledger, "webhookAttempts">;
  /** Something was added to a queue, or made due. */
  readonly added: (webhookId: string) => void;
}

const recoveredAtOnce = 10_000;

type Finished = { readonly atMs: number; readonly deliveryId: string };

/** Where a page of a list begins: in what waits, or in what has ended. */
type Place =
  | { readonly kind: "pending"; readonly after: QueuePlace | null }
  | { readonly kind: "finished"; readonly after: Finished | null };

/** What waits is in the state store; what has ended is told by the ledger, as it was when its last attempt ended. */
export class WebhookDeliveryControl implements DeliveryControl {
  readonly #dependencies: DeliveryControlDependencies;

  constructor(dependencies: DeliveryControlDependencies) {
    this.#dependencies = dependencies;
  }

  async test(webhook: WebhookRecord, { event, data }: TestDelivery): Promise<AcceptedDelivery> {
    const { random, store, added } = this.#dependencies;
    const accepted = { deliveryId: store.newDeliveryId(), eventId: Buffer.from(random.bytes(32)).toString("hex") };
    if (!(await store.addSingle(webhook.id, { ...accepted, event, data }))) {
      throw new SluiceError("CONFLICT", {
        message: "A webhook that is not active gets no deliveries: resume it first",
      });
    }
    added(webhook.id);
    return accepted;
  }

  async retry(webhook: WebhookRecord, deliveryId: string): Promise<AcceptedDelivery | null> {
    const { store, added } = this.#dependencies;
    const queued = await store.retry(webhook.id, deliveryId);
    const eventId = queued?.eventId ?? (await this.#revive(webhook.id, deliveryId));
    if (eventId === null) return null;
    added(webhook.id);
    return { deliveryId, eventId };
  }

  /** Makes a delivery that has ended anew: from its place on the chain, or of what the ledger has kept of a test. */
  async #revive(webhookId: string, deliveryId: string): Promise<string | null> {
    const last = (await this.#attempts(webhookId, deliveryId)).at(-1);
    if (last === undefined || (last.blockhash === "" && last.detail === null)) return null;
    const { eventId, event, slot, blockhash, ordinal, txIndex, account, detail } = last;
    const { createdAt, attempt: attempts } = last;
    const place = { event, slot, blockhash, ordinal, txIndex, account, detail };
    const { store } = this.#dependencies;
    await store.revive({ deliveryId, webhookId, eventId, ...place, attempts, createdAt });
    return eventId;
  }

  async webhookOf(deliveryId: string): Promise<string | null> {
    const { store, ledger } = this.#dependencies;
    const [queued] = await store.get([deliveryId]);
    if (queued !== undefined) return queued.webhookId;
    return (await ledger.webhookAttempts.attempts(deliveryId)).at(-1)?.webhookId ?? null;
  }

  async recover({ id }: WebhookRecord, since: number): Promise<number> {
    const { store, added } = this.#dependencies;
    let recovered = 0;
    for (;;) {
      const count = await store.recover(id, since, recoveredAtOnce);
      recovered += count;
      if (count > 0) added(id);
      if (count < recoveredAtOnce) return recovered;
    }
  }

  async list(webhook: WebhookRecord, question: DeliveryQuestion) {
    const { limit, cursor, pending, status } = question;
    const from = cursor === null ? firstPlace(pending) : readPlace(cursor);
    const deliveries: DeliveryReport[] = [];
    let place: Place = from;
    if (place.kind === "pending") {
      const waiting = await this.#pending(webhook.id, place.after, limit + 1);
      deliveries.push(...waiting.map(({ report }) => report).slice(0, limit));
      const last = waiting[limit - 1];
      if (waiting.length > limit && last !== undefined) {
        return { deliveries, nextCursor: writePlace({ kind: "pending", after: last.row }) };
      }
      place = { kind: "finished", after: null };
    }
    const room = limit - deliveries.length;
    const outcome = status === null ? null : status === "success" ? "delivered" : "exhausted";
    const page = { webhookId: webhook.id, outcome, after: place.after, limit: room + 1 } as const;
    const found = await this.#dependencies.ledger.webhookAttempts.finished(page);
    deliveries.push(...(await this.#ended(found.slice(0, room))));
    if (found.length <= room) return { deliveries, nextCursor: null };
    const last = found[room - 1];
    const after = last === undefined ? place.after : { atMs: last.at, deliveryId: last.deliveryId };
    return { deliveries, nextCursor: writePlace({ kind: "finished", after }) };
  }

  async report({ id }: WebhookRecord, deliveryId: string) {
    // The row first: it leaves the store with the commit of what the attempts are read of.
    const [row] = (await this.#dependencies.store.get([deliveryId])).filter(({ webhookId }) => webhookId === id);
    const records = await this.#attempts(id, deliveryId);
    const last = records.at(-1);
    const attempts = records.map(attemptOf);
    if (row !== undefined) return { delivery: queuedReport(row, await this.#isParked(id)), attempts };
    return last === undefined ? null : { delivery: endedReport(last), attempts };
  }

  async #attempts(webhookId: string, deliveryId: string): Promise<readonly WebhookAttemptRecord[]> {
    const found = await this.#dependencies.ledger.webhookAttempts.attempts(deliveryId);
    return found.filter((record) => record.webhookId === webhookId);
  }

  async #pending(webhookId: string, after: QueuePlace | null, limit: number) {
    const rows = await this.#dependencies.store.pending(webhookId, after, limit);
    const isParked = rows.length > 0 && (await this.#isParked(webhookId));
    return rows.map((row) => ({ row, report: queuedReport(row, isParked) }));
  }

  /** Those that have ended and were not made due again since. */
  async #ended(found: readonly FinishedDelivery[]): Promise<readonly DeliveryReport[]> {
    const rows = await this.#dependencies.store.get(found.map(({ deliveryId }) => deliveryId));
    const waiting = new Set(rows.filter(({ dueAt }) => dueAt !== null).map(({ deliveryId }) => deliveryId));
    return found.filter(({ deliveryId }) => !waiting.has(deliveryId)).map(endedReport);
  }

  async #isParked(webhookId: string): Promise<boolean> {
    const [queue] = await this.#dependencies.webhooks.queues([webhookId]);
    return queue !== undefined && queue.parkedAt !== null;
  }
}

const queuedReport = (row: QueuedDelivery, isParked: boolean): DeliveryReport => ({
  id: row.deliveryId,
  webhookId: row.webhookId,
  eventId: row.eventId,
  event: row.event,
  status: row.dueAt === null ? "failed" : isParked ? "parked" : "pending",
  statusCode: row.lastStatusCode,
  attempts: row.attempts,
  createdAt: row.createdAt,
  lastAttemptAt: row.lastAttemptAt,
  error: row.lastError,
  nextAttemptAt: row.dueAt === 0 ? null : row.dueAt,
});

const endedReport = (record: FinishedDelivery): DeliveryReport => ({
  id: record.deliveryId,
  webhookId: record.webhookId,
  eventId: record.eventId,
  event: record.event,
  status: record.outcome === "delivered" ? "success" : "failed",
  statusCode: record.statusCode,
  attempts: record.attempt,
  createdAt: record.createdAt,
  lastAttemptAt: record.at,
  error: record.error === "" ? null : record.error,
  nextAttemptAt: null,
});

function attemptOf(record: WebhookAttemptRecord): AttemptReport {
  const { attempt, at, statusCode, latencyMs, answer } = record;
  const error = record.error === "" ? null : record.error;
  return { attempt, at, statusCode, error, latencyMs, requestHeaders: headersOf(record.requestHeaders), answer };
}

function headersOf(text: string): Readonly<Record<string, string>> {
  const parsed: unknown = JSON.parse(text === "" ? "{}" : text);
  const entries = typeof parsed === "object" && parsed !== null ? Object.entries(parsed) : [];
  return Object.fromEntries(entries.map(([name, value]) => [name, String(value)]));
}

const firstPlace = (pending: boolean): Place => ({ kind: pending ? "pending" : "finished", after: null });

function writePlace(place: Place): string {
  const { after } = place;
  const parts =
    after === null
      ? []
      : "atMs" in after
        ? [after.atMs, after.deliveryId]
        : [after.dueAt ?? 0, String(after.slot), after.ordinal, after.deliveryId];
  return Buffer.from(JSON.stringify([place.kind, ...parts])).toString("base64url");
}

/** @throws {SluiceError} INVALID_INPUT for text that no list has given. */
function readPlace(cursor: string): Place {
  const invalid = new SluiceError("INVALID_INPUT", {
    details: { errors: [{ path: "cursor", message: "must be the next_cursor of the page before" }] },
  });
  let parts: unknown;
  try {
    parts = JSON.parse(Buffer.from(cursor, "base64url").toString());
  } catch {
    throw invalid;
  }
  if (!Array.isArray(parts)) throw invalid;
  const [kind, first, second, third, fourth]: unknown[] = parts;
  if (kind === "finished" && parts.length === 1) return { kind, after: null };
  if (kind === "finished" && isWhole(first) && typeof second === "string") {
    return { kind, after: { atMs: first, deliveryId: second } };
  }
  const isSlot = typeof second === "string" && /^\d{1,19}$/.test(second);
  if (kind !== "pending" || !isWhole(first) || !isSlot || !isWhole(third) || typeof fourth !== "string") throw invalid;
  return { kind, after: { dueAt: first, slot: BigInt(second), ordinal: third, deliveryId: fourth } };
}

const isWhole = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;
