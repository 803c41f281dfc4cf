import type { Clock } from "@sluice/lib";
import type { Access } from "../../access/index.ts";
import type { Allowance } from "../../credits/index.ts";
import { preflightResponse, presentedKey, type RateLimitState } from "../../http/index.ts";
import type { Grant } from "../../keys/index.ts";
import { LedgerUnavailableError } from "../../ledger/index.ts";
import type { OracleEvents } from "../model/events.ts";
import { isoTime } from "../model/quotation.ts";
import { type Admitted, admissionError, quotaError, readPermission, takeRate, tierOf } from "./admission.ts";
import { type Deprecation, sharedHeaders, writeError, writeQuota, writeRate } from "./headers.ts";
import type { MonthState, MonthUsage } from "./month-usage.ts";
import { errorBody, OracleError, type Variant } from "./oracle-error.ts";
import { decodedParameter, Query } from "./parameters.ts";
import type { RequestStats } from "./request-stats.ts";
import { type Route, type RouteMatch, RouteTable } from "./route.ts";

export interface OracleHttpDependencies {
  readonly clock: Clock;
  readonly routes: readonly Route[];
  readonly access: Pick<Access, "admit" | "callerOf" | "meter">;
  readonly allowances: Readonly<Record<Variant, Allowance>>;
  readonly usage: Readonly<Record<Variant, MonthUsage>>;
  readonly stats: RequestStats;
  readonly requestId: () => string;
  readonly events: Pick<OracleEvents, "requestServed" | "requestRefused" | "internalError">;
}

export interface OracleBindings {
  readonly requestId?: string;
  readonly socketAddress?: string;
}

/** The state of one request while it is served. */
interface Exchange {
  readonly request: Request;
  readonly requestId: string;
  readonly variant: Variant;
  readonly atMs: number;
  readonly startedMs: number;
  /** What the route adds to a 200. */
  readonly headers: Record<string, string>;
  route: Route | null;
  grant: Grant | null;
  rate: RateLimitState | null;
  /** The month's requests and how many there are of them; null before the rate was taken. */
  month: { readonly limit: number | null; readonly state: MonthState } | null;
}

const methods = ["GET", "HEAD"] as const;
/** `/v1` is the second variant; all other paths, unknown ones included, are answered in the form of the first. */
const variantOf = (path: string): Variant => (path === "/v1" || path.startsWith("/v1/") ? "v2" : "v1");

/**
 * The oracle's HTTP: both variants on one port. A request passes, in this order: method and path, key, restrictions,
 * rate and the month's allowance; only then its parameters are read and the answer is computed. It never throws.
 */
export class OracleHttp {
  readonly #dependencies: OracleHttpDependencies;
  readonly #routes: RouteTable;
  readonly #shared: Readonly<Record<string, string>>;

