import { SluiceError } from "@sluice/contract/errors";
import { type Network, networks, type Permission } from "@sluice/contract/tiers";
import type { Context } from "hono";
import type { ExchangeDependencies, HistoryReader, ReadExchange } from "../../history/index.ts";
import { networkNamed, presentedKey, type RestEnvironment } from "../../http/index.ts";
import type { Grant } from "../../keys/index.ts";

/** What is known of a request while it is served. */
export interface EnhancedExchange extends ReadExchange {
  /** Whether all of the answer was kept. */
  kept: boolean;
}

const readPermission: readonly Permission[] = ["read"];

/** @throws {SluiceError} INVALID_INPUT for an unknown name */
function networkOf(request: Request, networkDefault: Network): Network {
  const named = networkNamed({ headers: request.headers, target: request.url }, "");
  if (named !== "unknown") return named ?? networkDefault;
  const message = `must be one of ${networks.join(", ")}`;
  throw new SluiceError("INVALID_INPUT", {
    message: `network ${message}`,
    details: { errors: [{ path: "network", message }] },
  });
}

/**
 * The checks before anything is read, in the order of the specification: key, network, restrictions, permission, access
 * to this API, and its own rate.
 *
 * @throws {SluiceError} with the code that refuses the request
 */
export async function admit(
  context: Context<RestEnvironment>,
  exchange: EnhancedExchange,
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
  const { isAllowed, buckets } = identified.enhanced;
  const caller = access.callerOf(raw.headers, env?.socketAddress ?? "");
  const refusal = access.restrict(identified, { ...caller, network }) ?? access.permit(identified, readPermission);
  const code = refusal?.code ?? (isAllowed ? null : "ENHANCED_API_DISABLED");
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
  return { grant: identified, network };
}

/** Codes of an answer: that nothing is there was found out, and costs what it costs. */
const answers: ReadonlySet<string> = new Set(["TOKEN_NOT_FOUND"]);

/**
 * Charges the price, and gives it back where the work has no answer.
 *
 * @throws {SluiceError} INSUFFICIENT_CREDITS, and what the work throws
 */
export async function charged<T>(
  exchange: EnhancedExchange,
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
