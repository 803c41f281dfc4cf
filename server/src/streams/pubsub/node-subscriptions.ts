import type { Network } from "@sluice/contract/tiers";
import type { Clock, Timer } from "@sluice/lib";
import type { UpstreamPool } from "../../upstreams/index.ts";
import { Continuity, isReceived } from "./continuity.ts";
import { type BridgeOutcome, Reconciliation } from "./reconciliation.ts";
import type { SharedSubscription, SubscriptionSource } from "./shared-subscription.ts";
import { subscribeMethod, unsubscribeMethod } from "./subscription-spec.ts";
import { type PubSubTarget, UpstreamConnection, type UpstreamReply } from "./upstream-connection.ts";

/** The nodes of a network, as subscriptions need them. */
export type PubSubPool = Pick<UpstreamPool, "network" | "pubsubNode" | "mayNotify" | "call" | "slotOf">;

export interface NodeSubscriptionsDependencies {
  readonly clock: Clock;
  readonly pool: PubSubPool;
  readonly events: {
    /** Subscriptions that are made at the nodes of a network. */
    pubsubPlaced(network: string, subscriptions: number): void;
    /** Open connections to them. */
    pubsubUpstreams(network: string, connections: number): void;
    /** Subscriptions go on at another node. */
    pubsubMoved(network: string, subscriptions: number): void;
    pubsubBridged(network: string, kind: string, outcome: BridgeOutcome): void;
    internalError(where: string, error: unknown): void;
  };
}

/** Subscriptions of one connection to a node, and connections of a network. */
export const connectionSubscriptionsMax = 1_000;
export const connectionsMax = 64;
/** Nodes that are asked for a subscription that others have refused. */
const refusalsMax = 3;
/** Waits before each further try to reach a node, the first at once; after the last the subscriptions are lost. */
const waitsMs = [0, 250, 1_000] as const;
/** A node that is heard for this long is not one that comes and goes. */
const steadyMs = 2_000;
/** How often it is looked whether nodes still serve. */
const recheckMs = 1_000;
/** The error of a node that does not have a method or has switched it off. */
const methodNotFound = /"code"\s*:\s*-32601\b/;

/** A connection to a node, and what was subscribed to over it. */
interface Upstream {
  readonly connection: UpstreamConnection;
  readonly label: string;
  readonly placed: Set<Placed>;
  /** By the node's number of the subscription (JSON text). A node may take two of ours for one. */
  readonly byNumber: Map<string, Set<Placed>>;
  /** Numbers that the node was asked to end, each with when. */
  readonly ending: Map<string, number>;
}

/** A subscription and where it is. */
interface Placed {
  readonly shared: SharedSubscription;
  readonly continuity: Continuity;
  upstream: Upstream | null;
  /** The node's number; null before it has answered. */
  number: string | null;
  /** When it was asked for last, in the order of all calls. */
  askedAt: number;
  /** Labels of the nodes that have refused it, and the last error. */
  readonly refusedBy: Set<string>;
  error: string;
}

/**
 * The subscriptions of one network at its nodes, over few connections. When a node is lost or falls behind, they are
 * made again at another, and what may have happened meanwhile is read.
 */
export class NodeSubscriptions implements SubscriptionSource, Disposable {
  readonly #dependencies: NodeSubscriptionsDependencies;
  readonly #reconciliation: Reconciliation;
  readonly #placed = new Map<SharedSubscription, Placed>();
  readonly #upstreams = new Set<Upstream>();
  /** Those that wait for a node. */
  readonly #homeless = new Set<Placed>();
  /** Labels of the nodes that were lost since one was last heard. */
  readonly #lost = new Set<string>();
  readonly #watch: Timer;
  #tries = 0;
  #seeking: Timer | null = null;
  #asks = 0;

  constructor(dependencies: NodeSubscriptionsDependencies) {
    this.#dependencies = dependencies;
    this.#reconciliation = new Reconciliation(dependencies);
    this.#watch = dependencies.clock.every(recheckMs, () => this.recheck());
  }

