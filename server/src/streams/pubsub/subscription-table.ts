import type { Network, PlatformTier } from "@sluice/contract/tiers";
import type { Clock, Timer } from "@sluice/lib";
import type { FanOut } from "../../net/index.ts";
import {
  SharedSubscription,
  type Subscriber,
  type SubscriptionSource,
  type TakeOutcome,
} from "./shared-subscription.ts";
import type { SubscriptionSpec } from "./subscription-spec.ts";

export interface SubscriptionTableOptions {
  /** The number of the first subscription. */
  readonly firstId: number;
  /** Different subscriptions of one network. */
  readonly subscriptionsMax: number;
  /** How long a subscription that nobody has any more is kept for the next who wants it. */
  readonly lingerMs: number;
}

export interface SubscriptionTableDependencies {
  readonly clock: Pick<Clock, "after">;
  readonly fanOut: FanOut;
  /** Where the notifications of a subscription come from; null where the network has no source for it. */
  readonly source: (network: Network, spec: SubscriptionSpec) => SubscriptionSource | null;
  readonly events: {
    /** How many different subscriptions a network has. */
    pubsubShared(network: string, subscriptions: number): void;
  };
}

/** A node's own words when it has too many. */
export const limitReached = JSON.stringify({
  code: -32603,
  message: "Internal Error: Subscription refused. Node subscription limit reached",
});

/**
 * How many subscriptions an account may have, as a part of those that are free. So whatever few accounts take, a part
 * is left for everybody else: thirteen accounts of the tier Free leave more than half, one of Enterprise leaves half.
 *
 * Source: A. K. Choudhury and E. L. Hahne, Dynamic queue length thresholds for shared-memory packet switches, 1998.
 */
const accountShares: Readonly<Record<PlatformTier, number>> = {
  free: 1 / 16,
  developer: 1 / 8,
  business: 1 / 4,
  professional: 1 / 2,
  enterprise: 1,
};

interface NetworkSubscriptions {
  readonly byKey: Map<string, SharedSubscription>;
  /** Those without clients, the longest first, each with the end of its wait. */
  readonly lingering: Map<SharedSubscription, Timer>;
  /** How many each account has, whoever else has them. */
  readonly ofAccount: Map<string, number>;
}

/** The subscriptions of all clients of this process: one for each network and key, whoever asks for it. */
export class SubscriptionTable implements Disposable {
  readonly #options: SubscriptionTableOptions;
  readonly #dependencies: SubscriptionTableDependencies;
  readonly #networks = new Map<Network, NetworkSubscriptions>();
  #nextId: number;

  constructor(options: SubscriptionTableOptions, dependencies: SubscriptionTableDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
    this.#nextId = options.firstId;
  }

  /**
   * Subscribes a client. Null, and nothing is called, when there are too many of all or of its account; `answered` may
   * be called at once.
   */
  join(
    network: Network,
    spec: SubscriptionSpec,
    { subscriber, answered }: { readonly subscriber: Subscriber; readonly answered: TakeOutcome },
  ): SharedSubscription | null {
    const own = this.#of(network);
    const known = own.byKey.get(spec.key);
    const isAdded = known === undefined || !known.isOf(subscriber.accountId);
    if (isAdded && !this.#mayHaveMore(own, subscriber)) return null;
    if (known !== undefined) {
      own.lingering.get(known)?.cancel();
      own.lingering.delete(known);
      if (isAdded) count(own, subscriber.accountId, 1);
      known.join(subscriber, answered);
      return known;
    }
    const source = this.#dependencies.source(network, spec);
    if (source === null || !this.#hasRoom(own)) return null;
    const id = this.#nextId;
    this.#nextId += 1;
    const group = this.#dependencies.fanOut.group(String(id));
    const over = (ended: SharedSubscription): void => this.#close(ended);
    const shared = new SharedSubscription({ id, network, spec, source, group, over });
    own.byKey.set(spec.key, shared);
    this.#counted(network, own);
    count(own, subscriber.accountId, 1);
    shared.join(subscriber, answered);
    source.open(shared);
    return shared;
  }

  /** A client unsubscribes or is gone. */
  leave(shared: SharedSubscription, subscriber: Subscriber): void {
    const own = this.#of(shared.network);
    const { accountId } = subscriber;
    const wasOf = shared.isOf(accountId);
    shared.leave(subscriber);
    if (wasOf && !shared.isOf(accountId)) count(own, accountId, -1);
    if (shared.clients > 0 || own.byKey.get(shared.spec.key) !== shared || own.lingering.has(shared)) return;
    const end = this.#dependencies.clock.after(this.#options.lingerMs, () => this.#close(shared));
    own.lingering.set(shared, end);
  }

  #mayHaveMore({ byKey, lingering, ofAccount }: NetworkSubscriptions, { accountId, tier }: Subscriber): boolean {
    const free = this.#options.subscriptionsMax - (byKey.size - lingering.size);
    return (ofAccount.get(accountId) ?? 0) < free * accountShares[tier];
  }

  /** Makes room for one more: those that nobody has go first. */
  #hasRoom({ byKey, lingering }: NetworkSubscriptions): boolean {
    if (byKey.size < this.#options.subscriptionsMax) return true;
    for (const [shared] of lingering) {
      this.#close(shared);
      return true;
    }
    return false;
  }

  #close(shared: SharedSubscription): void {
    this.#forget(shared);
    shared.source.close(shared);
  }

  #forget(shared: SharedSubscription): void {
    const own = this.#of(shared.network);
    own.lingering.get(shared)?.cancel();
    own.lingering.delete(shared);
    if (own.byKey.get(shared.spec.key) === shared) own.byKey.delete(shared.spec.key);
    for (const accountId of shared.accounts) count(own, accountId, -1);
    this.#counted(shared.network, own);
  }

  #counted(network: Network, { byKey }: NetworkSubscriptions): void {
    this.#dependencies.events.pubsubShared(network, byKey.size);
  }

  #of(network: Network): NetworkSubscriptions {
    const known = this.#networks.get(network) ?? { byKey: new Map(), lingering: new Map(), ofAccount: new Map() };
    this.#networks.set(network, known);
    return known;
  }

  [Symbol.dispose](): void {
    for (const { byKey } of this.#networks.values()) for (const shared of [...byKey.values()]) this.#close(shared);
  }
}

/** Accounts without any take no memory. */
function count({ ofAccount }: NetworkSubscriptions, accountId: string, by: 1 | -1): void {
  const subscriptions = (ofAccount.get(accountId) ?? 0) + by;
  if (subscriptions > 0) ofAccount.set(accountId, subscriptions);
  else ofAccount.delete(accountId);
}
