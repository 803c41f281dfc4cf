import type { Network } from "@sluice/contract/tiers";
import type { OutboundMessage } from "../delivery/outbox.ts";
import type { SharedSubscription, SubscribeOutcome, Subscriber } from "./shared-subscription.ts";
import type { SubscriptionSpec } from "./subscription-spec.ts";
import { limitReached, type SubscriptionTable } from "./subscription-table.ts";

/** Subscriptions of one connection. */
export const clientSubscriptionsMax = 1_000;
/** Notifications that wait for the answers of a batch. */
const heldMax = 1_024;

export interface ClientSubscriptionsDependencies {
  readonly table: SubscriptionTable;
  readonly send: (message: OutboundMessage) => void;
  /** More waits than may: the client is to be closed as a slow one. */
  readonly overrun: () => void;
  /** No node serves a subscription of the client any more. */
  readonly lost: () => void;
}

/** The subscriptions of one client. */
export class ClientSubscriptions implements Subscriber {
  readonly #network: Network;
  readonly #dependencies: ClientSubscriptionsDependencies;
  readonly #byId = new Map<number, SharedSubscription>();
  /** Those whose answer has not come, and the number of calls that wait for them. */
  readonly #asked = new Set<SharedSubscription>();
  #asking = 0;
  #holds = 0;
  #held: OutboundMessage[] = [];

  constructor(network: Network, dependencies: ClientSubscriptionsDependencies) {
    this.#network = network;
    this.#dependencies = dependencies;
  }

  /**
   * Subscribes. `answered` receives the member that answers the call, JSON text with its name, at once or later.
   */
  subscribe(spec: SubscriptionSpec, answered: (member: string) => void): void {
    if (this.#byId.size + this.#asking >= clientSubscriptionsMax) {
      answered(`"error":${limitReached}`);
      return;
    }
    let isAnswered = false;
    const take = (outcome: SubscribeOutcome): void => {
      isAnswered = true;
      this.#asking -= 1;
      this.#asked.delete(outcome.shared);
      if (outcome.ok) this.#byId.set(outcome.shared.id, outcome.shared);
      answered(outcome.ok ? `"result":${outcome.shared.id}` : `"error":${outcome.error}`);
    };
    this.#asking += 1;
    const shared = this.#dependencies.table.join(this.#network, spec, { subscriber: this, answered: take });
    if (isAnswered) return;
    if (shared !== null) this.#asked.add(shared);
    else {
      this.#asking -= 1;
      answered(`"error":${limitReached}`);
    }
  }

  /** False where the client has no subscription of this number. */
  unsubscribe(id: number): boolean {
    const shared = this.#byId.get(id);
    if (shared === undefined) return false;
    this.#byId.delete(id);
    this.#dependencies.table.leave(shared, this);
    return true;
  }

  /** Notifications wait until as many releases have come as holds. */
  hold(): void {
    this.#holds += 1;
  }

  release(): void {
    this.#holds -= 1;
    if (this.#holds > 0) return;
    const held = this.#held;
    this.#held = [];
    for (const message of held) this.#dependencies.send(message);
  }

  notified(shared: SharedSubscription, message: OutboundMessage, isLast: boolean): void {
    if (isLast) this.#byId.delete(shared.id);
    if (this.#holds === 0) this.#dependencies.send(message);
    else if (this.#held.length < heldMax) this.#held.push(message);
    else this.#dependencies.overrun();
  }

  lost(): void {
    this.#dependencies.lost();
  }

  /** The client is gone. */
  close(): void {
    const shared = [...this.#byId.values(), ...this.#asked];
    this.#byId.clear();
    this.#asked.clear();
    this.#held = [];
    for (const each of shared) this.#dependencies.table.leave(each, this);
  }
}
