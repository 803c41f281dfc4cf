import { closeCodes } from "@sluice/contract/close-codes";
import { type ErrorCode, errorTable } from "@sluice/contract/errors";
import { type Network, platformTierLimits } from "@sluice/contract/tiers";
import type { AddressSet, Timer } from "@sluice/lib";
import { jsonRpcFailureBody, pathOf, presentedKey, targetOf } from "../../http/index.ts";
import type { Grant, KeyRefusal } from "../../keys/index.ts";
import type { LimitDecision } from "../../limits/index.ts";
import { RefusedSession, type SocketMount, type SocketPeer, type SocketSession } from "../../net/index.ts";
import { ConnectionCounts, MessagePacer } from "../../streams/index.ts";
import { isRpcPath, RequestContext, type RequestHead } from "../request-context.ts";
import { FlowSubscriptions } from "./flow-subscriptions.ts";
import { connectionSubscriptionsMax, connectionsMax, NodeSubscriptions } from "./node-subscriptions.ts";
import { NodeVersions } from "./node-versions.ts";
import { PubSubSession } from "./pubsub-session.ts";
import {
  type CheckedSession,
  type PubSubDependencies,
  readPermission,
  type SessionDependencies,
} from "./session-dependencies.ts";
import type { SubscriptionSource } from "./shared-subscription.ts";
import type { SubscriptionSpec } from "./subscription-spec.ts";
import { SubscriptionTable } from "./subscription-table.ts";

export interface PubSubOptions {
  readonly networkDefault: Network;
  readonly trustedProxies: AddressSet;
  /** Whether methods that no table knows are passed to the node; false where absent. */
  readonly allowUnknownMethods?: boolean;
  /** Between two facts of a connection, to the next tick. */
  readonly reportEveryMs?: number;
}

/** A little less than two ticks, so that facts come each minute however exact ticks are. */
const reportEveryMsDefault = 50_000;
/** A pass over 10,000 connections takes some 10 ms. */
const recheckWaitMs = 20;

/** Different subscriptions of one network: as many as its connections take. */
const networkSubscriptionsMax = connectionSubscriptionsMax * connectionsMax;
/** A client that connects again, or the next one, finds the subscription still there. */
const lingerMs = 2_000;
/** Above the numbers that nodes give to what is passed to them as it is: clients tell subscriptions apart by number. */
const firstIdBesideNodes = 2 ** 40;

/** The code with which a client is closed that is refused at the upgrade (decisions: Platform, close codes). */
const refusalCloseCodes: Partial<Record<ErrorCode, number>> = {
  INVALID_API_KEY: closeCodes.badKey,
  KEY_INACTIVE: closeCodes.badKey,
  NETWORK_NOT_ALLOWED: closeCodes.notAllowed,
  DOMAIN_NOT_ALLOWED: closeCodes.notAllowed,
  IP_NOT_ALLOWED: closeCodes.notAllowed,
  PERMISSION_DENIED: closeCodes.notAllowed,
  INVALID_REQUEST: closeCodes.notAllowed,
  RATE_LIMIT_EXCEEDED: closeCodes.rateLimited,
};

/**
 * Solana PubSub under the same keys and restrictions as JSON-RPC: the checks of a request in the same order at the
 * upgrade, then the tier's connection limit. Equal subscriptions of all clients are one at the node.
 */
export class PubSubEndpoint implements SocketMount, Disposable {
  readonly #options: PubSubOptions;
  readonly #dependencies: SessionDependencies;
  /** In the order in which they came. */
  readonly #sessions = new Set<CheckedSession>();
  readonly #table: SubscriptionTable;
  readonly #sources = new Map<Network, NetworkSources>();
  #recheckTimer: Timer | null = null;