  get #network(): Network {
    return this.#dependencies.pool.network;
  }

  open(shared: SharedSubscription): void {
    this.#begin(shared, new Continuity(shared.spec));
  }

  /** Goes on with a subscription whose clients were told by another source: `lastSlot` is that of what they know. */
  adopt(shared: SharedSubscription, lastSlot: bigint | null): void {
    const continuity = new Continuity(shared.spec, lastSlot);
    continuity.moved();
    shared.source = this;
    this.#begin(shared, continuity);
  }

  #begin(shared: SharedSubscription, continuity: Continuity): void {
    const placed: Placed = {
      shared,
      continuity,
      upstream: null,
      number: null,
      askedAt: 0,
      refusedBy: new Set(),
      error: "",
    };
    this.#placed.set(shared, placed);
    this.#counted();
    if (this.#seeking !== null) this.#homeless.add(placed);
    else this.#place(placed);
    this.#seek();
  }

  close(shared: SharedSubscription): void {
    const placed = this.#placed.get(shared);
    if (placed === undefined) return;
    this.#forget(shared);
    this.#homeless.delete(placed);
    this.#release(placed);
  }

  #forget(shared: SharedSubscription): void {
    this.#placed.delete(shared);
    this.#counted();
  }

  #counted(): void {
    this.#dependencies.events.pubsubPlaced(this.#network, this.#placed.size);
  }

  /** Leaves nodes that still speak but have fallen behind, where there are better ones. */
  recheck(): void {
    const { pool } = this.#dependencies;
    for (const upstream of [...this.#upstreams]) {
      if (upstream.placed.size === 0 || pool.mayNotify(upstream.label)) continue;
      const better = pool.pubsubNode(new Set([upstream.label]));
      if (better !== null && pool.mayNotify(better.label)) this.#leave(upstream, better);
    }
  }

  #leave(upstream: Upstream, better: PubSubTarget): void {
    const moving = this.#drop(upstream);
    const next = this.#connect(better);
    for (const placed of moving) this.#ask(placed, next);
  }

  #place(placed: Placed): void {
    const upstream = this.#upstreamFor(placed);
    if (upstream !== null) this.#ask(placed, upstream);
    else if (placed.refusedBy.size > 0) this.#refuse(placed);
    else {
      // A node may be about to come back, or to take calls again.
      this.#homeless.add(placed);
    }
  }

  /** A connection with room, to a node that serves and has not refused the subscription. */
  #upstreamFor({ refusedBy }: Placed): Upstream | null {
    const { pool } = this.#dependencies;
    for (const upstream of this.#upstreams) {
      const hasRoom = upstream.placed.size < connectionSubscriptionsMax;
      if (hasRoom && !refusedBy.has(upstream.label) && pool.mayNotify(upstream.label)) return upstream;
    }
    const target = pool.pubsubNode(new Set([...refusedBy, ...this.#lost])) ?? pool.pubsubNode(refusedBy);
    if (target === null) return null;
    // Where no node is well, the least bad one serves, over the connection that there is.
    for (const upstream of this.#upstreams) {
      if (upstream.label === target.label && upstream.placed.size < connectionSubscriptionsMax) return upstream;
    }
    return this.#upstreams.size < connectionsMax ? this.#connect(target) : null;
  }

  #connect(target: PubSubTarget): Upstream {
    const { clock } = this.#dependencies;
    const steadyAtMs = clock.monotonic() + steadyMs;
    const connection = new UpstreamConnection(target, clock, {
      notified: (number, result) => this.#notified(upstream, number, result),
      heard: () => {
        const isFresh = this.#tries === 0 && this.#lost.size === 0;
        if (isFresh || clock.monotonic() < steadyAtMs) return;
        this.#tries = 0;
        this.#lost.clear();
      },
      lost: () => this.#wasLost(upstream),
    });
    const upstream: Upstream = {
      connection,
      label: target.label,
      placed: new Set(),
      byNumber: new Map(),
      ending: new Map(),
    };
    this.#upstreams.add(upstream);
    this.#dependencies.events.pubsubUpstreams(this.#network, this.#upstreams.size);
    return upstream;
  }

  #ask(placed: Placed, upstream: Upstream): void {
    const { spec } = placed.shared;
    placed.upstream = upstream;
    placed.number = null;
    this.#asks += 1;
    placed.askedAt = this.#asks;
    upstream.placed.add(placed);
    const askedAt = placed.askedAt;
    upstream.connection.call(subscribeMethod(spec.kind), spec.params, (reply) => {
      const isWanted = placed.upstream === upstream && placed.askedAt === askedAt;
      if (isWanted) this.#replied(placed, upstream, reply);
      else if (reply.ok && !upstream.byNumber.has(reply.result)) this.#unsubscribe(upstream, placed, reply.result);
    });
  }

  #replied(placed: Placed, upstream: Upstream, reply: UpstreamReply): void {
    if (!reply.ok) {
      this.#refused(placed, upstream, reply.error);
      return;
    }
    const number = reply.result;
    const endedAt = upstream.ending.get(number);
    if (endedAt !== undefined && endedAt > placed.askedAt) {
      // The node took it for one that we have asked it to end since.
      this.#ask(placed, upstream);
      return;
    }
    placed.number = number;
    const known = upstream.byNumber.get(number) ?? new Set();
    upstream.byNumber.set(number, known.add(placed));
    placed.refusedBy.clear();
    const isMoved = placed.shared.isOpen;
    placed.shared.opened();
    for (const result of upstream.connection.takeEarly(number)) this.#deliver(placed, result);
    if (isMoved) this.#reconciliation.begin(placed);
  }

  #refused(placed: Placed, upstream: Upstream, error: string): void {
    const isMove = placed.shared.isOpen;
    this.#release(placed);
    placed.error = error;
    placed.refusedBy.add(upstream.label);
    // A method that one node does not have another may; any other error is the answer.
    const mayAsk = isMove || methodNotFound.test(error);
    if (!mayAsk || placed.refusedBy.size >= refusalsMax) this.#refuse(placed);
    else this.#place(placed);
    this.#seek();
  }

  #refuse(placed: Placed): void {
    const { shared, error } = placed;
    this.#forget(shared);
    if (shared.isOpen) shared.lose();
    else shared.refused(error);
  }

  #lose(placed: Placed): void {
    this.#forget(placed.shared);
    this.#homeless.delete(placed);
    placed.shared.lose();
  }

  #notified(upstream: Upstream, number: string, result: string): void {
    const placed = upstream.byNumber.get(number);
    if (placed === undefined) upstream.connection.keepEarly(number, result);
    else for (const each of [...placed]) this.#deliver(each, result);
  }

  #deliver(placed: Placed, result: string): void {
    const { shared, continuity } = placed;
    if (!continuity.takes(result)) return;
    const isLast = shared.spec.kind === "signature" && !isReceived(result);
    if (isLast) {
      // The node ends it with this notification, and whatever else it has under this number.
      if (placed.number !== null) placed.upstream?.byNumber.delete(placed.number);
      placed.number = null;
      this.close(shared);
    }
    shared.notify(result, isLast);
  }

  /** Takes it from its connection; the node is asked to end it where nothing else has its number. */
  #release(placed: Placed): void {
    const { upstream, number } = placed;
    placed.upstream = null;
    placed.number = null;
    if (upstream === null) return;
    upstream.placed.delete(placed);
    const same = number === null ? undefined : upstream.byNumber.get(number);
    same?.delete(placed);
    if (number !== null && same?.size === 0) {
      upstream.byNumber.delete(number);
      this.#unsubscribe(upstream, placed, number);
    }
    if (upstream.placed.size === 0) this.#closeIdle(upstream);
  }

  #unsubscribe({ connection, ending }: Upstream, { shared }: Placed, number: string): void {
    this.#asks += 1;
    const endedAt = this.#asks;
    ending.set(number, endedAt);
    connection.call(unsubscribeMethod(shared.spec.kind), `[${number}]`, () => {
      if (ending.get(number) === endedAt) ending.delete(number);
    });
  }

  /** One connection stays for the next subscription. */
  #closeIdle(upstream: Upstream): void {
    if (this.#upstreams.size > 1) this.#drop(upstream);
  }

  /** Closes a connection and gives what was subscribed to over it. */
  #drop(upstream: Upstream): readonly Placed[] {
    upstream.connection.close();
    this.#upstreams.delete(upstream);
    this.#dependencies.events.pubsubUpstreams(this.#network, this.#upstreams.size);
    const placed = [...upstream.placed];
    upstream.placed.clear();
    for (const each of placed) {
      each.upstream = null;
      each.number = null;
      if (each.shared.isOpen) each.continuity.moved();
    }
    const moved = placed.filter(({ shared }) => shared.isOpen).length;
    if (moved > 0) this.#dependencies.events.pubsubMoved(this.#network, moved);
    return placed;
  }

  #wasLost(upstream: Upstream): void {
    this.#lost.add(upstream.label);
    for (const placed of this.#drop(upstream)) this.#homeless.add(placed);
    this.#seek();
  }

  /** Seeks a node for those that wait for one. */
  #seek(): void {
    if (this.#seeking !== null || this.#homeless.size === 0) return;
    const wait = waitsMs[this.#tries];
    this.#tries += 1;
    if (wait === undefined) {
      this.#tries = 0;
      for (const placed of [...this.#homeless]) this.#lose(placed);
      return;
    }
    this.#seeking = this.#dependencies.clock.after(wait, () => {
      this.#seeking = null;
      const homeless = [...this.#homeless];
      this.#homeless.clear();
      for (const placed of homeless) this.#place(placed);
      this.#seek();
    });
  }

  [Symbol.dispose](): void {
    this.#watch.cancel();
    this.#seeking?.cancel();
    for (const upstream of [...this.#upstreams]) this.#drop(upstream);
    this.#placed.clear();
    this.#homeless.clear();
  }
}
