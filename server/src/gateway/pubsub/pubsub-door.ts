import { type ErrorCode, errorTable } from "@sluice/contract/errors";
import { type Network, platformTierLimits } from "@sluice/contract/tiers";
import type { AddressSet } from "@sluice/lib";
import { jsonRpcFailureBody, pathOf, presentedKey, targetOf } from "../../http/index.ts";
import type { Grant, KeyRefusal } from "../../keys/index.ts";
import type { LimitDecision } from "../../limits/index.ts";
import { closeCodes, RefusedSession, type SocketMount, type SocketPeer, type SocketSession } from "../../net/index.ts";
import { type Caller, Exchange } from "../exchange.ts";
import { chooseNetwork, isRpcPath } from "../network.ts";
import { ConnectionCounts } from "./connection-counts.ts";
import { PubSubSession } from "./pubsub-session.ts";
import type { JudgedSession, PubSubDoorDependencies, PubSubServices } from "./services.ts";

export interface PubSubDoorOptions {
  readonly networkDefault: Network;
  readonly trustedProxies: AddressSet;
  /** What a connection passed is told so often, to the next tick. */
  readonly tellEveryMs?: number;
}

/** A little less than two ticks, so that facts come each minute however exact ticks are. */
const tellEveryMsDefault = 50_000;
/** A pass over 10,000 connections takes some 10 ms. */
const recheckWaitMs = 20;

/** The code with which a client is closed that is refused at the upgrade (decisions: Platform, close codes). */
const refusalCloseCodes: Partial<Record<ErrorCode, number>> = {
  INVALID_API_KEY: closeCodes.badKey,
  KEY_INACTIVE: closeCodes.badKey,
  NETWORK_NOT_ALLOWED: closeCodes.notAllowed,
  DOMAIN_NOT_ALLOWED: closeCodes.notAllowed,
  IP_NOT_ALLOWED: closeCodes.notAllowed,
  INVALID_REQUEST: closeCodes.notAllowed,
  RATE_LIMIT_EXCEEDED: closeCodes.rateLimited,
};

/**
 * Solana PubSub under the same keys and restrictions as JSON-RPC: the checks of a request in the same order at the
 * upgrade, then the tier's connection limit, then a connection of the client's own to a node.
 */
export class PubSubDoor implements SocketMount {
  readonly #options: PubSubDoorOptions;
  readonly #services: PubSubServices;
  /** In the order in which they came. */
  readonly #sessions = new Set<JudgedSession>();
  #recheckTimer: ReturnType<typeof setTimeout> | null = null;

  constructor(options: PubSubDoorOptions, dependencies: PubSubDoorDependencies) {
    this.#options = options;
    this.#services = {
      ...dependencies,
      connections: new ConnectionCounts(),
      tellEveryMs: options.tellEveryMs ?? tellEveryMsDefault,
      left: (session) => this.#sessions.delete(session),
    };
  }

  /**
   * Judges every connection anew, since keys or accounts have changed: within a few milliseconds, so that many changes at
   * once cost one pass. The newest come first: when a tier allows fewer connections than there are, the oldest stay.
   */
  recheck(): void {
    this.#recheckTimer ??= setTimeout(() => {
      this.#recheckTimer = null;
      for (const session of [...this.#sessions].toReversed()) void session.recheck();
    }, recheckWaitMs);
  }

  serves(path: string): boolean {
    return isRpcPath(path);
  }

  begin(request: Request, peer: SocketPeer): SocketSession | Promise<SocketSession> {
    const { clock, access, requestId } = this.#services;
    const presented = presentedKey(request.headers, request.url);
    const exchange = new Exchange(callerOf(request, peer), {
      requestId: requestId(),
      at: clock.now(),
      startedMs: clock.monotonic(),
      network: this.#options.networkDefault,
      trustedProxies: this.#options.trustedProxies,
    });
    const outcome = access.identify(presented);
    return outcome instanceof Promise
      ? outcome.then((identified) => this.#checked(exchange, presented, identified))
      : this.#checked(exchange, presented, outcome);
  }

  #checked(
    exchange: Exchange,
    presented: string | null,
    grant: Grant | KeyRefusal,
  ): SocketSession | Promise<SocketSession> {
    if (!grant.ok) {
      this.#services.events.requestRefused("pubsub", grant.code);
      return refused(exchange, grant.code);
    }
    const network = chooseNetwork(exchange.request, pathOf(exchange.request.target), this.#options.networkDefault);
    if (network === null) return refused(exchange, "INVALID_REQUEST", "There is no network of that name");
    exchange.network = network;
    const restriction = this.#services.access.restrict(grant, exchange);
    if (restriction !== null) return refused(exchange, restriction.code);
    const taken = this.#services.access.meter(grant.buckets.requests);
    if (!(taken instanceof Promise)) return this.#metered(exchange, presented, grant, taken);
    return taken.then((decision) => this.#metered(exchange, presented, grant, decision));
  }

  #metered(exchange: Exchange, presented: string | null, grant: Grant, decision: LimitDecision | null): SocketSession {
    if (decision?.allowed === false) return refused(exchange, "RATE_LIMIT_EXCEEDED");
    const { network } = exchange;
    const target = this.#services.target(network);
    if (target === null) return refused(exchange, "NETWORK_UNAVAILABLE");
    if (!this.#services.connections.enter(grant.accountId, platformTierLimits[grant.tier].webSocketConnections)) {
      return refused(exchange, "RATE_LIMIT_EXCEEDED");
    }
    const { requestId, startedMs, origin, referer, clientAddress } = exchange;
    const request = { network, origin, referer, clientAddress };
    const session = new PubSubSession({ requestId, startedMs, request, presented, target }, grant, this.#services);
    this.#sessions.add(session);
    return session;
  }
}

function callerOf(request: Request, peer: SocketPeer): Caller {
  return {
    method: request.method,
    target: targetOf(request.url),
    headers: request.headers,
    socketAddress: peer.requestIP(request)?.address ?? "",
  };
}

function refused(exchange: Exchange, code: ErrorCode, reason: string = errorTable[code].text): RefusedSession {
  const { requestId } = exchange;
  const message = jsonRpcFailureBody(code, { requestId, message: reason });
  return new RefusedSession(requestId, { code: refusalCloseCodes[code] ?? closeCodes.unavailable, reason, message });
}
