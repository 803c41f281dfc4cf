import { SluiceError } from "@sluice/contract/errors";
import type { Permission } from "@sluice/contract/tiers";
import type { Context } from "hono";
import { presentedKey, type RestEnvironment, writeRateLimitHeaders } from "../http/index.ts";
import type { Grant, Refusal } from "../keys/index.ts";
import type { LimitDecision, SharedLimits } from "../limits/index.ts";

export interface AdmittanceDependencies {
  /** What the presented key may do, its restrictions checked for a request that is of no network. */
  readonly authenticate: (
    key: string | null,
    request: Request,
    socketAddress: string,
  ) => Grant | Refusal | Promise<Grant | Refusal>;
  readonly limits: Pick<SharedLimits, "take">;
}

/** Who manages: a key and what it may do. */
export interface Caller {
  readonly keyId: string;
  readonly accountId: string;
  readonly permissions: readonly Permission[];
  /** Whether it may see and change every account. */
  readonly isOperator: boolean;
}

/**
 * The checks before every route of usage and administration, in the order of all doors: key, restrictions, rate,
 * permission. Cookies are no way in: a page of another site could send them along.
 */
export class Admittance {
  readonly #dependencies: AdmittanceDependencies;

  constructor(dependencies: AdmittanceDependencies) {
    this.#dependencies = dependencies;
  }

  /**
   * The caller, when its key has one of the permissions; `admin` has them all. Throws the code that refuses it. A change
   * that a page of another origin makes is refused, whatever key it has.
   */
  async admit(context: Context<RestEnvironment>, ...oneOf: readonly Permission[]): Promise<Caller> {
    const grant = await this.#grantOf(context);
    const decision = await this.#take(grant);
    const headers: Record<string, string> = {};
    writeRateLimitHeaders(headers, decision);
    for (const [name, value] of Object.entries(headers)) context.header(name, value);
    if (!decision.allowed) {
      throw new SluiceError("RATE_LIMIT_EXCEEDED", { details: { retryAfterSeconds: decision.retryAfterSeconds } });
    }
    requireOwnOrigin(context.req.raw);
    return requirePermission(grant, oneOf);
  }

  /** The same without taking from the rate: for streams, which ask again at each message. */
  async admitAgain(context: Context<RestEnvironment>, ...oneOf: readonly Permission[]): Promise<Caller> {
    return requirePermission(await this.#grantOf(context), oneOf);
  }

  /** A token of each bucket that binds the key; the answer is the narrowest's, or that of the one that refuses. */
  async #take(grant: Grant): Promise<LimitDecision> {
    const [narrowest, ...wider] = grant.buckets.requests;
    const { limits } = this.#dependencies;
    const first = await limits.take(narrowest.bucket, narrowest.requestsPerSecond, narrowest.burst);
    if (!first.allowed) return first;
    for (const { bucket, requestsPerSecond, burst } of wider) {
      const decision = await limits.take(bucket, requestsPerSecond, burst);
      if (!decision.allowed) return decision;
    }
    return first;
  }

  async #grantOf(context: Context<RestEnvironment>): Promise<Grant> {
    const request = context.req.raw;
    // Without a second argument to fetch there is no env at all, whatever its type says.
    const env = context.env as RestEnvironment["Bindings"] | undefined;
    const key = presentedKey(request.headers, request.url);
    const grant = await this.#dependencies.authenticate(key, request, env?.socketAddress ?? "");
    if ("refused" in grant) throw new SluiceError(grant.refused);
    return grant;
  }
}

function requirePermission(grant: Grant, oneOf: readonly Permission[]): Caller {
  const { keyId, accountId, permissions } = grant;
  const isOperator = permissions.includes("admin");
  if (!isOperator && !oneOf.some((permission) => permissions.includes(permission))) {
    throw new SluiceError("PERMISSION_DENIED", {
      message: `The API key needs the permission ${oneOf.join(" or ")}`,
    });
  }
  return { keyId, accountId, permissions, isOperator };
}

function requireOwnOrigin({ method, headers }: Request): void {
  if (method === "GET" || method === "HEAD") return;
  const origin = headers.get("origin");
  const site = headers.get("sec-fetch-site");
  const isOwn = origin === null || origin.replace(/^https?:\/\//, "") === headers.get("host");
  if (isOwn && (site === null || site === "same-origin" || site === "none")) return;
  throw new SluiceError("PERMISSION_DENIED", { message: "The request comes from another origin" });
}
