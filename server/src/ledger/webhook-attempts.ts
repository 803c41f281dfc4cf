import { limits } from "@sluice/contract/limits";
import type { LedgerConnection } from "./connection.ts";

/** One attempt, as it was written. */
export interface WebhookAttemptRecord {
  /** Unix milliseconds when it began. */
  readonly at: number;
  readonly accountId: string;
  readonly webhookId: string;
  readonly deliveryId: string;
  readonly eventId: string;
  readonly event: string;
  readonly network: string;
  /** Unix milliseconds when the delivery was made. */
  readonly createdAt: number;
  readonly attempt: number;
  readonly outcome: "delivered" | "failed" | "exhausted";
  readonly statusCode: number | null;
  readonly error: string;
  readonly latencyMs: number;
  /** JSON text of an object. */
  readonly requestHeaders: string;
  readonly answer: string;
  readonly slot: bigint;
  readonly blockhash: string;
  readonly ordinal: number;
  readonly txIndex: number | null;
  readonly account: string | null;
  /** What cannot be made again from the chain, of a delivery that succeeded; null where all can. */
  readonly detail: string | null;
}

/** How a delivery has ended, without what is long of it. */
export type FinishedDelivery = Omit<WebhookAttemptRecord, "requestHeaders" | "answer" | "detail">;

/** A place in a list of finished deliveries. */
export interface FinishedPlace {
  readonly atMs: number;
  readonly deliveryId: string;
}

/** A page of the deliveries of a webhook that have ended. */
export interface FinishedDeliveries {
  readonly webhookId: string;
  /** The last end of each; null is both. */
  readonly outcome: "delivered" | "exhausted" | null;
  readonly after: FinishedPlace | null;
  /** At most `finishedMax`. */
  readonly limit: number;
}

/** One more than the API shows at once, since that one tells whether a page is the last. */
export const finishedMax: number = limits.pageMax + 1;

/** What the ledger knows of deliveries. All reject with LedgerUnavailableError while it cannot be asked. */
export interface WebhookAttemptReads {
  /**
   * The last end of each delivery that has one, newest first; fewer than asked for only where there are no more.
   * @throws {RangeError} for a limit that is too large
   */
  finished(page: FinishedDeliveries): Promise<readonly FinishedDelivery[]>;
  /** Attempts of a delivery of any account, in their order; the last 100 where there are more. */
  attempts(deliveryId: string): Promise<readonly WebhookAttemptRecord[]>;
}

const attemptsMax = 100;

const textColumns = [
  "account_id",
  "webhook_id",
  "delivery_id",
  "event_id",
  "event",
  "network",
  "error",
  "blockhash",
  "account",
] as const;
const numberColumns = ["attempt", "latency_ms", "ordinal"] as const;
const longColumns = ["request_headers", "answer", "detail"] as const;

type FinishedRow = Readonly<Record<(typeof textColumns)[number] | "at_ms" | "created_ms" | "slot", string>> &
  Readonly<Record<(typeof numberColumns)[number], number>> & {
    readonly outcome: WebhookAttemptRecord["outcome"];
    readonly status_code: number | null;
    readonly tx_index: number | null;
  };
type AttemptRow = FinishedRow & Readonly<Record<(typeof longColumns)[number], string>>;

const shortColumns = [
  ...textColumns,
  ...numberColumns,
  "outcome",
  "status_code",
  "tx_index",
  "slot",
  "toUnixTimestamp64Milli(at) AS at_ms",
  "toUnixTimestamp64Milli(created_at) AS created_ms",
].join(", ");
const place = "(at, delivery_id)";

export class WebhookAttempts implements WebhookAttemptReads {
  readonly #connection: Pick<LedgerConnection, "query">;

  constructor(connection: Pick<LedgerConnection, "query">) {
    this.#connection = connection;
  }

  async finished({ webhookId, outcome, after, limit }: FinishedDeliveries): Promise<readonly FinishedDelivery[]> {
    // A page that is cut in silence would look like the last one.
    if (limit > finishedMax) throw new RangeError(`a page has at most ${finishedMax} deliveries`);
    // Of a delivery that was made anew the last end counts, so what is asked of it is asked after the others are left
    // out. Nothing is read meanwhile but what that takes.
    const ends =
      "SELECT at, delivery_id, attempt, outcome FROM webhook_attempts FINAL " +
      "WHERE webhook_id = {webhook:String} AND outcome != 'failed' " +
      "ORDER BY at DESC, delivery_id DESC, attempt DESC LIMIT 1 BY delivery_id";
    const conditions = [
      ...(outcome === null ? [] : ["outcome = {outcome:String}"]),
      ...(after === null ? [] : [`${place} < (fromUnixTimestamp64Milli({at:Int64}, 'UTC'), {delivery:String})`]),
    ];
    const where = conditions.length === 0 ? "" : ` WHERE ${conditions.join(" AND ")}`;
    const page =
      `SELECT at, delivery_id, attempt FROM (${ends})${where} ` +
      "ORDER BY at DESC, delivery_id DESC LIMIT {limit:UInt32}";
    const rows = await this.#connection.query<FinishedRow>(
      `SELECT ${shortColumns} FROM webhook_attempts FINAL WHERE webhook_id = {webhook:String} ` +
        `AND (at, delivery_id, attempt) GLOBAL IN (${page}) ORDER BY at DESC, delivery_id DESC`,
      {
        webhook: webhookId,
        limit,
        ...(outcome === null ? {} : { outcome }),
        ...(after === null ? {} : { at: after.atMs, delivery: after.deliveryId }),
      },
    );
    return rows.map(toFinished);
  }

  async attempts(deliveryId: string): Promise<readonly WebhookAttemptRecord[]> {
    const rows = await this.#connection.query<AttemptRow>(
      `SELECT ${shortColumns}, ${longColumns.join(", ")} FROM webhook_attempts FINAL ` +
        `WHERE delivery_id = {delivery:String} ORDER BY at DESC, attempt DESC LIMIT ${attemptsMax}`,
      { delivery: deliveryId },
    );
    return rows.map(toRecord).reverse();
  }
}

const toFinished = (row: FinishedRow): FinishedDelivery => ({
  at: Number(row.at_ms),
  accountId: row.account_id,
  webhookId: row.webhook_id,
  deliveryId: row.delivery_id,
  eventId: row.event_id,
  event: row.event,
  network: row.network,
  createdAt: Number(row.created_ms),
  attempt: row.attempt,
  outcome: row.outcome,
  statusCode: row.status_code,
  error: row.error,
  latencyMs: row.latency_ms,
  slot: BigInt(row.slot),
  blockhash: row.blockhash,
  ordinal: row.ordinal,
  txIndex: row.tx_index,
  account: row.account === "" ? null : row.account,
});

const toRecord = (row: AttemptRow): WebhookAttemptRecord => ({
  ...toFinished(row),
  requestHeaders: row.request_headers,
  answer: row.answer,
  detail: row.detail === "" ? null : row.detail,
});
