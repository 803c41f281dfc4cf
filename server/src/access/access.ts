import { permissionOf } from "@sluice/contract/permissions";
import type { Network, Permission } from "@sluice/contract/tiers";
import type { AddressSet } from "@sluice/lib";
import type { Credits } from "../credits/index.ts";
import { clientAddress, type HeaderReader, isForwardedTls } from "../http/index.ts";
import {
  allowsMethod,
  type Grant,
  type KeyRefusal,
  type Keys,
  type RateBucket,
  type RestrictedRequest,
  type RestrictionCode,
} from "../keys/index.ts";
import type { LimitDecision, RateLimiter } from "../limits/index.ts";
import type { AdmissionCode, MethodCode, Refusal } from "./refusal.ts";

export interface AccessOptions {
  /** Proxies whose X-Forwarded-For is believed. */
  readonly trustedProxies: AddressSet;
  /** The network that `admit` checks a key's networks against; null where requests belong to none. */
  readonly network?: Network | null;
  /** Whether the endpoint whose clients are asked for TLS has it of its own. */
  readonly hasTls?: boolean;
}

export interface AccessDependencies {
  readonly keys: Pick<Keys, "authenticate" | "remembered" | "checkRestrictions">;
  readonly limits: RateLimiter;
  readonly credits: Pick<Credits, "take" | "refund" | "balance">;
}

/** Where a request comes from, as a key's domains and addresses are checked against it. */
export type Caller = Omit<RestrictedRequest, "network">;

/** Too few credits: in words, and what a request costs, what is left, and when (ISO 8601) the next month begins. */
export interface Shortage {
  readonly message: string;
  readonly details: { readonly price: number; readonly remaining: number; readonly reset: string };
}

/**
 * Who may make a request. The steps are: `identify` the key, `restrict` it to its networks, domains and addresses,
 * `permit` what the request does, `meter` its rate (and `charge` credits). `admit` runs the first three in this order;
 * an endpoint whose specification puts something between two steps calls the steps one by one.
 *
 * A step answers at once while the key, the bucket and the credits are in memory; a promise only while a store is
 * asked.
 */
export class Access {
  readonly #options: AccessOptions;
  readonly #dependencies: AccessDependencies;
  readonly #network: Network | null;

  constructor(options: AccessOptions, dependencies: AccessDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
    this.#network = options.network ?? null;
  }