  constructor(options: Deprecation, dependencies: OracleHttpDependencies) {
    this.#dependencies = dependencies;
    this.#routes = new RouteTable(dependencies.routes);
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
      headers: {},
      route: null,
      grant: null,
      rate: null,
      month: null,
    };
    try {
      const found = this.#routes.find(path);
      if (request.method === "OPTIONS") return this.#preflight(exchange, found);
      const answer = this.#answer(exchange, found, bindings.socketAddress ?? "");
      if (!(answer instanceof Promise)) return this.#respond(exchange, answer);
      return answer.then(
        (text) => this.#respond(exchange, text),
        (error) => this.#respondError(exchange, error),
      );
    } catch (error) {
      return this.#respondError(exchange, error);
    }
  }

  #preflight(exchange: Exchange, found: RouteMatch): Response {
    const requested = exchange.request.headers.get("access-control-request-headers");
    return preflightResponse(requested, found === null ? ["OPTIONS"] : [...methods, "OPTIONS"], exchange.requestId);
  }

  #answer(exchange: Exchange, found: RouteMatch, socketAddress: string): string | Promise<string> {
    const { request } = exchange;
    const { headers } = request;
    if (found === null) throw new OracleError("NOT_FOUND");
    if (request.method !== "GET" && request.method !== "HEAD") {
      throw new OracleError("METHOD_NOT_ALLOWED", { allow: methods });
    }
    exchange.route = found.route;
    const presented = presentedKey(headers, request.url);
    const caller = this.#dependencies.access.callerOf(headers, socketAddress);
    const admitted = this.#dependencies.access.admit(presented, caller, readPermission);
    const enter = (outcome: Awaited<typeof admitted>): Promise<string> => {
      exchange.grant = outcome.ok ? outcome : (outcome.grant ?? null);
      if (outcome.ok) return this.#admitted(exchange, found, outcome);
      // A refusal without a grant belongs to no account, so it is counted by its code alone.
      if (exchange.grant === null) this.#dependencies.events.requestRefused(outcome.code);
      throw admissionError(outcome, presented);
    };
    return admitted instanceof Promise ? admitted.then(enter) : enter(admitted);
  }

  async #admitted(exchange: Exchange, found: NonNullable<RouteMatch>, grant: Grant): Promise<string> {
    const { request, variant } = exchange;
    const admitted: Admitted = { grant, ...tierOf(grant, variant) };
    const { state, error } = await takeRate(this.#dependencies.access, variant, admitted);
    exchange.rate = state;
    if (error !== null) throw error;
    const answer = (): string | Promise<string> =>
      found.route.answer({
        variant,
        parameter: decodedParameter(found.route.path, found.parameter),
        query: new Query(request.url),
        ...admitted,
        nowMs: exchange.atMs,
        headers: exchange.headers,
      });
    try {
      return await (found.route.counted ? this.#counted(exchange, admitted, answer) : answer());
    } finally {
      const state = await this.#dependencies.usage[variant].of(grant.accountId);
      if (state !== null) exchange.month = { limit: admitted.terms.requestsMonthly, state };
    }
  }

  /** Takes one of the month's requests before the answer is computed, and returns it when there is no answer. */
  async #counted(
    { atMs, variant }: Exchange,
    { grant, terms }: Admitted,
    answer: () => string | Promise<string>,
  ): Promise<string> {
    const allowance = this.#dependencies.allowances[variant];
    const monthly = terms.requestsMonthly === null ? null : BigInt(terms.requestsMonthly);
    const taken = allowance.take(grant.accountId, monthly, 1);
    const isTaken = typeof taken === "boolean" ? taken : await taken.catch(storeUnavailable);
    if (!isTaken) throw quotaError(terms, atMs);
    const usage = this.#dependencies.usage[variant];
    usage.count(grant.accountId, 1);
    try {
      return await answer();
    } catch (error) {
      allowance.refund(grant.accountId, 1, atMs);
      usage.count(grant.accountId, -1);
      throw error;
    }
  }

  #respondError(exchange: Exchange, error: unknown): Response {
    if (error instanceof OracleError) return this.#respond(exchange, error);
    // A ledger that restarts is available again shortly, and histories with it.
    if (error instanceof LedgerUnavailableError) {
      return this.#respond(exchange, new OracleError("SERVICE_UNAVAILABLE"));
    }
    this.#dependencies.events.internalError("oracle", error);
    return this.#respond(exchange, new OracleError("INTERNAL_ERROR"));
  }

  #respond(exchange: Exchange, outcome: string | OracleError): Response {
    const { clock, events, stats } = this.#dependencies;
    const headers: Record<string, string> = { ...this.#shared, "X-Request-Id": exchange.requestId };
    if (exchange.rate !== null) writeRate(headers, exchange.rate);
    if (exchange.month !== null) writeQuota(headers, exchange.month.limit, exchange.month.state);
    let status = 200;
    let body: string;
    if (outcome instanceof OracleError) {
      status = outcome.status;
      body = errorBody(outcome, exchange.variant, isoTime(exchange.atMs));
      writeError(headers, outcome);
    } else {
      Object.assign(headers, exchange.headers);
      body = outcome;
    }
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
        bytesOut: Buffer.byteLength(body),
        credits: 0,
        code: outcome instanceof OracleError ? outcome.code : "",
        cache: "",
        upstream: "",
      });
    }
    if (exchange.request.method !== "HEAD") return new Response(body, { status, headers });
    headers["Content-Length"] = String(Buffer.byteLength(body));
    return new Response(null, { status, headers });
  }
}

function storeUnavailable(): never {
  throw new OracleError("SERVICE_UNAVAILABLE");
}

/** The path of an absolute URL, without its query. */
function pathOf(url: string): string {
  const start = url.indexOf("/", url.indexOf("//") + 2);
  if (start < 0) return "/";
  const query = url.indexOf("?", start);
  return query < 0 ? url.slice(start) : url.slice(start, query);
}
