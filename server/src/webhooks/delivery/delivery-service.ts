import { type WebhookEventName, webhookEventNames, webhookEventSpec, webhookLimits } from "@sluice/contract/webhooks";
import { BackgroundTask } from "@sluice/lib";
import type { Ledger } from "../../ledger/index.ts";
import type { NameResolver } from "../../net/index.ts";
import type { QueuedDelivery, WebhookStore } from "../../state/index.ts";
import type { DeliveryControl } from "../model/delivery-control.ts";
import { LedgerAttempts } from "./attempt-log.ts";
import { KnownAttempts } from "./attempt-reads.ts";
import { WebhookDeliveryControl } from "./delivery-control.ts";
import type { DeliveryDependencies } from "./interfaces.ts";
import { ParkedDeliveries } from "./parked-deliveries.ts";
import type { DeliveryRate } from "./rate-bucket.ts";
import { openReceivers, type ReceiverOptions } from "./receivers.ts";
import { WebhookWorker, type WebhookWorkerOptions } from "./worker.ts";

export interface DeliveryServiceOptions {
  /** Null for a process that delivers nothing itself, and only does what owners ask. */
  readonly worker: WebhookWorkerOptions | null;
  readonly receivers: ReceiverOptions;
}

export interface DeliveryServiceDependencies
  extends Omit<DeliveryDependencies, "openEndpoint" | "attempts" | "rateOf" | "webhooks"> {
  readonly webhooks: DeliveryDependencies["webhooks"] & Pick<WebhookStore, "queues">;
  readonly ledger: Pick<Ledger, "insert" | "webhookAttempts">;
  /** The system's without it. */
  readonly resolver?: NameResolver;
}

const cleanMs = 600_000;
const droppedAtOnce = 5_000;

/** Delivery as a whole: a worker, what the ledger keeps of attempts, and what owners do with deliveries. */
export class DeliveryService implements AsyncDisposable {
  /** What owners do with deliveries. */
  readonly control: DeliveryControl;
  readonly #worker: WebhookWorker | null;
  readonly #attempts: LedgerAttempts;
  readonly #cleaning: BackgroundTask;

  constructor(options: DeliveryServiceOptions, dependencies: DeliveryServiceDependencies) {
    const { clock, store, events } = dependencies;
    const attempts = new LedgerAttempts({ worker: options.worker?.worker ?? null }, dependencies);
    const openEndpoint = openReceivers(options.receivers, dependencies);
    const of = { ...dependencies, attempts, openEndpoint, rateOf };
    this.#attempts = attempts;
    this.#worker = options.worker === null ? null : new WebhookWorker(options.worker, of);
    const known = new KnownAttempts({ store, ledger: dependencies.ledger.webhookAttempts });
    this.control = new WebhookDeliveryControl({
      ...dependencies,
      ledger: { webhookAttempts: known },
      added: (id) => this.#worker?.added(id),
    });
    const parked = options.worker === null ? null : new ParkedDeliveries(options.worker, { ...dependencies, attempts });
    this.#cleaning = new BackgroundTask(options.worker === null ? {} : { everyMs: cleanMs }, {
      clock,
      work: async () => {
        await parked?.giveUp();
        const before = clock.now() - webhookLimits.exhaustedMs;
        while ((await store.dropExhausted(before, droppedAtOnce)) === droppedAtOnce);
      },
      onError: (error) => events.storeFailed({ what: "old deliveries", error, isFirst: true }),
    });
  }

  /** Begins to deliver. Never rejects: what the store does not take is repeated. */
  async start(): Promise<void> {
    await this.#worker?.start();
  }

  /** Rows that this process has just committed. */
  appended(rows: readonly QueuedDelivery[]): void {
    this.#worker?.appended(rows);
  }

  /** Webhooks were changed by this process. */
  changed(): void {
    this.#worker?.changed();
  }

  /** Ends what is under way, within seconds, and gives the queues up. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#cleaning[Symbol.asyncDispose]();
    await this.#worker?.[Symbol.asyncDispose]();
    await this.#attempts[Symbol.asyncDispose]();
  }
}

const isEvent = (name: string): name is WebhookEventName => webhookEventNames.some((known) => known === name);

/** Source: specification, node platform, Delivery rules; tests have no rate. */
function rateOf(event: string): DeliveryRate | null {
  return isEvent(event) ? webhookEventSpec(event) : null;
}
