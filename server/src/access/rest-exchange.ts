import { type ErrorCode, SluiceError } from "@sluice/contract/errors";
import type { Network, Permission } from "@sluice/contract/tiers";
import type { Clock } from "@sluice/lib";
import type { Context } from "hono";
import { routePath } from "hono/route";
import { networkAsked, presentedKey, type RestEnvironment } from "../http/index.ts";
import type { Grant, RateBucket } from "../keys/index.ts";
import type { RequestFact } from "../ledger/index.ts";
import type { Access, Caller } from "./access.ts";

/** What is known of a request with a key while it is served over REST, and of it alone. */
export interface RestExchange {
  /** Unix milliseconds. */
  readonly atMs: number;
  /** Monotonic milliseconds. */
  readonly startedMs: number;
  /** Null until the key was accepted. */
  grant: Grant | null;
  network: Network | null;
  /** Charged, and not given back. */
  credits: number;
}

/** What an API asks of a key beside its permissions. */
export interface RestGate {
  /** The rate that its requests take from. */
  readonly buckets: (grant: Grant) => readonly [RateBucket, ...RateBucket[]];
  /** Why the key has no part in the API; null where it has. */
  readonly refusal: (grant: Grant) => ErrorCode | null;
}

/** Who was admitted, and for which network. */
export interface AdmittedCaller<N extends Network | null = Network> {
  readonly grant: Grant;
  readonly network: N;
}

export type RestAccess = Pick<Access, "identify" | "callerOf" | "restrict" | "permit" | "meter">;

interface Admission<N extends Network | null> {
  readonly access: RestAccess;
  /** What a request is for that names no network; null where that is decided by what it asks. */
  readonly networkDefault: N;
  /** One of them is needed. */
  readonly oneOf: readonly Permission[];
  readonly gate?: RestGate;
}

/** The REST APIs that take from the rate of all requests, and that every key has. */
const openGate: RestGate = { buckets: ({ buckets }) => buckets.requests, refusal: () => null };

export const beginExchange = (clock: Pick<Clock, "now" | "monotonic">): RestExchange => ({
  atMs: clock.now(),
  startedMs: clock.monotonic(),
  grant: null,
  network: null,
  credits: 0,
});

/** Where a request comes from. */
export function restCallerOf({ env, req }: Context<RestEnvironment>, access: Pick<Access, "callerOf">): Caller {
  // Without a second argument to fetch there is no env at all, whatever its type says.
  const bindings = env as RestEnvironment["Bindings"] | undefined;
  return access.callerOf(req.raw.headers, bindings?.socketAddress ?? "");
}

/**
 * The checks before anything is read, in the order of all endpoints: key, network, restrictions, permission, access to
 * the API, rate.
 *
 * @throws {SluiceError} with the code that refuses the request
 */
export async function admitRest<N extends Network | null>(
  context: Context<RestEnvironment>,
  exchange: RestExchange,
  { access, networkDefault, oneOf, gate = openGate }: Admission<N>,
): Promise<AdmittedCaller<Network | N>> {
  const { raw } = context.req;
  const grant = await access.identify(presentedKey(raw.headers, raw.url));
  if (!grant.ok) throw new SluiceError(grant.code);
  exchange.grant = grant;
  const named = networkAsked(raw);
  const network = named === null ? networkDefault : named;
  exchange.network = network;
  const caller = restCallerOf(context, access);
  const refusal = access.restrict(grant, { ...caller, network }) ?? access.permit(grant, oneOf);
  await meterRest(context, grant, { access, gate, oneOf, refusal: refusal?.code ?? null });
  return { grant, network };
}

/**
 * The checks of a grant: access to the API, and its rate. `refusal` is what was refused before.
 *
 * @throws {SluiceError} with the code that refuses the request
 */
export async function meterRest(
  context: Context<RestEnvironment>,
  grant: Grant,
  {
    access,
    gate,
    oneOf = [],
    refusal = null,
  }: {
    readonly access: Pick<Access, "meter">;
    readonly gate: RestGate;
    readonly oneOf?: readonly Permission[];
    readonly refusal?: ErrorCode | null;
  },
): Promise<void> {
  const buckets = gate.buckets(grant);
  const code = refusal ?? gate.refusal(grant);
  if (code !== null) {
    context.set("rateLimit", await access.meter(buckets, 0));
    if (code !== "PERMISSION_DENIED") throw new SluiceError(code);
    throw new SluiceError(code, { message: `The API key needs the permission ${oneOf.join(" or ")}` });
  }
  const decision = await access.meter(buckets);
  context.set("rateLimit", decision);
  const { allowed, retryAfterSeconds } = decision;
  if (!allowed) throw new SluiceError("RATE_LIMIT_EXCEEDED", { details: { retryAfterSeconds } });
}

export interface RestRecorder {
  readonly clock: Pick<Clock, "monotonic">;
  /** Receives the fact of every request whose key was accepted; must not block or throw. */
  readonly served: (fact: RequestFact) => void;
  /** In place of a fact where no account is known. */
  readonly refused: (code: ErrorCode) => void;
}

/**
 * Records a request that has been answered.
 *
 * @param bytesOut - of an answer that is streamed; absent, the answer is read
 * @param cache - whether all of the answer was kept, where that is told
 */
export async function recordRest(
  context: Context<RestEnvironment>,
  exchange: RestExchange,
  {
    clock,
    served,
    refused,
    bytesOut,
    cache = "",
  }: RestRecorder & { readonly bytesOut?: number; readonly cache?: RequestFact["cache"] },
): Promise<void> {
  const { error, res, req } = context;
  const { grant, network, credits, atMs, startedMs } = exchange;
  const code = error instanceof SluiceError ? error.code : error === undefined ? "" : "INTERNAL_ERROR";
  if (grant === null) {
    if (code !== "") refused(code);
    return;
  }
  const latencyMs = clock.monotonic() - startedMs;
  served({
    at: atMs,
    requestId: context.get("requestId"),
    accountId: grant.accountId,
    keyId: grant.keyId,
    network: network ?? "",
    door: "rest",
    method: `${req.method === "HEAD" ? "GET" : req.method} ${routePath(context, -1)}`,
    status: res.status,
    rpcCode: null,
    latencyMs,
    bytesIn: Number(req.header("content-length") ?? 0),
    bytesOut: bytesOut ?? (await res.clone().arrayBuffer()).byteLength,
    credits,
    code,
    cache,
    upstream: "",
  });
}
