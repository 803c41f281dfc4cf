import type { Clock } from "@sluice/lib";
import type { Access } from "../../access/index.ts";
import type { Allowance } from "../../credits/index.ts";
import { hasSingleHost, preflightResponse, presentedKey } from "../../http/index.ts";
import type { Grant } from "../../keys/index.ts";
import { LedgerUnavailableError } from "../../ledger/index.ts";
import type { OracleEvents } from "../model/events.ts";
import { isoTime } from "../model/quotation.ts";
import {
  type Admitted,
  admissionFailure,
  quotaFailure,
  type RateState,
  readPermission,
  takeRate,
  tierOf,
} from "./admission.ts";
import { failureBody, OracleFailure, type Variant } from "./failure.ts";
import { type Deprecation, sharedHeaders, writeFailure, writeRate } from "./headers.ts";
import { Query } from "./parameters.ts";
import type { RequestStats } from "./request-stats.ts";
import { type Outcome, type Route, RouteBook, type RouteMatch } from "./route.ts";

export interface OracleHttpDependencies {
  readonly clock: Clock;
  readonly routes: readonly Route[];
  readonly access: Pick<Access, "admit" | "callerOf" | "meter">;
  readonly allowances: Readonly<Record<Variant, Allowance>>;
  readonly stats: RequestStats;
  readonly requestId: () => string;
  readonly events: Pick<OracleEvents, "requestServed" | "requestRefused" | "internalError">;
}

export interface OracleBindings {
  readonly requestId?: string;
  readonly socketAddress?: string;
}

/** What is known of one request on its way. */
interface Exchange {
  readonly request: Request;
  readonly requestId: string;
  readonly variant: Variant;
  readonly atMs: number;
  readonly startedMs: number;
  route: Route | null;
  grant: Grant | null;
  rate: RateState | null;
}

const methods = ["GET", "HEAD"] as const;
/** Paths of the second variant; everything else, unknown paths among it, speaks the first one's form. */
const variantOf = (path: string): Variant => (path === "/v1" || path.startsWith("/v1/") ? "v2" : "v1");

/**
 * The oracle's HTTP: both variants on one port. A request passes, in this order: method and path, key, restrictions, rate,
 * the month's allowance, and only then its parameters are read and the answer is made. It never throws.
 */
export class OracleHttp {
  readonly #dependencies: OracleHttpDependencies;
  readonly #routes: RouteBook;
  readonly #shared: Readonly<Record<string, string>>;

  constructor(options: Deprecation, dependencies: OracleHttpDependencies) {
    this.#dependencies = dependencies;
    this.#routes = new RouteBook(dependencies.routes);
    this.#shared = sharedHeaders(options);
  }

  fetch(request: Request, bindings: OracleBindings = {}): Response | Promise<Response> {
    const { clock } = this.#dependencies;
    const path = pathOf(request.url);
    const exchange: Exchange = {
      request,
      requestId: bindings.requestId ?? this.#dependencies.requestId(),
      variant: variantOf(path),
      atMs: clock.now(),
      startedMs: clock.monotonic(),
      route: null,
      grant: null,
      rate: null,
    };
    try {
      const found = this.#routes.find(path);
      if (request.method === "OPTIONS") return this.#preflight(exchange, found);
      const outcome = this.#outcome(exchange, found, bindings.socketAddress ?? "");
      if (!(outcome instanceof Promise)) return this.#respond(exchange, outcome);
      return outcome.then(
        (settled) => this.#respond(exchange, settled),
        (fault) => this.#fault(exchange, fault),
      );
    } catch (fault) {
      return this.#fault(exchange, fault);
    }
  }

