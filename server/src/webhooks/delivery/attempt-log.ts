import { BackgroundTask, type Clock } from "@sluice/lib";
import type { Ledger } from "../../ledger/index.ts";
import type { KeptFact, KeptFacts, WebhookDeliveryStore } from "../../state/index.ts";
import type { AttemptFact } from "./attempt-fact.ts";
import type { DeliveryEvents } from "./events.ts";
import type { AttemptLog } from "./interfaces.ts";

export interface LedgerAttemptsOptions {
  /** The worker of this process; null for one that attempts nothing. */
  readonly worker: string | null;
}

export interface LedgerAttemptsDependencies {
  readonly store: Pick<WebhookDeliveryStore, "facts" | "orphanedFacts" | "dropFacts" | "boundFacts">;
  readonly ledger: Pick<Ledger, "insert">;
  readonly clock: Clock;
  readonly events: Pick<DeliveryEvents, "factsDropped">;
}

/** What is kept while the ledger is away; beyond it the oldest facts are dropped. */
const charactersMax = 256 * 1024 * 1024;
/** Commits that are read together, of up to 500 attempts each. */
const commitsMax = 20;
const flushMs = 1_000;
/** How often the facts of workers that have ended are looked for. */
const orphansMs = 10_000;

/**
 * Takes the facts of attempts into the ledger. They are committed with the outcomes that they are of, so the list of an
 * owner's deliveries has each attempt whose outcome counts, whatever process dies when; they leave the state store once
 * the ledger has them. What is taken twice, as a process died between the two, is one row there.
 */
export class LedgerAttempts implements AttemptLog, AsyncDisposable {
  readonly #worker: string | null;
  readonly #dependencies: LedgerAttemptsDependencies;
  readonly #task: BackgroundTask;
  #isWaiting = true;
  #orphansAtMs = Number.NEGATIVE_INFINITY;

  constructor({ worker }: LedgerAttemptsOptions, dependencies: LedgerAttemptsDependencies) {
    this.#worker = worker;
    this.#dependencies = dependencies;
    const { clock } = dependencies;
    this.#task = new BackgroundTask(worker === null ? {} : { everyMs: flushMs }, {
      clock,
      work: () => this.#flush(),
      onError: (error) => {
        // The store says of itself that it is away.
        void this.#bound(error).catch(() => undefined);
      },
    });
  }

  kept(fact: AttemptFact): KeptFact | null {
    return this.#worker === null ? null : { worker: this.#worker, fact: JSON.stringify(toRow(fact)) };
  }

  recorded(): void {
    this.#isWaiting = true;
  }

  async #flush(): Promise<void> {
    const { store, clock } = this.#dependencies;
    const worker = this.#worker;
    if (worker === null) return;
    if (this.#isWaiting) {
      this.#isWaiting = false;
      try {
        await this.#takeAll(() => store.facts(worker, commitsMax));
      } catch (error) {
        this.#isWaiting = true;
        throw error;
      }
    }
    if (clock.monotonic() - this.#orphansAtMs < orphansMs) return;
    await this.#takeAll(() => store.orphanedFacts(commitsMax));
    this.#orphansAtMs = clock.monotonic();
  }

  async #takeAll(read: () => Promise<readonly KeptFacts[]>): Promise<void> {
    const { store, ledger } = this.#dependencies;
    for (;;) {
      const commits = await read();
      if (commits.length === 0) return;
      await ledger.insert("webhook_attempts", commits.flatMap(rowsOf));
      await store.dropFacts(commits.map(({ id }) => id));
      if (commits.length < commitsMax) return;
    }
  }

  /** The ledger or the store is away. */
  async #bound(error: unknown): Promise<void> {
    const { store, events } = this.#dependencies;
    const dropped = await store.boundFacts(charactersMax);
    if (dropped > 0) events.factsDropped(dropped, error);
  }

  /** Takes what is kept to the ledger, if it can; what it cannot stays for who comes next. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#task.finish();
  }
}

/** A fact as it is kept, before the ledger has it. */
export type KeptRow = ReturnType<typeof toRow>;

/** The facts of one commit. */
export function keptRows({ facts }: KeptFacts): readonly KeptRow[] {
  const rows: unknown = JSON.parse(facts);
  const isRows = (value: unknown): value is readonly KeptRow[] => Array.isArray(value);
  return isRows(rows) ? rows : [];
}

/** The fields of a kept fact as the ledger has them. */
export const headersText = ({ request_headers: fields }: KeptRow): string => JSON.stringify(Object.fromEntries(fields));

const rowsOf = (commit: KeptFacts): readonly object[] =>
  keptRows(commit).map((row) => ({ ...row, request_headers: headersText(row) }));

/** As the ledger takes it, but for the fields, which are text there. Text of a slot is read there as the number. */
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
  request_headers: fact.requestFields,
  answer: fact.answer,
  slot: String(fact.slot),
  blockhash: fact.blockhash,
  ordinal: fact.ordinal,
  tx_index: fact.txIndex,
  account: fact.account ?? "",
  detail: fact.detail ?? "",
});
