import type { Network, PlatformTier } from "@sluice/contract/tiers";
import type { Grant } from "../../keys/index.ts";
import type { FrameGroup } from "../../net/index.ts";
import type { SharedSubscription, SubscribeOutcome, Subscriber } from "./shared-subscription.ts";
import type { SubscriptionSpec } from "./subscription-spec.ts";
import { limitReached, type SubscriptionTable } from "./subscription-table.ts";

/** Subscriptions of one connection. */
export const clientSubscriptionsMax = 1_000;

export interface ClientSubscriptionsDependencies {
  readonly table: SubscriptionTable;
  /** As its key was looked at last. */
  readonly grant: () => Pick<Grant, "accountId" | "tier">;
  readonly send: (text: string) => void;
  /** The client gets what the group is sent from now on. */
  readonly join: (group: FrameGroup) => void;
  readonly leave: (group: FrameGroup) => void;
  /** No node serves a subscription of the client any more. */
  readonly lost: () => void;
}

/** The subscriptions of one client. */
export class ClientSubscriptions implements Subscriber {
  readonly accountId: string;
  readonly #network: Network;
  readonly #dependencies: ClientSubscriptionsDependencies;
  readonly #byId = new Map<number, SharedSubscription>();
  /** Those whose answer has not come, and the number of calls that wait for them. */
  readonly #asked = new Set<SharedSubscription>();
  #asking = 0;
  #holds = 0;
  /** Subscriptions whose number the client has not been told yet, each with its last notification if it is over. */
  readonly #unannounced = new Map<SharedSubscription, string | null>();

  constructor(network: Network, dependencies: ClientSubscriptionsDependencies) {
    this.#network = network;
    this.#dependencies = dependencies;
    this.accountId = dependencies.grant().accountId;
  }

  get tier(): PlatformTier {
    return this.#dependencies.grant().tier;
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
      if (!outcome.ok) {
        answered(`"error":${outcome.error}`);
        return;
      }
      const { id } = outcome.shared;
      this.#byId.set(id, outcome.shared);
      this.#unannounced.set(outcome.shared, null);
      answered(`"result":${id}`);
      if (this.#holds === 0) this.#announced();
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
    this.#unannounced.delete(shared);
    this.#dependencies.leave(shared.group);
    this.#dependencies.table.leave(shared, this);
    return true;
  }

  /** Notifications of what is subscribed to from now on begin once as many releases have come as holds. */
  hold(): void {
    this.#holds += 1;
  }

  release(): void {
    this.#holds -= 1;
    if (this.#holds === 0) this.#announced();
  }

  #announced(): void {
    for (const [shared, last] of this.#unannounced) {
      if (last === null) this.#dependencies.join(shared.group);
      else this.#dependencies.send(last);
    }
    this.#unannounced.clear();
  }

  ended(shared: SharedSubscription, last: string): void {
    this.#byId.delete(shared.id);
    if (this.#unannounced.has(shared)) this.#unannounced.set(shared, last);
    else this.#dependencies.leave(shared.group);
  }

  lost(): void {
    this.#dependencies.lost();
  }

  /** The client is gone. */
  close(): void {
    const shared = [...this.#byId.values(), ...this.#asked];
    this.#byId.clear();
    this.#asked.clear();
    this.#unannounced.clear();
    for (const each of shared) this.#dependencies.table.leave(each, this);
  }
}
