import { SluiceError } from "@sluice/contract/errors";
import { type Network, networks, type Permission } from "@sluice/contract/tiers";
import type { Clock } from "@sluice/lib";
import type { Context } from "hono";
import type { Access } from "../../access/index.ts";
import { presentedKey, type RestEnvironment } from "../../http/index.ts";
import type { Grant } from "../../keys/index.ts";

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

/** The names of networks as callers write them, in lower case; Solana's own tools say `mainnet-beta`. */
const networkNames: ReadonlyMap<string, Network> = new Map([
  ...networks.map((network) => [network, network] as const),
  ["mainnet-beta", "mainnet"],
]);

/** The network by header, else by query, else the default. @throws {SluiceError} INVALID_INPUT for an unknown name */
function networkOf(request: Request, networkDefault: Network): Network {
  const named = request.headers.get("x-network") ?? new URL(request.url).searchParams.get("network");
  if (named === null) return networkDefault;
  const network = networkNames.get(named.toLowerCase());
  if (network !== undefined) return network;
  const message = `must be one of ${networks.join(", ")}`;
  throw new SluiceError("INVALID_INPUT", {
    message: `network ${message}`,
    details: { errors: [{ path: "network", message }] },
  });
}

/**
 * The checks before anything is read, in the order of all endpoints: key, network, restrictions, permission, rate.
 *
 * @throws {SluiceError} with the code that refuses the request
 */
export async function admit(
  context: Context<RestEnvironment>,
  exchange: ReadExchange,
  { access, networkDefault }: ExchangeDependencies,
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
  if (refusal !== null) {
    context.set("rateLimit", await access.meter(identified.buckets.requests, 0));
    if (refusal.code !== "PERMISSION_DENIED") throw new SluiceError(refusal.code);
    throw new SluiceError(refusal.code, { message: "The API key needs the permission read" });
  }
  const decision = await access.meter(identified.buckets.requests);
  context.set("rateLimit", decision);
  if (!decision.allowed) {
    throw new SluiceError("RATE_LIMIT_EXCEEDED", { details: { retryAfterSeconds: decision.retryAfterSeconds } });
  }
  return { grant: identified, network };
}

/** Codes of an answer: that nothing is there was found out, and costs what it costs. */
const answers: ReadonlySet<string> = new Set(["TRANSACTION_NOT_FOUND", "BLOCK_NOT_FOUND"]);

/**
 * Charges the price, and gives it back where the work has no answer.
 *
 * @throws {SluiceError} INSUFFICIENT_CREDITS, and what the work throws
 */
export async function charged<T>(
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
