import { engineLimits } from "@sluice/contract/engine";
import { errorTable } from "@sluice/contract/errors";
import type { Permission } from "@sluice/contract/tiers";
import { bearerToken, presentedKey, queryParameter, writeRateLimitHeaders } from "../../http/index.ts";
import type { Searcher } from "../model/bundle.ts";
import type { EngineGrant, EngineKeys, EngineLimitDecision, EngineLimits } from "../model/ports.ts";
import { EngineRefusal, engineFailure } from "./failure.ts";

export interface AdmitDependencies {
  readonly keys: EngineKeys;
  readonly limits: EngineLimits;
}

/** What is known of a request before its body is read. */
export interface Incoming {
  readonly request: Request;
  readonly clientAddress: string;
  /** The headers that the answer will carry. */
  readonly headers: Record<string, string>;
}

/**
 * The key of a request to this door: as everywhere, and in the places where Jito's clients put theirs, `x-jito-auth` and
 * the query `uuid`.
 */
function engineKey({ headers, url }: Request): string | null {
  return presentedKey(headers, url) ?? jitoKey(headers.get("x-jito-auth")) ?? jitoKey(queryParameter(url, "uuid"));
}

const jitoKey = (value: string | null): string | null => {
  if (value === null || value === "") return null;
  return bearerToken(value) ?? value;
};

export const searcherOf = ({ accountId }: EngineGrant): Searcher => ({ id: accountId, accountId, pubkey: null });

function requireAllowed(decision: EngineLimitDecision, headers: Record<string, string>): void {
  writeRateLimitHeaders(headers, decision);
  if (decision.allowed) return;
  const { retryAfterSeconds } = decision;
  throw new EngineRefusal(engineFailure("RATE_LIMIT_EXCEEDED", { retryAfterSeconds }));
}

/** The checks before a request is looked at: its address's rate, its key, what the key may do. Throws EngineRefusal. */
export class Admit {
  readonly #deps: AdmitDependencies;

  constructor(dependencies: AdmitDependencies) {
    this.#deps = dependencies;
  }

  /** 100 requests a second for each address (spec: block engine, Limits). */
  async address({ clientAddress, headers }: Incoming): Promise<void> {
    const rate = engineLimits.restRequestsPerSecondPerAddress;
    requireAllowed(await this.#deps.limits.take(`engine-address:${clientAddress}`, rate, rate), headers);
  }

  async key(incoming: Incoming, permission: Permission): Promise<EngineGrant> {
    const { request, clientAddress } = incoming;
    const presented = engineKey(request);
    if (presented === null) throw new EngineRefusal(engineFailure("MISSING_API_KEY"));
    const grant = await this.#deps.keys.authenticate(presented);
    if ("refused" in grant) {
      const isOurs = grant.refused !== "INVALID_API_KEY" && grant.refused !== "KEY_INACTIVE";
      throw new EngineRefusal(engineFailure(isOurs ? "UNAVAILABLE" : "INVALID_API_KEY"));
    }
    const caller = {
      origin: request.headers.get("origin"),
      referer: request.headers.get("referer"),
      clientAddress,
    };
    const broken = this.#deps.keys.checkRestrictions(grant, caller);
    if (broken !== null)
      throw new EngineRefusal(engineFailure("PERMISSION_DENIED", { detail: errorTable[broken].text }));
    if (!grant.permissions.includes(permission)) {
      const detail = `The key lacks the permission ${permission}`;
      throw new EngineRefusal(engineFailure("PERMISSION_DENIED", { detail }));
    }
    return grant;
  }

  /** 50 submissions a second for each key (spec: block engine, Limits). */
  async submission(grant: EngineGrant, { headers }: Incoming): Promise<void> {
    const rate = engineLimits.restSubmissionsPerSecond;
    requireAllowed(await this.#deps.limits.take(`engine-bundles:${grant.keyId}`, rate, rate), headers);
  }
}
