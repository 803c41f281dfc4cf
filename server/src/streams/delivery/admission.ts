import { closeCodes } from "@sluice/contract/close-codes";
import { type ErrorCode, errorTable } from "@sluice/contract/errors";
import { type Network, type Permission, platformTierLimits } from "@sluice/contract/tiers";
import type { Clock } from "@sluice/lib";
import type { Access } from "../../access/index.ts";
import { networkNamed, pathOf, presentedKey, targetOf } from "../../http/index.ts";
import type { Grant, KeyRefusal, RestrictedRequest } from "../../keys/index.ts";
import type { RequestFact } from "../../ledger/index.ts";
import type { LimitDecision } from "../../limits/index.ts";
import type { SocketPeer } from "../../net/index.ts";
import type { ConnectionPlaces } from "./connection-places.ts";

/** The permission that a connection needs. */
const readPermission: readonly Permission[] = ["read"];

/** Whose a client is, and what it may do now. */
export type Identify = () => Grant | KeyRefusal | Promise<Grant | KeyRefusal>;

/** What is known of a client since its upgrade, kept since keys and restrictions change while the connection lasts. */
export interface AdmittedClient {
  readonly requestId: string;
  /** Monotonic. */
  readonly startedMs: number;
  readonly request: RestrictedRequest & { readonly network: Network };
  /** What its key may do now. */
  readonly identify: Identify;
}

export interface Refused {
  readonly ok: false;
  readonly requestId: string;
  readonly code: ErrorCode;
  readonly closeCode: number;
  /** A text for the client. */
  readonly reason: string;
}

/** A client that has its place, which is given back with `ConnectionPlaces.leave`; or why it has none. */
export type AdmissionOutcome = { readonly ok: true; readonly client: AdmittedClient; readonly grant: Grant } | Refused;

/** What a connection's key says now: it goes on, ends, or cannot be asked at the moment. */
export type Recheck =
  | { readonly kind: "keeps"; readonly grant: Grant }
  | { readonly kind: "ends"; readonly closeCode: number; readonly code: ErrorCode }
  | { readonly kind: "undecided" };

export interface ConnectionAdmissionOptions {
  readonly door: "ws" | "pubsub";
  readonly networkDefault: Network;
}

export interface ConnectionAdmissionDependencies {
  readonly clock: Pick<Clock, "now" | "monotonic">;
  readonly access: Pick<Access, "callerOf" | "identify" | "restrict" | "permit" | "meter">;
  readonly places: ConnectionPlaces;
  readonly requestId: () => string;
  readonly served: (fact: RequestFact) => void;
  /** Whether a network has nodes; left out, every network is served. */
  readonly isServed?: (network: Network) => boolean;
  /** A client without a valid key was refused. */
  readonly refused: (code: ErrorCode) => void;
}

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
  INSUFFICIENT_CREDITS: closeCodes.quotaExceeded,
};

export const closeCodeOf = (code: ErrorCode): number => refusalCloseCodes[code] ?? closeCodes.unavailable;

/**
 * The checks of a request in the same order at the upgrade of a WebSocket, then the tier's connection limit; and the
 * same checks again while the connection lasts.
 */
export class ConnectionAdmission {
  readonly #options: ConnectionAdmissionOptions;
  readonly #dependencies: ConnectionAdmissionDependencies;

  constructor(options: ConnectionAdmissionOptions, dependencies: ConnectionAdmissionDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
  }

