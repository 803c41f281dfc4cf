import { creditCost, itemsOf } from "@sluice/contract/credits";
import type { Network } from "@sluice/contract/tiers";
import type { Clock } from "@sluice/lib";
import type { Access } from "../../access/index.ts";
import { writeRateLimitHeaders } from "../../http/index.ts";
import type { Grant } from "../../keys/index.ts";
import type { RequestFact } from "../../ledger/index.ts";
import { EngineRefusal, engineFailure } from "./failure.ts";
import type { JitoAnswer, JitoCall } from "./jito-rpc.ts";

export interface MeteringDependencies {
  readonly access: Pick<Access, "meter" | "charge" | "refund" | "shortage">;
  readonly clock: Pick<Clock, "now" | "monotonic">;
  /** Receives the fact of every call that has a price; must not block or throw. */
  readonly served: (fact: RequestFact) => void;
}

/**
 * Credits of a call of JSON-RPC: what it costs at the gateway, where nodes answer it. Bundles cost none, and a
 * transaction that lands as a bundle or not at all is one.
 */
export function priceOf({ method, params, bundleOnly }: Pick<JitoCall, "method" | "params" | "bundleOnly">): number {
  if (method === "sendTransaction") return bundleOnly ? 0 : creditCost(method);
  return method === "simulateBundle" ? creditCost(method, itemsOf(method, params)) : 0;
}

interface Metered {
  readonly requestId: string;
  readonly network: Network;
  readonly grant: Grant;
  readonly call: Pick<JitoCall, "method" | "params" | "bundleOnly">;
  readonly bytesIn: number;
}

/**
 * One call that has a price, metered as the gateway meters it: its rate, then its credits, which come back when nobody
 * but this engine answers; and one fact of it, whatever its end.
 */
export class MeteredCall {
  readonly #metered: Metered;
  readonly #dependencies: MeteringDependencies;
  readonly #price: number;
  readonly #startedMs: number;
  readonly #at: number;
  #paid = 0;

  constructor(metered: Metered, dependencies: MeteringDependencies) {
    this.#metered = metered;
    this.#dependencies = dependencies;
    this.#price = priceOf(metered.call);
    this.#startedMs = dependencies.clock.monotonic();
    this.#at = dependencies.clock.now();
  }

  /**
   * Takes the call's rate and credits, has it answered, and gives the credits back where no node was asked or answered.
   * `headers` receive the state of the bucket.
   *
   * @throws {EngineRefusal} when the rate or the credits do not cover the call
   */
  async answer(headers: Record<string, string>, answer: () => Promise<JitoAnswer>): Promise<JitoAnswer> {
    const { call, grant } = this.#metered;
    const { access } = this.#dependencies;
    if (call.method === "sendTransaction") {
      const decision = await access.meter(grant.buckets.send);
      writeRateLimitHeaders(headers, decision);
      const { allowed, retryAfterSeconds } = decision;
      if (!allowed) throw new EngineRefusal(engineFailure("RATE_LIMIT_EXCEEDED", { retryAfterSeconds }));
    }
    if (!(await access.charge(grant, this.#price))) {
      const { message } = access.shortage(grant, this.#price);
      throw new EngineRefusal(engineFailure("INSUFFICIENT_CREDITS", { detail: message }));
    }
    this.#paid = this.#price;
    let isAnswered = false;
    try {
      const answered = await answer();
      isAnswered = answered.ok || answered.isNodes === true;
      return answered;
    } finally {
      if (!isAnswered) this.#refund();
    }
  }

  /** The call has been answered with this status, and with this JSON-RPC code where it failed. */
  served({ status, code, rpcCode, bytesOut }: Pick<RequestFact, "status" | "code" | "rpcCode" | "bytesOut">): void {
    const { clock, served } = this.#dependencies;
    const { requestId, network, grant, call, bytesIn } = this.#metered;
    const { accountId, keyId } = grant;
    served({
      at: this.#at,
      requestId,
      accountId,
      keyId,
      network,
      door: "engine",
      method: call.method,
      status,
      rpcCode,
      latencyMs: clock.monotonic() - this.#startedMs,
      bytesIn,
      bytesOut,
      credits: this.#paid,
      code,
      cache: "",
      upstream: "",
    });
  }

  #refund(): void {
    this.#dependencies.access.refund(this.#metered.grant, this.#paid, this.#at);
    this.#paid = 0;
  }
}