  #preflight(exchange: Exchange, found: RouteMatch): Response {
    const requested = exchange.request.headers.get("access-control-request-headers");
    return preflightResponse(requested, found === null ? ["OPTIONS"] : [...methods, "OPTIONS"], exchange.requestId);
  }

  #outcome(exchange: Exchange, found: RouteMatch, socketAddress: string): Outcome | Promise<Outcome> {
    const { request } = exchange;
    const { headers } = request;
    if (!hasSingleHost(headers)) {
      return new OracleFailure("INVALID_PARAMETER", { message: "A request names one host" });
    }
    if (found === null) return new OracleFailure("NOT_FOUND");
    if (request.method !== "GET" && request.method !== "HEAD") {
      return new OracleFailure("METHOD_NOT_ALLOWED", { allow: methods });
    }
    exchange.route = found.route;
    const presented = presentedKey(headers, request.url);
    const caller = this.#dependencies.access.callerOf(headers, socketAddress);
    const admitted = this.#dependencies.access.admit(presented, caller, readPermission);
    const enter = (outcome: Awaited<typeof admitted>): Outcome | Promise<Outcome> => {
      exchange.grant = outcome.ok ? outcome : (outcome.grant ?? null);
      if (outcome.ok) return this.#admitted(exchange, found, outcome);
      // Without a grant the refusal is of no account, so it is counted by its code alone.
      if (exchange.grant === null) this.#dependencies.events.requestRefused(outcome.code);
      return admissionFailure(outcome, presented);
    };
    return admitted instanceof Promise ? admitted.then(enter) : enter(admitted);
  }

  async #admitted(exchange: Exchange, found: NonNullable<RouteMatch>, grant: Grant): Promise<Outcome> {
    const { request, variant } = exchange;
    const admitted: Admitted = { grant, ...tierOf(grant, variant) };
    const { state, failure } = await takeRate(this.#dependencies.access, variant, admitted);
    exchange.rate = state;
    if (failure !== null) return failure;
    const answer = (): Outcome | Promise<Outcome> =>
      found.route.answer({
        variant,
        parameter: found.parameter,
        query: new Query(request.url),
        ...admitted,
        nowMs: exchange.atMs,
      });
    return found.route.counted ? this.#counted(exchange, admitted, answer) : answer();
  }

  /** Takes one of the month's requests before the answer is made, and gives it back when there is none. */
  #counted(
    { atMs, variant }: Exchange,
    { grant, terms }: Admitted,
    answer: () => Outcome | Promise<Outcome>,
  ): Outcome | Promise<Outcome> {
    const allowance = this.#dependencies.allowances[variant];
    const monthly = terms.requestsMonthly === null ? null : BigInt(terms.requestsMonthly);
    const refund = (): void => allowance.refund(grant.accountId, 1, atMs);
    const settle = (outcome: Outcome): Outcome => {
      if (outcome instanceof OracleFailure) refund();
      return outcome;
    };
    const go = (): Outcome | Promise<Outcome> => {
      try {
        const outcome = answer();
        if (!(outcome instanceof Promise)) return settle(outcome);
        return outcome.then(settle, (fault) => {
          refund();
          throw fault;
        });
      } catch (fault) {
        refund();
        throw fault;
      }
    };
    const taken = allowance.take(grant.accountId, monthly, 1);
    if (typeof taken === "boolean") return taken ? go() : quotaFailure(terms, atMs);
    return taken.then(
      (isTaken) => (isTaken ? go() : quotaFailure(terms, atMs)),
      () => new OracleFailure("SERVICE_UNAVAILABLE"),
    );
  }

  #fault(exchange: Exchange, fault: unknown): Response {
    // A ledger that is being started again is no fault of the request's, and histories come back with it.
    if (fault instanceof LedgerUnavailableError) {
      return this.#respond(exchange, new OracleFailure("SERVICE_UNAVAILABLE"));
    }
    this.#dependencies.events.internalError("oracle", fault);
    return this.#respond(exchange, new OracleFailure("INTERNAL_ERROR"));
  }

  #respond(exchange: Exchange, outcome: Outcome): Response {
    const { clock, events, stats } = this.#dependencies;
    const headers: Record<string, string> = { ...this.#shared, "X-Request-Id": exchange.requestId };
    if (exchange.rate !== null) writeRate(headers, exchange.rate);
    let status = 200;
    let body: string;
    if (outcome instanceof OracleFailure) {
      status = outcome.status;
      body = failureBody(outcome, exchange.variant, isoTime(exchange.atMs));
      writeFailure(headers, outcome);
    } else body = outcome;
    const latencyMs = clock.monotonic() - exchange.startedMs;
    stats.add(status, latencyMs);
    if (exchange.grant !== null && exchange.route !== null) {
      events.requestServed({
        at: exchange.atMs,
        requestId: exchange.requestId,
        accountId: exchange.grant.accountId,
        keyId: exchange.grant.keyId,
        network: "",
        door: "rest",
        method: exchange.route.path,
        status,
        rpcCode: null,
        latencyMs,
        bytesIn: 0,
        bytesOut: body.length,
        credits: 0,
        cache: "",
        upstream: "",
      });
    }
    if (exchange.request.method !== "HEAD") return new Response(body, { status, headers });
    headers["Content-Length"] = String(Buffer.byteLength(body));
    return new Response(null, { status, headers });
  }
}

/** The path of an absolute URL, without its query. */
function pathOf(url: string): string {
  const start = url.indexOf("/", url.indexOf("//") + 2);
  if (start < 0) return "/";
  const query = url.indexOf("?", start);
  return query < 0 ? url.slice(start) : url.slice(start, query);
}
