import { type ErrorCode, SluiceError } from "@sluice/contract/errors";
import { type Network, networks, type Permission } from "@sluice/contract/tiers";
import type { Clock, Log } from "@sluice/lib";
import type { Context } from "hono";
import { routePath } from "hono/route";
import type { Access } from "../../access/index.ts";
import { networkNamed, presentedKey, type RestEnvironment } from "../../http/index.ts";
import type { Grant, RateBucket } from "../../keys/index.ts";
import { LedgerQueryError, LedgerUnavailableError, type RequestFact } from "../../ledger/index.ts";

export interface ExchangeDependencies {
  readonly clock: Clock;
  readonly access: Pick<
    Access,
    "identify" | "callerOf" | "restrict" | "permit" | "meter" | "charge" | "refund" | "shortage"
  >;
  readonly networkDefault: Network;
}

/** What is known of a request of this API while it is served, and of it alone. */
export interface ReadExchange {
  readonly atMs: number;
  readonly startedMs: number;
  /** Null until the key was accepted. */
  grant: Grant | null;
  network: Network | null;
  /** Charged, and not given back. */
  credits: number;
}

/** A caller that may read. */
export interface HistoryReader {
  readonly grant: Grant;
  readonly network: Network;
}

const readPermission: readonly Permission[] = ["read"];

/** The network by header, else by query, else the default. @throws {SluiceError} INVALID_INPUT for an unknown name */
function networkOf(request: Request, networkDefault: Network): Network {
  const named = networkNamed({ headers: request.headers, target: request.url }, "");
  if (named !== "unknown") return named ?? networkDefault;
  const message = `must be one of ${networks.join(", ")}`;
  throw new SluiceError("INVALID_INPUT", {
    message: `network ${message}`,
    details: { errors: [{ path: "network", message }] },
  });
}

/** What an API asks of a key beside the permission to read. */
export interface ReadGate {
  /** The rate that its requests take from. */
  readonly buckets: (grant: Grant) => readonly [RateBucket, ...RateBucket[]];
  /** Why the key has no part in the API; null where it has. */
  readonly refusal: (grant: Grant) => ErrorCode | null;
}

const historyGate: ReadGate = { buckets: ({ buckets }) => buckets.requests, refusal: () => null };

/**
 * The checks before anything is read, in the order of all endpoints: key, network, restrictions, permission, access to
 * the API, rate.
 *
 * @throws {SluiceError} with the code that refuses the request
 */
export async function admitReader(
  context: Context<RestEnvironment>,
  exchange: ReadExchange,
  { access, networkDefault, gate = historyGate }: ExchangeDependencies & { readonly gate?: ReadGate },
): Promise<HistoryReader> {
  const { raw } = context.req;
  // Without a second argument to fetch there is no env at all, whatever its type says.
  const env = context.env as RestEnvironment["Bindings"] | undefined;
  const identified = await access.identify(presentedKey(raw.headers, raw.url));
  if (!identified.ok) throw new SluiceError(identified.code);
  exchange.grant = identified;
  const network = networkOf(raw, networkDefault);
  exchange.network = network;
  const caller = access.callerOf(raw.headers, env?.socketAddress ?? "");
  const refusal = access.restrict(identified, { ...caller, network }) ?? access.permit(identified, readPermission);
  await meterReader(context, identified, { access, gate, refusal: refusal?.code ?? null });
  return { grant: identified, network };
}

/**
 * The checks of a grant: access to the API, and its rate. `refusal` is what was refused before.
 *
 * @throws {SluiceError} with the code that refuses the request
 */
export async function meterReader(
  context: Context<RestEnvironment>,
  grant: Grant,
  {
    access,
    gate,
    refusal = null,
  }: Pick<ExchangeDependencies, "access"> & { readonly gate: ReadGate; readonly refusal?: ErrorCode | null },
): Promise<void> {
  const buckets = gate.buckets(grant);
  const code = refusal ?? gate.refusal(grant);
  if (code !== null) {
    context.set("rateLimit", await access.meter(buckets, 0));
    const message = code === "PERMISSION_DENIED" ? { message: "The API key needs the permission read" } : {};
    throw new SluiceError(code, message);
  }
  const decision = await access.meter(buckets);
  context.set("rateLimit", decision);
  if (!decision.allowed) {
    throw new SluiceError("RATE_LIMIT_EXCEEDED", { details: { retryAfterSeconds: decision.retryAfterSeconds } });
  }
}

/** Codes of an answer: that nothing is there was found out, and costs what it costs. */
const answers: ReadonlySet<string> = new Set([
  "TRANSACTION_NOT_FOUND",
  "BLOCK_NOT_FOUND",
  "TOKEN_NOT_FOUND",
  "NFT_NOT_FOUND",
  "IDENTITY_NOT_FOUND",
]);

/**
 * Charges the price, and gives it back where the work has no answer.
 *
 * @throws {SluiceError} INSUFFICIENT_CREDITS, and what the work throws
 */
export async function chargedRead<T>(
  exchange: ReadExchange,
  { access, grant, price }: Pick<ExchangeDependencies, "access"> & { readonly grant: Grant; readonly price: number },
  work: () => Promise<T>,
): Promise<T> {
  if (!(await access.charge(grant, price))) {
    throw new SluiceError("INSUFFICIENT_CREDITS", access.shortage(grant, price, "request"));
  }
  exchange.credits = price;
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof SluiceError && answers.has(error.code))) {
      access.refund(grant, price, exchange.atMs);
      exchange.credits = 0;
    }
    throw error;
  }
}

/** What a caller learns of the ledger's failures: that it is away or busy, and not where it is. Others stay. */
export function readFailure(error: unknown, log: Pick<Log, "warn">): unknown {
  if (error instanceof LedgerUnavailableError) {
    return new SluiceError("STORE_UNAVAILABLE", {
      message: "The ledger is not available; try again later",
      cause: error,
    });
  }
  if (error instanceof LedgerQueryError && error.transient) {
    log.warn({ error }, "the ledger did not answer a look-up in its bounds");
    return new SluiceError("OVERLOADED", { cause: error });
  }
  return error;
}

export interface ReadRecorder {
  readonly clock: Clock;
  readonly served: (fact: RequestFact) => void;
  /** In place of a fact where no account is known. */
  readonly refused: (code: ErrorCode) => void;
}

/**
 * Records a request that has been answered.
 *
 * @param cache - whether all of the answer was kept, where that is told
 */
export async function recordRead(
  context: Context<RestEnvironment>,
  exchange: ReadExchange,
  { clock, served, refused, cache }: ReadRecorder & { readonly cache: RequestFact["cache"] },
): Promise<void> {
  const { error, res, req } = context;
  const { grant, network, credits, atMs, startedMs } = exchange;
  const code = error instanceof SluiceError ? error.code : error === undefined ? "" : "INTERNAL_ERROR";
  if (grant === null) {
    if (code !== "") refused(code);
    return;
  }
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
    latencyMs: clock.monotonic() - startedMs,
    bytesIn: Number(req.header("content-length") ?? 0),
    bytesOut: (await res.clone().arrayBuffer()).byteLength,
    credits,
    code,
    cache,
    upstream: "",
  });
}
