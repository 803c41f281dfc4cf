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

/** A place in a list of finished deliveries. */
export interface FinishedPlace {
  readonly atMs: number;
  readonly deliveryId: string;
}

/** A page of the deliveries of a webhook that have ended. */
export interface FinishedDeliveries {
  readonly webhookId: string;
  /** Null is both ends. */
  readonly outcome: "delivered" | "exhausted" | null;
  readonly after: FinishedPlace | null;
  /** At most 1,000. */
  readonly limit: number;
}

/** What the ledger knows of deliveries. All reject with LedgerUnavailableError while it cannot be asked. */
export interface WebhookAttemptReads {
  /** The last attempt of each delivery that has ended, newest first. */
  finished(page: FinishedDeliveries): Promise<readonly WebhookAttemptRecord[]>;
  /** All attempts of a delivery of any account, in their order; at most 100. */
  attempts(deliveryId: string): Promise<readonly WebhookAttemptRecord[]>;
}

const pageMax = 1_000;
const attemptsMax = 100;

type TextColumn =
  | "account_id"
  | "webhook_id"
  | "delivery_id"
  | "event_id"
  | "event"
  | "network"
  | "error"
  | "request_headers"
  | "answer"
  | "blockhash"
  | "account"
  | "detail";
type AttemptRow = Readonly<Record<TextColumn | "at_ms" | "created_ms" | "slot", string>> &
  Readonly<Record<"attempt" | "latency_ms" | "ordinal", number>> & {
    readonly outcome: WebhookAttemptRecord["outcome"];
    readonly status_code: number | null;
    readonly tx_index: number | null;
  };

const selected =
  "SELECT *, toUnixTimestamp64Milli(at) AS at_ms, toUnixTimestamp64Milli(created_at) AS created_ms " +
  "FROM webhook_attempts FINAL";

export class WebhookAttempts implements WebhookAttemptReads {
  readonly #connection: Pick<LedgerConnection, "query">;

  constructor(connection: Pick<LedgerConnection, "query">) {
    this.#connection = connection;
  }

  async finished({ webhookId, outcome, after, limit }: FinishedDeliveries): Promise<readonly WebhookAttemptRecord[]> {
    const conditions = [
      "webhook_id = {webhook:String}",
      outcome === null ? "outcome != 'failed'" : "outcome = {outcome:String}",
      ...(after === null
        ? []
        : ["(at, delivery_id) < (fromUnixTimestamp64Milli({at:Int64}, 'UTC'), {delivery:String})"]),
    ];
    const rows = await this.#connection.query<AttemptRow>(
      `${selected} WHERE ${conditions.join(" AND ")} ORDER BY at DESC, delivery_id DESC, attempt DESC ` +
        "LIMIT 1 BY delivery_id LIMIT {limit:UInt32}",
      {
        webhook: webhookId,
        limit: Math.min(limit, pageMax),
        ...(outcome === null ? {} : { outcome }),
        ...(after === null ? {} : { at: after.atMs, delivery: after.deliveryId }),
      },
    );
    return rows.map(toRecord);
  }

  async attempts(deliveryId: string): Promise<readonly WebhookAttemptRecord[]> {
    const rows = await this.#connection.query<AttemptRow>(
      `${selected} WHERE delivery_id = {delivery:String} ORDER BY at, attempt LIMIT ${attemptsMax}`,
      { delivery: deliveryId },
    );
    return rows.map(toRecord);
  }
}

const toRecord = (row: AttemptRow): WebhookAttemptRecord => ({
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
  requestHeaders: row.request_headers,
  answer: row.answer,
  slot: BigInt(row.slot),
  blockhash: row.blockhash,
  ordinal: row.ordinal,
  txIndex: row.tx_index,
  account: row.account === "" ? null : row.account,
  detail: row.detail === "" ? null : row.detail,
});
