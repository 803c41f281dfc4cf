import { SluiceError } from "@sluice/contract/errors";
import type { Permission } from "@sluice/contract/tiers";
import type { Context } from "hono";
import type { Access, AdmissionCode, Refusal } from "../access/index.ts";
import { presentedKey, type RestEnvironment } from "../http/index.ts";
import type { Grant } from "../keys/index.ts";

export interface AdminAccessDependencies {
  /** Access for requests that belong to no network. */
  readonly access: Pick<Access, "admit" | "callerOf" | "meter">;
}

/** Who manages: a key and what it may do, or an operator at the server's own machine, who has no key. */
export interface AdminCaller {
  /** Its name in the trail: the id of the key, or `operator`. */
  readonly actor: string;
  readonly keyId: string | null;
  readonly accountId: string | null;
  /** Whether it may see and change every account. */
  readonly isOperator: boolean;
}

/** The checks before a route of usage and administration. */
export interface Admission {
  /**
   * The caller, when it has one of the permissions; `admin` has them all.
   *
   * @throws {SluiceError} with the code that refuses the request
   */
  admit(context: Context<RestEnvironment>, ...oneOf: readonly Permission[]): Promise<AdminCaller>;
  /** The same without taking from the rate: for streams, which ask again at each message. */
  admitAgain(context: Context<RestEnvironment>, ...oneOf: readonly Permission[]): Promise<AdminCaller>;
}

/**
 * Admission of whoever reaches the endpoint: for the Unix socket, which only its owner may open. All are one operator
 * without a key.
 */
export function operatorAdmission(actor: string): Admission {
  const caller: AdminCaller = { actor, keyId: null, accountId: null, isOperator: true };
  return { admit: async () => caller, admitAgain: async () => caller };
}

/**
 * The checks before every route of usage and administration, in the order of all endpoints: key, restrictions,
 * permission, rate. Cookies are no way in: a page of another site could send them along.
 */
export class AdminAccess implements Admission {
  readonly #access: AdminAccessDependencies["access"];

  constructor(dependencies: AdminAccessDependencies) {
    this.#access = dependencies.access;
  }

  /** A change that a page of another origin makes is refused, whatever key it has. */
  async admit(context: Context<RestEnvironment>, ...oneOf: readonly Permission[]): Promise<AdminCaller> {
    const grant = await this.#grantOf(context, oneOf);
    await takeRequest(this.#access, context, grant);
    requireOwnOrigin(context.req.raw);
    return callerOf(grant);
  }

  async admitAgain(context: Context<RestEnvironment>, ...oneOf: readonly Permission[]): Promise<AdminCaller> {
    return callerOf(await this.#grantOf(context, oneOf));
  }

  async #grantOf(context: Context<RestEnvironment>, oneOf: readonly Permission[]): Promise<Grant> {
    const { headers, url } = context.req.raw;
    // Without a second argument to fetch there is no env at all, whatever its type says.
    const env = context.env as RestEnvironment["Bindings"] | undefined;
    const caller = this.#access.callerOf(headers, env?.socketAddress ?? "");
    const outcome = await this.#access.admit(presentedKey(headers, url), caller, oneOf);
    return await grantedOrThrow(this.#access, context, { outcome, oneOf });
  }
}

type Metering = Pick<Access, "meter">;

/**
 * What the key may do. The answer to a key that was accepted and is refused states its rate, and takes nothing of it.
 *
 * @throws {SluiceError} with the code of a refusal; a missing permission is named
 */
export async function grantedOrThrow(
  access: Metering,
  context: Context<RestEnvironment>,
  { outcome, oneOf }: { readonly outcome: Grant | Refusal<AdmissionCode>; readonly oneOf: readonly Permission[] },
): Promise<Grant> {
  if (outcome.ok) return outcome;
  if (outcome.grant !== undefined) context.set("rateLimit", await access.meter(outcome.grant.buckets.requests, 0));
  if (outcome.code !== "PERMISSION_DENIED") throw new SluiceError(outcome.code);
  throw new SluiceError(outcome.code, { message: `The API key needs the permission ${oneOf.join(" or ")}` });
}

/**
 * Takes one request of the key's rate; the answer states what is left, whatever it is.
 *
 * @throws {SluiceError} RATE_LIMIT_EXCEEDED
 */
export async function takeRequest(
  access: Metering,
  context: Context<RestEnvironment>,
  { buckets }: Pick<Grant, "buckets">,
): Promise<void> {
  const decision = await access.meter(buckets.requests);
  context.set("rateLimit", decision);
  if (decision.allowed) return;
  throw new SluiceError("RATE_LIMIT_EXCEEDED", { details: { retryAfterSeconds: decision.retryAfterSeconds } });
}

function callerOf({ keyId, accountId, permissions }: Grant): AdminCaller {
  return { actor: keyId, keyId, accountId, isOperator: permissions.includes("admin") };
}

function requireOwnOrigin({ method, headers }: Request): void {
  if (method === "GET" || method === "HEAD") return;
  const origin = headers.get("origin");
  const site = headers.get("sec-fetch-site");
  const isOwn = origin === null || origin.replace(/^https?:\/\//, "") === headers.get("host");
  if (isOwn && (site === null || site === "same-origin" || site === "none")) return;
  throw new SluiceError("PERMISSION_DENIED", { message: "The request comes from another origin" });
}
