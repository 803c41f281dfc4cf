import type { Clock, Log, Random } from "@sluice/lib";
import type { EgressOutcome } from "../../net/index.ts";
import type { KeptFact, QueuedDelivery, WebhookDeliveryStore, WebhookRecord, WebhookStore } from "../../state/index.ts";
import type { EventBody } from "../bodies/webhook-bodies.ts";
import type { WebhookSecrets } from "../model/webhook-secrets.ts";
import type { AttemptFact } from "./attempt-fact.ts";
import type { DeliveryEvents } from "./events.ts";
import type { DeliveryRate } from "./rate-bucket.ts";

/** Makes the data of events from their places on the chain. */
export interface EventBodySource {
  /**
   * The same data each time; null while it cannot be had, `void` where it was found that there is nothing to deliver.
   * Rejects as the stores do.
   */
  read(delivery: QueuedDelivery, webhook: WebhookRecord): Promise<EventBody | null | "void">;
}

/** Credits of the owners of webhooks. */
export interface DeliveryCharges {
  /** Takes the credit of one delivery; false when the account has none left. Rejects while that cannot be known. */
  take(accountId: string): boolean | Promise<boolean>;
  /** Puts it back: the delivery has not ended. `takenAtMs` is Unix milliseconds. */
  refund(accountId: string, takenAtMs: number): void;
}

/** Posts to one endpoint; disposing closes its connections. */
export interface DeliveryEndpoint extends Disposable {
  post(call: {
    readonly fields: readonly (readonly [string, string])[];
    readonly body: string;
    readonly timeoutMs: number;
  }): Promise<EgressOutcome>;
}

/** Opens the endpoint of a URL; null for a URL that must not be called. */
export type OpenEndpoint = (url: string, connectionsMax: number) => DeliveryEndpoint | null;

/** Takes the facts of attempts. Never waits, never throws. */
export interface AttemptLog {
  /** What is committed with the outcome of the attempt; null where nothing is kept. */
  kept(fact: AttemptFact): KeptFact | null;
  /** It was committed. */
  recorded(fact: AttemptFact): void;
}

/** What everything of this layer works with. */
export interface DeliveryDependencies {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly store: WebhookDeliveryStore;
  readonly webhooks: Pick<WebhookStore, "changedSince" | "read" | "revision" | "addNotice">;
  readonly bodies: EventBodySource;
  readonly charges: DeliveryCharges;
  readonly secrets: Pick<WebhookSecrets, "signing">;
  readonly openEndpoint: OpenEndpoint;
  readonly attempts: AttemptLog;
  readonly events: DeliveryEvents;
  /** How often an event may be delivered to one webhook; null for one without a bound. */
  readonly rateOf: (event: string) => DeliveryRate | null;
}
