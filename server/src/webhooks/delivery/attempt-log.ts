import { BackgroundTask, type Clock } from "@sluice/lib";
import type { Ledger } from "../../ledger/index.ts";
import type { AttemptFact } from "./attempt-fact.ts";
import type { DeliveryEvents } from "./events.ts";
import type { AttemptLog } from "./interfaces.ts";

export interface LedgerAttemptsDependencies {
  readonly ledger: Pick<Ledger, "insert">;
  readonly clock: Clock;
  readonly events: Pick<DeliveryEvents, "factsDropped">;
}

/** Facts that wait for the ledger, and their bytes; beyond either the newest are dropped. */
const factsMax = 50_000;
const bytesMax = 64 * 1024 * 1024;
const batchMax = 10_000;
const flushMs = 1_000;

/**
 * Takes the facts of attempts into the ledger, in batches. They are told for the eyes of owners and decide nothing, so
 * nothing waits for them: while the ledger is away they wait in memory, within bounds, and what a process that is
 * killed holds of the last second is missing in the list of deliveries.
 */
export class LedgerAttempts implements AttemptLog, AsyncDisposable {
  readonly #dependencies: LedgerAttemptsDependencies;
  readonly #task: BackgroundTask;
  #waiting: AttemptFact[] = [];
  #bytes = 0;
  #dropped = 0;
  #error: unknown = null;

  constructor(dependencies: LedgerAttemptsDependencies) {
    this.#dependencies = dependencies;
    this.#task = new BackgroundTask(
      { everyMs: flushMs },
      {
        clock: dependencies.clock,
        work: () => this.#flush(),
        onError: (error) => {
          this.#error = error;
        },
      },
    );
  }

  append(fact: AttemptFact): void {
    const bytes = bytesOf(fact);
    if (this.#waiting.length >= factsMax || this.#bytes + bytes > bytesMax) {
      this.#dropped += 1;
      return;
    }
    this.#waiting.push(fact);
    this.#bytes += bytes;
  }

  async #flush(): Promise<void> {
    if (this.#dropped > 0) this.#dependencies.events.factsDropped(this.#dropped, this.#error);
    this.#dropped = 0;
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.slice(0, batchMax);
      await this.#dependencies.ledger.insert("webhook_attempts", batch.map(toRow));
      this.#waiting = this.#waiting.slice(batch.length);
      this.#bytes = this.#waiting.length === 0 ? 0 : this.#bytes - batch.reduce((sum, fact) => sum + bytesOf(fact), 0);
    }
  }

  /** Writes what waits, if the ledger takes it. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#task.finish();
    if (this.#waiting.length > 0) this.#dependencies.events.factsDropped(this.#waiting.length, this.#error);
  }
}

const bytesOf = ({ requestHeaders, answer, detail }: AttemptFact): number =>
  300 + requestHeaders.length + answer.length + (detail?.length ?? 0);

const toRow = (fact: AttemptFact) => ({
  at: fact.at,
  account_id: fact.accountId,
  webhook_id: fact.webhookId,
  delivery_id: fact.deliveryId,
  event_id: fact.eventId,
  event: fact.event,
  network: fact.network,
  created_at: fact.createdAt,
  attempt: fact.attempt,
  outcome: fact.outcome,
  status_code: fact.statusCode,
  error: fact.error,
  latency_ms: fact.latencyMs,
  request_headers: fact.requestHeaders,
  answer: fact.answer,
  slot: fact.slot,
  blockhash: fact.blockhash,
  ordinal: fact.ordinal,
  tx_index: fact.txIndex,
  account: fact.account ?? "",
  detail: fact.detail ?? "",
});
