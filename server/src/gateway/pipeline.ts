import { limits } from "@sluice/contract/limits";
import type { Network } from "@sluice/contract/tiers";
import type { AddressSet } from "@sluice/lib";
import { failureOf, pathOf, presentedKey } from "../http/index.ts";
import type { Grant, KeyRefusal } from "../keys/index.ts";
import type { LimitDecision } from "../limits/index.ts";
import type { ReadableBody } from "../net/index.ts";
import { readEnvelope } from "../rpc/index.ts";
import { admissionRefusal } from "./admission.ts";
import type { Answer } from "./answer.ts";
import { serveBatch } from "./batch.ts";
import type { BodyReads } from "./body-reads.ts";
import { type Caller, Exchange } from "./exchange.ts";
import { chooseNetwork } from "./network.ts";
import type { Overload } from "./overload.ts";
import { type Refusal, refusalAnswer, rpcCodeOf } from "./refusal.ts";
import { factOf } from "./served.ts";
import { serveSingle } from "./single.ts";
import type { Stages } from "./stages.ts";

export interface PipelineOptions {
  readonly networkDefault: Network;
  readonly trustedProxies: AddressSet;
}

export interface PipelineDependencies extends Stages {
  readonly requestId: () => string;
  readonly bodies: BodyReads;
  readonly overload: Pick<Overload, "admits">;
}

/** A request whose body can be read. */
export type Asked = Caller & ReadableBody;

/**
 * A JSON-RPC request's way, top to bottom. Each stage ends the request or hands it on; the order is the specification's
 * (node platform, Authentication 3), with what the door can see before it: nobody's body is read before their key is
 * known. While everything asked for is in memory and the body has come with its head, nothing here waits, and the answer is
 * written in the turn in which the request was read.
 *
 *   shed        beyond what can be answered in time              overload.ts
 *   admit       one Host, POST, JSON, declared length           admission.ts
 *   identify    key exists, key active                          keys
 *   place       which network                                   network.ts
 *   restrict    network, domain, address                        keys
 *   read        the body, in time and within its bound          body-reads.ts
 *   open        envelope: one call or a batch                   rpc
 *   meter       rate limit, then credits                        metering.ts
 *   answer      defaults, validation, cache, node               call.ts
 *   finish      id in its place, headers, the fact              single.ts, batch.ts
 */
export class Pipeline {
  readonly #options: PipelineOptions;
  readonly #stages: PipelineDependencies;

  constructor(options: PipelineOptions, dependencies: PipelineDependencies) {
    this.#options = options;
    this.#stages = dependencies;
  }