  constructor(options: PubSubOptions, dependencies: PubSubDependencies) {
    this.#options = options;
    this.#table = new SubscriptionTable(
      {
        firstId: options.allowUnknownMethods === true ? firstIdBesideNodes : 1,
        subscriptionsMax: networkSubscriptionsMax,
        lingerMs,
      },
      {
        clock: dependencies.clock,
        events: dependencies.events,
        source: (network, spec) => this.#sourceOf(network, spec),
      },
    );
    this.#dependencies = {
      ...dependencies,
      connections: dependencies.places ?? new ConnectionCounts(),
      pacer: new MessagePacer(dependencies),
      table: this.#table,
      versions: new NodeVersions(dependencies),
      allowUnknownMethods: options.allowUnknownMethods ?? false,
      reportEveryMs: options.reportEveryMs ?? reportEveryMsDefault,
      left: (session) => this.#sessions.delete(session),
    };
  }

  /**
   * Checks every connection again because keys or accounts have changed: within a few milliseconds, so that many
   * changes at once cost one pass. The newest come first: when a tier allows fewer connections than there are, the
   * oldest stay.
   */
  recheck(): void {
    this.#recheckTimer ??= this.#dependencies.clock.after(recheckWaitMs, () => {
      this.#recheckTimer = null;
      for (const session of [...this.#sessions].toReversed()) void session.recheck();
    });
  }

  /** The blocks of the log where they say all of it, else the nodes; null for a network without nodes. */
  #sourceOf(network: Network, spec: SubscriptionSpec): SubscriptionSource | null {
    const sources = this.#sources.get(network) ?? this.#openSources(network);
    if (sources === null) return null;
    return sources.blocks.serves(spec) ? sources.blocks : sources.nodes;
  }

  #openSources(network: Network): NetworkSources | null {
    const { clock, random, events, pool, flow } = this.#dependencies;
    const ofNetwork = pool(network);
    if (ofNetwork === null) return null;
    const nodes = new NodeSubscriptions({ clock, events, pool: ofNetwork });
    const blocks = new FlowSubscriptions({
      clock,
      random,
      events,
      pool: ofNetwork,
      nodes,
      flow: () => flow?.(network) ?? null,
    });
    const sources = { nodes, blocks };
    this.#sources.set(network, sources);
    return sources;
  }

  [Symbol.dispose](): void {
    this.#recheckTimer?.cancel();
    this.#table[Symbol.dispose]();
    for (const { blocks, nodes } of this.#sources.values()) {
      blocks[Symbol.dispose]();
      nodes[Symbol.dispose]();
    }
  }

  serves(path: string): boolean {
    return isRpcPath(path);
  }

  begin(request: Request, peer: SocketPeer): SocketSession | Promise<SocketSession> {
    const { access } = this.#dependencies;
    const presented = presentedKey(request.headers, request.url);
    const context = new RequestContext(headOf(request, peer), this.#options, this.#dependencies);
    const outcome = access.identify(presented);
    return outcome instanceof Promise
      ? outcome.then((identified) => this.#checked(context, presented, identified))
      : this.#checked(context, presented, outcome);
  }

  #checked(
    context: RequestContext,
    presented: string | null,
    grant: Grant | KeyRefusal,
  ): SocketSession | Promise<SocketSession> {
    if (!grant.ok) {
      this.#dependencies.events.requestRefused("pubsub", grant.code);
      return refused(context, grant.code);
    }
    if (!context.chooseNetwork(pathOf(context.request.target))) {
      return this.#refuse(context, grant, { code: "INVALID_REQUEST", reason: "There is no network of that name" });
    }
    const restriction = this.#dependencies.access.restrict(grant, context);
    if (restriction !== null) return this.#refuse(context, grant, restriction);
    const denial = this.#dependencies.access.permit(grant, readPermission);
    if (denial !== null) return this.#refuse(context, grant, denial);
    const taken = this.#dependencies.access.meter(grant.buckets.requests);
    if (!(taken instanceof Promise)) return this.#metered(context, presented, grant, taken);
    return taken.then((decision) => this.#metered(context, presented, grant, decision));
  }

  #metered(
    context: RequestContext,
    presented: string | null,
    grant: Grant,
    decision: LimitDecision,
  ): SocketSession | Promise<SocketSession> {
    if (!decision.allowed) return this.#refuse(context, grant, { code: "RATE_LIMIT_EXCEEDED" });
    const { network } = context;
    if ((this.#dependencies.pool(network)?.pubsubNode() ?? null) === null)
      return this.#refuse(context, grant, { code: "NETWORK_UNAVAILABLE" });
    const { webSocketConnections } = platformTierLimits[grant.tier];
    const begin = (hasPlace: boolean): SocketSession =>
      hasPlace
        ? this.#begun({ context, presented }, grant)
        : this.#refuse(context, grant, { code: "RATE_LIMIT_EXCEEDED" });
    const entered = this.#dependencies.connections.enter(grant.accountId, webSocketConnections);
    return entered instanceof Promise ? entered.then(begin) : begin(entered);
  }

  /** What is refused once its account is known has a record, as a call over HTTP has. */
  #refuse(
    context: RequestContext,
    { accountId, keyId }: Grant,
    { code, reason = errorTable[code].text }: { readonly code: ErrorCode; readonly reason?: string },
  ): RefusedSession {
    const { clock, served } = this.#dependencies;
    const { requestId, network, startedMs } = context;
    const session = refused(context, code, reason);
    served({
      at: clock.now(),
      requestId,
      accountId,
      keyId,
      network,
      door: "pubsub",
      method: "pubsub",
      status: closeCodeOf(code),
      rpcCode: errorTable[code].rpcCode,
      latencyMs: clock.monotonic() - startedMs,
      bytesIn: 0,
      bytesOut: 0,
      credits: 0,
      code,
      cache: "",
      upstream: "",
    });
    return session;
  }

  #begun({ context, presented }: Entered, grant: Grant): SocketSession {
    const { network } = context;
    const { requestId, startedMs, origin, referer, clientAddress } = context;
    const request = { network, origin, referer, clientAddress };
    const session = new PubSubSession({ requestId, startedMs, request, presented }, grant, this.#dependencies);
    this.#sessions.add(session);
    return session;
  }
}

/** Where the subscriptions of a network are made. */
interface NetworkSources {
  readonly blocks: FlowSubscriptions;
  readonly nodes: NodeSubscriptions;
}

/** A client that has its place. */
interface Entered {
  readonly context: RequestContext;
  readonly presented: string | null;
}

function headOf(request: Request, peer: SocketPeer): RequestHead {
  return {
    method: request.method,
    target: targetOf(request.url),
    headers: request.headers,
    socketAddress: peer.requestIP(request)?.address ?? "",
  };
}

function refused(context: RequestContext, code: ErrorCode, reason: string = errorTable[code].text): RefusedSession {
  const { requestId } = context;
  const message = jsonRpcFailureBody(code, { requestId, message: reason });
  return new RefusedSession(requestId, { code: closeCodeOf(code), reason, message });
}

const closeCodeOf = (code: ErrorCode): number => refusalCloseCodes[code] ?? closeCodes.unavailable;
