import { engineLimits } from "@sluice/contract/engine";
import { errorTable } from "@sluice/contract/errors";
import { permissionOf } from "@sluice/contract/permissions";
import type { Permission } from "@sluice/contract/tiers";
import { type Access, type AdmissionCode, methodRefusalText, type Refusal } from "../../access/index.ts";
import { bearerToken, presentedKey, queryParameter, writeRateLimitHeaders } from "../../http/index.ts";
import type { Grant } from "../../keys/index.ts";
import type { LimitDecision } from "../../limits/index.ts";
import type { Searcher } from "../model/bundle.ts";
import { EngineRefusal, engineFailure, type ShownFailure } from "./failure.ts";

export interface AdmitDependencies {
  /** Access to the engine's network. */
  readonly access: Pick<Access, "admit" | "remembered" | "permitMethod" | "meter">;
}

/** What is known of a request before its body is read. */
export interface Incoming {
  readonly request: Request;
  readonly clientAddress: string;
  /** The headers that the answer will carry. */
  readonly headers: Record<string, string>;
  /**
   * The key's grant once it is known, also where it does not suffice; null where the key has none, undefined while it
   * has not been looked at.
   */
  grant: Grant | null | undefined;
  /** Whether a call of it has, or will have, a record of its own. */
  isRecorded: boolean;
}

/**
 * The key of a request to the REST endpoint: as everywhere, and in the places where Jito's clients put theirs,
 * `x-jito-auth` and the query `uuid`.
 */
function engineKey({ headers, url }: Request): string | null {
  return presentedKey(headers, url) ?? jitoKey(headers.get("x-jito-auth")) ?? jitoKey(queryParameter(url, "uuid"));
}

const jitoKey = (value: string | null): string | null => {
  if (value === null || value === "") return null;
  return bearerToken(value) ?? value;
};

export const searcherOf = ({ accountId }: Pick<Grant, "accountId">): Searcher => ({
  id: accountId,
  accountId,
  pubkey: null,
});

const restricted = ({ code }: Refusal): ShownFailure =>
  engineFailure("PERMISSION_DENIED", { detail: errorTable[code].text });

/** What each refusal of access is over REST. */
const failures: Readonly<Record<AdmissionCode, (refusal: Refusal, permission: Permission) => ShownFailure>> = {
  INVALID_API_KEY: () => engineFailure("INVALID_API_KEY"),
  KEY_INACTIVE: () => engineFailure("INVALID_API_KEY"),
  OVERLOADED: () => engineFailure("UNAVAILABLE"),
  STORE_UNAVAILABLE: () => engineFailure("UNAVAILABLE", { detail: errorTable.STORE_UNAVAILABLE.text }),
  NETWORK_NOT_ALLOWED: restricted,
  DOMAIN_NOT_ALLOWED: restricted,
  IP_NOT_ALLOWED: restricted,
  PERMISSION_DENIED: (_refusal, permission) =>
    engineFailure("PERMISSION_DENIED", { detail: `The key lacks the permission ${permission}` }),
};

function requireAllowed(decision: LimitDecision, headers: Record<string, string>): void {
  writeRateLimitHeaders(headers, decision);
  if (decision.allowed) return;
  const { retryAfterSeconds } = decision;
  throw new EngineRefusal(engineFailure("RATE_LIMIT_EXCEEDED", { retryAfterSeconds }));
}

/** The checks before a request is read: its address's rate, its key, what the key may do. Throws EngineRefusal. */
export class Admit {
  readonly #access: AdmitDependencies["access"];

  constructor(dependencies: AdmitDependencies) {
    this.#access = dependencies.access;
  }

  /** 100 requests a second for each address (spec: block engine, Limits). */
  async address({ clientAddress, headers }: Incoming): Promise<void> {
    await this.#meter(`engine-address:${clientAddress}`, engineLimits.restRequestsPerSecondPerAddress, headers);
  }

  /** Whose a request is: by its grant, or by what is in memory where it was refused before its key was looked at. */
  callerOf({ grant, request }: Incoming): Pick<Grant, "accountId" | "keyId"> | null {
    return grant === undefined ? this.#access.remembered(engineKey(request)) : grant;
  }

  /** @throws {EngineRefusal} when the key is missing, grants nothing, or does not hold the permission */
  async key(incoming: Incoming, permission: Permission): Promise<Grant> {
    const { request, clientAddress } = incoming;
    const presented = engineKey(request);
    if (presented === null) throw new EngineRefusal(engineFailure("MISSING_API_KEY"));
    const { headers } = request;
    const caller = { origin: headers.get("origin"), referer: headers.get("referer"), clientAddress };
    const grant = await this.#access.admit(presented, caller, [permission]);
    incoming.grant = grant.ok ? grant : (grant.grant ?? null);
    if (!grant.ok) throw new EngineRefusal(failures[grant.code](grant, permission));
    return grant;
  }

  /** The same for a call of JSON-RPC: what its method needs, and the key's list of methods. */
  async method(incoming: Incoming, method: string): Promise<Grant> {
    const grant = await this.key(incoming, permissionOf(method));
    const refusal = this.#access.permitMethod(grant, method);
    if (refusal === null) return grant;
    throw new EngineRefusal(engineFailure(refusal.code, { detail: methodRefusalText(refusal, method) }));
  }

  /** 50 submissions a second for each key (spec: block engine, Limits). */
  async submission({ keyId }: Pick<Grant, "keyId">, { headers }: Incoming): Promise<void> {
    await this.#meter(`engine-bundles:${keyId}`, engineLimits.restSubmissionsPerSecond, headers);
  }

  async #meter(bucket: string, rate: number, headers: Record<string, string>): Promise<void> {
    requireAllowed(await this.#access.meter([{ bucket, requestsPerSecond: rate, burst: rate }]), headers);
  }
}
