import { SluiceError } from "@sluice/contract/errors";
import type { Permission } from "@sluice/contract/tiers";
import type { Context } from "hono";
import type { Access } from "../access/index.ts";
import { presentedKey, type RestEnvironment, writeRateLimitHeaders } from "../http/index.ts";
import type { Grant } from "../keys/index.ts";

export interface AdminAccessDependencies {
  /** Access for requests that belong to no network. */
  readonly access: Pick<Access, "admit" | "callerOf" | "permit" | "meter">;
}

/** Who manages: a key and what it may do. */
export interface AdminCaller {
  readonly keyId: string;
  readonly accountId: string;
  readonly permissions: readonly Permission[];
  /** Whether it may see and change every account. */
  readonly isOperator: boolean;
}

/**
 * The checks before every route of usage and administration, in the order of all endpoints: key, restrictions, rate,
 * permission. Cookies are no way in: a page of another site could send them along.
 */
export class AdminAccess {
  readonly #access: AdminAccessDependencies["access"];

  constructor(dependencies: AdminAccessDependencies) {
    this.#access = dependencies.access;
  }

  /**
   * The caller, when its key has one of the permissions; `admin` has them all. A change that a page of another origin
   * makes is refused, whatever key it has.
   *
   * @throws {SluiceError} with the code that refuses the request
   */
  async admit(context: Context<RestEnvironment>, ...oneOf: readonly Permission[]): Promise<AdminCaller> {
    const grant = await this.#grantOf(context);
    const decision = await this.#access.meter(grant.buckets.requests);
    const headers: Record<string, string> = {};
    writeRateLimitHeaders(headers, decision);
    for (const [name, value] of Object.entries(headers)) context.header(name, value);
    if (!decision.allowed) {
      throw new SluiceError("RATE_LIMIT_EXCEEDED", { details: { retryAfterSeconds: decision.retryAfterSeconds } });
    }
    requireOwnOrigin(context.req.raw);
    return this.#callerOf(grant, oneOf);
  }

  /** The same without taking from the rate: for streams, which ask again at each message. */
  async admitAgain(context: Context<RestEnvironment>, ...oneOf: readonly Permission[]): Promise<AdminCaller> {
    return this.#callerOf(await this.#grantOf(context), oneOf);
  }

  async #grantOf(context: Context<RestEnvironment>): Promise<Grant> {
    const { headers, url } = context.req.raw;
    // Without a second argument to fetch there is no env at all, whatever its type says.
    const env = context.env as RestEnvironment["Bindings"] | undefined;
    const caller = this.#access.callerOf(headers, env?.socketAddress ?? "");
    const grant = await this.#access.admit(presentedKey(headers, url), caller);
    if (!grant.ok) throw new SluiceError(grant.code);
    return grant;
  }

  #callerOf(grant: Grant, oneOf: readonly Permission[]): AdminCaller {
    const refusal = this.#access.permit(grant, ["admin", ...oneOf]);
    if (refusal !== null) {
      const message = `The API key needs the permission ${oneOf.join(" or ")}`;
      throw new SluiceError(refusal.code, { message });
    }
    const { keyId, accountId, permissions } = grant;
    return { keyId, accountId, permissions, isOperator: permissions.includes("admin") };
  }
}

function requireOwnOrigin({ method, headers }: Request): void {
  if (method === "GET" || method === "HEAD") return;
  const origin = headers.get("origin");
  const site = headers.get("sec-fetch-site");
  const isOwn = origin === null || origin.replace(/^https?:\/\//, "") === headers.get("host");
  if (isOwn && (site === null || site === "same-origin" || site === "none")) return;
  throw new SluiceError("PERMISSION_DENIED", { message: "The request comes from another origin" });
}