  /** Without `identify` a client is who its key says. */
  admit(request: Request, peer: SocketPeer, identify?: Identify): AdmissionOutcome | Promise<AdmissionOutcome> {
    const arrived = this.#arrived(request, peer, identify ?? this.#byKey(request));
    const identified = arrived.client.identify();
    return identified instanceof Promise
      ? identified.then((grant) => this.#identified(arrived, grant))
      : this.#identified(arrived, identified);
  }

  /**
   * Checks a connection against its key as it is now: a revoked key ends it, as does a restriction that it breaks since
   * it was narrowed.
   */
  async recheck({ identify, request }: AdmittedClient): Promise<Recheck> {
    const { access } = this.#dependencies;
    const outcome = await identify();
    if (!outcome.ok) {
      // A client that cannot be asked now is asked at the next tick.
      if (outcome.code === "OVERLOADED" || outcome.code === "STORE_UNAVAILABLE") return { kind: "undecided" };
      return { kind: "ends", closeCode: closeCodes.badKey, code: outcome.code };
    }
    const restricted = access.restrict(outcome, request) ?? access.permit(outcome, readPermission);
    if (restricted === null) return { kind: "keeps", grant: outcome };
    return { kind: "ends", closeCode: closeCodes.notAllowed, code: restricted.code };
  }

  #byKey({ headers, url }: Request): Identify {
    const presented = presentedKey(headers, url);
    return () => this.#dependencies.access.identify(presented);
  }

  #arrived(request: Request, peer: SocketPeer, identify: Identify): Arrived {
    const { access, clock, requestId } = this.#dependencies;
    const target = targetOf(request.url);
    const named = networkNamed({ headers: request.headers, target }, pathOf(target));
    const network = named === null || named === "unknown" ? this.#options.networkDefault : named;
    const caller = access.callerOf(request.headers, peer.requestIP(request)?.address ?? "");
    return {
      isOfNoNetwork: named === "unknown",
      client: {
        requestId: requestId(),
        startedMs: clock.monotonic(),
        request: { ...caller, network },
        identify,
      },
    };
  }

  #identified(arrived: Arrived, grant: Grant | KeyRefusal): AdmissionOutcome | Promise<AdmissionOutcome> {
    const { access, refused } = this.#dependencies;
    if (!grant.ok) {
      refused(grant.code);
      return refusalOf(arrived.client, grant.code);
    }
    if (arrived.isOfNoNetwork) {
      return this.#refuse(arrived, grant, { code: "INVALID_REQUEST", reason: "There is no network of that name" });
    }
    const restriction = access.restrict(grant, arrived.client.request) ?? access.permit(grant, readPermission);
    if (restriction !== null) return this.#refuse(arrived, grant, restriction);
    const taken = access.meter(grant.buckets.requests);
    if (!(taken instanceof Promise)) return this.#metered(arrived, grant, taken);
    return taken.then((decision) => this.#metered(arrived, grant, decision));
  }

  #metered(arrived: Arrived, grant: Grant, decision: LimitDecision): AdmissionOutcome | Promise<AdmissionOutcome> {
    const { isServed, places } = this.#dependencies;
    if (!decision.allowed) return this.#refuse(arrived, grant, { code: "RATE_LIMIT_EXCEEDED" });
    if (isServed?.(arrived.client.request.network) === false) {
      return this.#refuse(arrived, grant, { code: "NETWORK_UNAVAILABLE" });
    }
    const entered = (hasPlace: boolean): AdmissionOutcome =>
      hasPlace
        ? { ok: true, client: arrived.client, grant }
        : this.#refuse(arrived, grant, { code: "RATE_LIMIT_EXCEEDED" });
    const { webSocketConnections } = platformTierLimits[grant.tier];
    const place = places.enter(grant.accountId, webSocketConnections);
    return place instanceof Promise ? place.then(entered) : entered(place);
  }

  /** What is refused once its account is known has a record, as a call over HTTP has. */
  #refuse(
    { client }: Arrived,
    { accountId, keyId }: Grant,
    { code, reason }: { readonly code: ErrorCode; readonly reason?: string },
  ): Refused {
    const { clock, served } = this.#dependencies;
    const { requestId, startedMs, request } = client;
    const { door } = this.#options;
    served({
      at: clock.now(),
      requestId,
      accountId,
      keyId,
      network: request.network,
      door,
      method: door,
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
    return refusalOf(client, code, reason);
  }
}

interface Arrived {
  readonly client: AdmittedClient;
  /** It names a network, and there is none of that name. */
  readonly isOfNoNetwork: boolean;
}

function refusalOf({ requestId }: AdmittedClient, code: ErrorCode, reason: string = errorTable[code].text): Refused {
  return { ok: false, requestId, code, closeCode: closeCodeOf(code), reason };
}
