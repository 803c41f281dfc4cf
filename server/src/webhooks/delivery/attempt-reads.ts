import {
  type FinishedDeliveries,
  type FinishedDelivery,
  finishedMax,
  type WebhookAttemptReads,
  type WebhookAttemptRecord,
} from "../../ledger/index.ts";
import type { WebhookDeliveryStore } from "../../state/index.ts";
import { headersText, type KeptRow, keptRows } from "./attempt-log.ts";

export interface KnownAttemptsDependencies {
  readonly store: Pick<WebhookDeliveryStore, "factsWith">;
  readonly ledger: WebhookAttemptReads;
}

/**
 * Characters of facts that are looked at, the newest first: some 10,000 attempts, where the ledger takes what is kept
 * each second. While it takes nothing much more is kept, and no question of an owner may read all of that.
 */
const charactersMax = 16 * 1024 * 1024;

/**
 * Attempts as the ledger has them, and those that are committed and on their way there: for a second, longer while the
 * ledger is away, and after a kill until another worker takes them. What is on its way is read first, since it leaves
 * the state store only once the ledger has it; so an attempt is found at each moment, unless it is behind more than is
 * looked at: then it is found once the ledger has it.
 */
export class KnownAttempts implements WebhookAttemptReads {
  readonly #dependencies: KnownAttemptsDependencies;

  constructor(dependencies: KnownAttemptsDependencies) {
    this.#dependencies = dependencies;
  }

  async attempts(deliveryId: string): Promise<readonly WebhookAttemptRecord[]> {
    const kept = await this.#kept("delivery_id", deliveryId);
    const found = await this.#dependencies.ledger.attempts(deliveryId);
    const known = new Set(found.map(placeOf));
    return [...found, ...kept.filter((record) => !known.has(placeOf(record)))].toSorted(inOrder);
  }

  async finished(page: FinishedDeliveries): Promise<readonly FinishedDelivery[]> {
    const { webhookId, outcome, after, limit } = page;
    const last = new Map<string, FinishedDelivery>();
    for (const record of (await this.#kept("webhook_id", webhookId)).toSorted(inOrder)) {
      if (record.outcome !== "failed") last.set(record.deliveryId, record);
    }
    // A delivery that was ended anew is where it ended last.
    const others = await this.#finishedBut(last, page);
    const kept = [...last.values()].filter(
      (record) => (outcome === null || record.outcome === outcome) && (after === null || isBehind(record, after)),
    );
    return [...kept, ...others].toSorted(newestFirst).slice(0, limit);
  }

  /** A page of the ledger's without those that are known better. */
  async #finishedBut(
    known: ReadonlyMap<string, unknown>,
    page: FinishedDeliveries,
  ): Promise<readonly FinishedDelivery[]> {
    const others: FinishedDelivery[] = [];
    const limit = Math.min(page.limit + known.size, finishedMax);
    for (let { after } = page; ; ) {
      const found = await this.#dependencies.ledger.finished({ ...page, after, limit });
      others.push(...found.filter(({ deliveryId }) => !known.has(deliveryId)));
      const end = found.at(-1);
      if (end === undefined || found.length < limit || others.length >= page.limit) return others;
      after = { atMs: end.at, deliveryId: end.deliveryId };
    }
  }

  /** Those of one webhook or one delivery. */
  async #kept(member: "delivery_id" | "webhook_id", id: string): Promise<readonly WebhookAttemptRecord[]> {
    const commits = await this.#dependencies.store.factsWith(`"${member}":${JSON.stringify(id)}`, charactersMax);
    return commits.flatMap((commit) =>
      keptRows(commit)
        .filter((row) => row[member] === id)
        .map(recordOf),
    );
  }
}

const placeOf = ({ attempt, at, deliveryId }: WebhookAttemptRecord): string => `${deliveryId} ${attempt} ${at}`;

const inOrder = (one: WebhookAttemptRecord, other: WebhookAttemptRecord): number =>
  one.at - other.at || one.attempt - other.attempt;

const isBehind = (record: FinishedDelivery, { atMs, deliveryId }: NonNullable<FinishedDeliveries["after"]>) =>
  record.at < atMs || (record.at === atMs && record.deliveryId < deliveryId);

function newestFirst(one: FinishedDelivery, other: FinishedDelivery): number {
  if (one.at !== other.at) return other.at - one.at;
  return one.deliveryId < other.deliveryId ? 1 : -1;
}

const recordOf = (row: KeptRow): WebhookAttemptRecord => ({
  at: row.at,
  accountId: row.account_id,
  webhookId: row.webhook_id,
  deliveryId: row.delivery_id,
  eventId: row.event_id,
  event: row.event,
  network: row.network,
  createdAt: row.created_at,
  attempt: row.attempt,
  outcome: row.outcome,
  statusCode: row.status_code,
  error: row.error,
  latencyMs: row.latency_ms,
  requestHeaders: headersText(row),
  answer: row.answer,
  slot: BigInt(row.slot),
  blockhash: row.blockhash,
  ordinal: row.ordinal,
  txIndex: row.tx_index,
  account: row.account === "" ? null : row.account,
  detail: row.detail === "" ? null : row.detail,
});