  /** The same access for the requests of one network. */
  on(network: Network): Access {
    return new Access({ ...this.#options, network }, this.#dependencies);
  }

  /** Where a request comes from. `socketAddress` is the peer's; X-Forwarded-For counts behind a trusted proxy only. */
  callerOf(headers: HeaderReader, socketAddress: string): Caller {
    return {
      origin: headers.get("origin"),
      referer: headers.get("referer"),
      clientAddress: clientAddress(socketAddress, headers.get("x-forwarded-for"), this.#options.trustedProxies),
    };
  }

  /** Whether the client is on TLS: the endpoint's own, or that of a trusted proxy by its word. */
  isOverTls(headers: HeaderReader, socketAddress: string): boolean {
    return this.#options.hasTls === true || isForwardedTls(headers, socketAddress, this.#options.trustedProxies);
  }

  /** Steps 1 to 3: the key's grant, or the first refusal. `oneOf` is as for `permit`; without it any key may go on. */
  admit(
    presented: string | null,
    caller: Caller,
    oneOf: readonly Permission[] | null = null,
  ): Grant | Refusal<AdmissionCode> | Promise<Grant | Refusal<AdmissionCode>> {
    const identified = this.identify(presented);
    if (identified instanceof Promise) return identified.then((outcome) => this.admitted(outcome, caller, oneOf));
    return this.admitted(identified, caller, oneOf);
  }

  /** Steps 2 and 3 for a key that is identified already. */
  admitted(
    outcome: Grant | KeyRefusal,
    caller: Caller,
    oneOf: readonly Permission[] | null,
  ): Grant | Refusal<AdmissionCode> {
    if (!outcome.ok) return outcome;
    const restricted = this.restrict(outcome, { ...caller, network: this.#network });
    if (restricted !== null) return restricted;
    return (oneOf === null ? null : this.permit(outcome, oneOf)) ?? outcome;
  }

  /** Step 1: what the presented key may do. See `Keys.authenticate`. */
  identify(presented: string | null): Grant | KeyRefusal | Promise<Grant | KeyRefusal> {
    return this.#dependencies.keys.authenticate(presented);
  }

  /** Whose a request is that is refused before its key is looked at. See `Keys.remembered`. */
  remembered(presented: string | null): Grant | null {
    return presented === null ? null : this.#dependencies.keys.remembered(presented);
  }

  /** Step 2: null when the key may be used for this network, from this page and address. */
  restrict(grant: Grant, request: RestrictedRequest): Refusal<RestrictionCode> | null {
    const code = this.#dependencies.keys.checkRestrictions(grant, request);
    return code === null ? null : { ok: false, code, grant };
  }

  /** Step 3: null when the key holds at least one of the permissions. */
  permit(grant: Grant, oneOf: readonly Permission[]): Refusal<"PERMISSION_DENIED"> | null {
    if (oneOf.some((permission) => grant.permissions.includes(permission))) return null;
    return { ok: false, code: "PERMISSION_DENIED", grant };
  }

  /** The same for a call of JSON-RPC: null when the key holds what the method needs, and may call it. */
  permitMethod(grant: Grant, method: string): Refusal<MethodCode> | null {
    if (!grant.permissions.includes(permissionOf(method))) return { ok: false, code: "PERMISSION_DENIED", grant };
    if (grant.methods === null || allowsMethod(grant.methods, method)) return null;
    return { ok: false, code: "METHOD_NOT_PERMITTED", grant };
  }

  /**
   * Step 4: takes `cost` tokens from each bucket in turn. The decision is that of the bucket that refuses, else that of
   * the first, which is the narrowest. A bucket that was passed before another refused keeps what it took: the request
   * was made, and only the wider limit stopped it.
   */
  meter(buckets: readonly [RateBucket, ...RateBucket[]], cost = 1): LimitDecision | Promise<LimitDecision> {
    const { limits } = this.#dependencies;
    const [narrowest] = buckets;
    const first = limits.take(narrowest.bucket, narrowest.requestsPerSecond, narrowest.burst, cost);
    // Most keys have one bucket: what it answers is passed on as it is, and no later.
    if (buckets.length === 1) return first;
    if (first instanceof Promise) return first.then((decision) => this.#meterRest(buckets, cost, decision, 1));
    for (let index = 1; index < buckets.length && first.allowed; index += 1) {
      const { bucket, requestsPerSecond, burst } = buckets[index] ?? narrowest;
      const decision = limits.take(bucket, requestsPerSecond, burst, cost);
      if (decision instanceof Promise) {
        const next = index + 1;
        return decision.then((wider) => (wider.allowed ? this.#meterRest(buckets, cost, first, next) : wider));
      }
      if (!decision.allowed) return decision;
    }
    return first;
  }

  /** Takes `cost` credits of the account's month, all or none; false when they are used up. See `Credits.take`. */
  charge(grant: Pick<Grant, "accountId" | "creditsMonthly">, cost: number): boolean | Promise<boolean> {
    return cost === 0 ? true : this.#dependencies.credits.take(grant.accountId, grant.creditsMonthly, cost);
  }

  /** Gives back what `charge` took. `takenAtMs` (Unix ms) says which month was charged. */
  refund(grant: Pick<Grant, "accountId">, cost: number, takenAtMs: number): void {
    this.#dependencies.credits.refund(grant.accountId, cost, takenAtMs);
  }

  /** Why `charge` refused the cost, for the answer of `subject`. See `Credits.balance`. */
  shortage(grant: Pick<Grant, "accountId">, price: number, subject = "call"): Shortage {
    const { remaining, resetsAtMs } = this.#dependencies.credits.balance(grant.accountId);
    const reset = new Date(resetsAtMs).toISOString();
    const message = `The ${subject} costs ${price} credits, and ${remaining} are left until ${reset}`;
    return { message, details: { price, remaining, reset } };
  }

  async #meterRest(
    buckets: readonly RateBucket[],
    cost: number,
    first: LimitDecision,
    next: number,
  ): Promise<LimitDecision> {
    if (!first.allowed) return first;
    for (const { bucket, requestsPerSecond, burst } of buckets.slice(next)) {
      const decision = await this.#dependencies.limits.take(bucket, requestsPerSecond, burst, cost);
      if (!decision.allowed) return decision;
    }
    return first;
  }
}