  /** Answers one request; never throws and never rejects. */
  handle(request: Asked): Answer | Promise<Answer> {
    const { clock } = this.#stages;
    const exchange = new Exchange(request, {
      requestId: this.#stages.requestId(),
      at: clock.now(),
      startedMs: clock.monotonic(),
      network: this.#options.networkDefault,
      trustedProxies: this.#options.trustedProxies,
    });
    try {
      if (!this.#stages.overload.admits(exchange.startedMs)) return this.#turnAway(exchange, { code: "OVERLOADED" });
      const refusal = admissionRefusal(request);
      if (refusal !== null) return this.#turnAway(exchange, refusal);
      const identified = this.#stages.access.identify(presentedKey(request.headers, request.target));
      if (!(identified instanceof Promise)) return this.#identified(request, exchange, identified);
      return identified
        .then((outcome) => this.#identified(request, exchange, outcome))
        .catch((fault) => this.#fault(exchange, fault));
    } catch (fault) {
      return this.#fault(exchange, fault);
    }
  }

  #identified(request: Asked, exchange: Exchange, grant: Grant | KeyRefusal): Answer | Promise<Answer> {
    if (!grant.ok) return this.#turnAway(exchange, { code: grant.code });
    exchange.grant = grant;
    const network = chooseNetwork(request, pathOf(request.target), this.#options.networkDefault);
    if (network === null) {
      return this.#refuse(exchange, grant, { code: "INVALID_REQUEST", message: "There is no network of that name" });
    }
    exchange.network = network;
    const restriction = this.#stages.access.restrict(grant, exchange);
    if (restriction !== null) return this.#refuse(exchange, grant, { code: restriction.code });
    const body = this.#stages.bodies.read(request, exchange.startedMs);
    return body instanceof Promise
      ? body.then((read) => this.#opened(exchange, grant, read))
      : this.#opened(exchange, grant, body);
  }

  /** From the body on. A malformed body takes a token as well, or garbage would be free of the rate limit. */
  #opened(exchange: Exchange, grant: Grant, body: string | Refusal): Answer | Promise<Answer> {
    try {
      if (typeof body !== "string") return this.#refuseMetered(exchange, grant, unreadable(exchange, body));
      exchange.bytesIn = body.length;
      const envelope = readEnvelope(body, limits.rpcBatchItems);
      if (envelope.kind === "refused") {
        const { code, message } = envelope;
        return this.#refuseMetered(
          exchange,
          grant,
          unreadable(exchange, message === null ? { code } : { code, message }),
        );
      }
      if (!this.#stages.rpc.hasNodes(exchange.network)) {
        const idJson = envelope.kind === "single" ? envelope.item.id : "null";
        return this.#refuseMetered(exchange, grant, { code: "NETWORK_UNAVAILABLE", idJson });
      }
      const answered =
        envelope.kind === "single"
          ? serveSingle(this.#stages, exchange, grant, envelope.item)
          : serveBatch(this.#stages, exchange, grant, envelope.items);
      return answered instanceof Promise ? answered.catch((fault: unknown) => this.#fault(exchange, fault)) : answered;
    } catch (fault) {
      return this.#fault(exchange, fault);
    }
  }

  /** Before anybody is known to have asked: counted, but nobody's fact. */
  #turnAway(exchange: Exchange, refusal: Refusal): Answer {
    this.#stages.events.requestRefused("rpc", refusal.code);
    return refusalAnswer(exchange, refusal);
  }

  #refuseMetered(exchange: Exchange, grant: Grant, refusal: Refusal): Answer | Promise<Answer> {
    const taken = this.#stages.access.meter(grant.buckets.requests);
    if (!(taken instanceof Promise)) return this.#refuseCounted(exchange, grant, refusal, taken);
    return taken.then((decision) => this.#refuseCounted(exchange, grant, refusal, decision));
  }

  #refuseCounted(exchange: Exchange, grant: Grant, refusal: Refusal, decision: LimitDecision | null): Answer {
    exchange.decision = decision;
    if (exchange.decision?.allowed !== false) return this.#refuse(exchange, grant, refusal);
    const { retryAfterSeconds } = exchange.decision;
    const limited: Refusal = { code: "RATE_LIMIT_EXCEEDED", details: { retryAfterSeconds } };
    return this.#refuse(exchange, grant, {
      ...limited,
      ...(refusal.idJson === undefined ? {} : { idJson: refusal.idJson }),
    });
  }

  #refuse(exchange: Exchange, grant: Grant, refusal: Refusal): Answer {
    const answer = refusalAnswer(exchange, refusal);
    this.#stages.served(
      factOf(exchange, grant, {
        method: "",
        status: answer.status,
        rpcCode: rpcCodeOf(refusal.code),
        latencyMs: this.#stages.clock.monotonic() - exchange.startedMs,
        bytesIn: exchange.bytesIn,
        bytesOut: 0,
        credits: 0,
        cache: "",
        upstream: "",
      }),
    );
    return answer;
  }

  /** A failure that a room threw with a code of ours is answered by it; anything else is a fault of this system. */
  #fault(exchange: Exchange, fault: unknown): Answer {
    const { code, message } = failureOf(fault);
    if (code !== "INTERNAL_ERROR") return this.#turnAway(exchange, { code, message });
    this.#stages.events.internalError("door", fault, { requestId: exchange.requestId });
    return refusalAnswer(exchange, { code });
  }
}

/** A body that was compressed is no JSON to us; its sender is told what is wrong rather than what it looks like. */
function unreadable(exchange: Exchange, refusal: Refusal): Refusal {
  const encoding = exchange.request.headers.get("content-encoding");
  if (refusal.code !== "PARSE_ERROR" || encoding === null || encoding.toLowerCase() === "identity") return refusal;
  return {
    code: "UNSUPPORTED_MEDIA_TYPE",
    message: "The body must not be compressed: no Content-Encoding is understood",
  };
}
