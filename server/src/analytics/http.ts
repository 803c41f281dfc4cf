import { type ErrorCode, SluiceError } from "@sluice/contract/errors";
import * as schemas from "@sluice/contract/schemas";
import { type Network, networks } from "@sluice/contract/tiers";
import type { Clock, Log } from "@sluice/lib";
import type { Context, Hono, MiddlewareHandler } from "hono";
import { routePath } from "hono/route";
import type { Access } from "../access/index.ts";
import { createRestApp, presentedKey, queryParameter, type RestEnvironment, readInput } from "../http/index.ts";
import type { Grant } from "../keys/index.ts";
import { LedgerAbortedError, type RequestFact } from "../ledger/index.ts";
import { type Analytics, requireSqlTier, type SqlBill } from "./analytics.ts";
import type { SavedQueryShelf } from "./saved-queries.ts";
import { schemaBody } from "./schema-body.ts";
import { sqlResponse } from "./sql-response.ts";

export interface AnalyticsHttpDependencies {
  readonly networkDefault: Network;
  readonly access: Pick<Access, "identify" | "restrict" | "permit" | "callerOf" | "meter">;
  readonly analytics: Analytics;
  readonly saved: SavedQueryShelf;
  readonly clock: Pick<Clock, "now" | "monotonic">;
  readonly log: Pick<Log, "error">;
  readonly requestId: () => string;
  /** Receives the fact of every request of a known key; must not block or throw. */
  readonly served: (fact: RequestFact) => void;
  /** In place of a fact where no account is known. */
  readonly refused: (code: ErrorCode) => void;
}

export const analyticsPath = "/api/v1/sql";

/** Every route, as metrics name it. */
export const analyticsRoutes = [
  `POST ${analyticsPath}`,
  `GET ${analyticsPath}/schema`,
  `GET ${analyticsPath}/queries`,
  `POST ${analyticsPath}/queries`,
  `GET ${analyticsPath}/queries/:id`,
  `PATCH ${analyticsPath}/queries/:id`,
  `DELETE ${analyticsPath}/queries/:id`,
  "POST /api/v1/console/sql",
] as const;

const bodyBounds = { limitBytes: 256 * 1024, timeoutMs: 10_000 } as const;
/** What clients of HTTP servers that close a request early are shown in logs; nobody receives it. */
const leftStatus = 499;

/** What is known of a request when it is answered. */
interface Exchange {
  grant: Grant | null;
  network: Network | null;
  readonly bill: SqlBill;
  /** Resolves with the bytes of a body that is streamed. */
  end: Promise<number> | null;
}

type SqlContext = Context<RestEnvironment>;

/** SQL over REST: queries, the schema, and the queries that accounts keep. */
export function createAnalyticsHttp(dependencies: AnalyticsHttpDependencies): Hono<RestEnvironment> {
  const { analytics, saved } = dependencies;
  const app = createRestApp({ cors: "open" }, dependencies);
  const exchanges = new WeakMap<Request, Exchange>();
  const exchangeOf = (context: SqlContext): Exchange => {
    const { raw } = context.req;
    const exchange = exchanges.get(raw) ?? { grant: null, network: null, bill: { credits: 0 }, end: null };
    exchanges.set(raw, exchange);
    return exchange;
  };
  app.use("*", recorded(exchangeOf, dependencies));
  const admit = (context: SqlContext) => admitted(context, exchangeOf(context), dependencies);

  app.post(analyticsPath, async (context) => {
    const { grant, network } = await admit(context);
    requireSqlTier(grant);
    const question = await readInput(context.req.raw, schemas.sqlQuery, bodyBounds);
    const exchange = exchangeOf(context);
    const { signal } = context.req.raw;
    try {
      const answer = await analytics.run({ ...grant, network }, question, { signal, bill: exchange.bill });
      exchange.end = answer.end;
      return sqlResponse(answer);
    } catch (error) {
      if (error instanceof LedgerAbortedError) return new Response(null, { status: leftStatus });
      throw error;
    }
  });
  app.get(`${analyticsPath}/schema`, async (context) => {
    await admit(context);
    return context.json(schemaBody());
  });
  app.get(`${analyticsPath}/queries`, async (context) => {
    const { grant } = await admit(context);
    return context.json(await saved.list(grant.accountId));
  });
  app.post(`${analyticsPath}/queries`, async (context) => {
    const { grant } = await admit(context);
    requireSqlTier(grant);
    const content = await readInput(context.req.raw, schemas.savedQueryCreate, bodyBounds);
    return context.json(await saved.create(grant.accountId, content), 201);
  });
  app.get(`${analyticsPath}/queries/:id`, async (context) => {
    const { grant } = await admit(context);
    return context.json(await saved.get(grant.accountId, context.req.param("id")));
  });
  app.patch(`${analyticsPath}/queries/:id`, async (context) => {
    const { grant } = await admit(context);
    requireSqlTier(grant);
    const changes = await readInput(context.req.raw, schemas.savedQueryUpdate, bodyBounds);
    return context.json(await saved.update(grant.accountId, context.req.param("id"), changes));
  });
  app.delete(`${analyticsPath}/queries/:id`, async (context) => {
    const { grant } = await admit(context);
    await saved.delete(grant.accountId, context.req.param("id"));
    return context.body(null, 204);
  });
  return app;
}

/** The network of a request, as for JSON-RPC: by header, by query, else the default. */
function networkOf({ headers, url }: Request, networkDefault: Network): Network {
  const named = headers.get("x-network") ?? queryParameter(url, "network");
  if (named === null) return networkDefault;
  const lower = named.toLowerCase();
  const network = networks.find((known) => known === (lower === "mainnet-beta" ? "mainnet" : lower));
  if (network !== undefined) return network;
  const errors = [{ path: "network", message: `must be one of ${networks.join(", ")}` }];
  throw new SluiceError("INVALID_INPUT", { details: { errors } });
}

/** Key, restrictions, permission and rate, in the order of all endpoints. Throws SluiceError. */
async function admitted(
  context: SqlContext,
  exchange: Exchange,
  { access, networkDefault }: AnalyticsHttpDependencies,
): Promise<{ readonly grant: Grant; readonly network: Network }> {
  const { raw } = context.req;
  // Without a second argument to fetch there is no env at all, whatever its type says.
  const env = context.env as RestEnvironment["Bindings"] | undefined;
  const caller = access.callerOf(raw.headers, env?.socketAddress ?? "");
  const identified = await access.identify(presentedKey(raw.headers, raw.url));
  if (!identified.ok) throw new SluiceError(identified.code);
  exchange.grant = identified;
  const network = networkOf(raw, networkDefault);
  exchange.network = network;
  const refusal = access.restrict(identified, { ...caller, network }) ?? access.permit(identified, ["read"]);
  if (refusal !== null) throw new SluiceError(refusal.code);
  const decision = await access.meter(identified.buckets.requests);
  context.set("rateLimit", decision);
  const { allowed, retryAfterSeconds } = decision;
  if (!allowed) throw new SluiceError("RATE_LIMIT_EXCEEDED", { details: { retryAfterSeconds } });
  return { grant: identified, network };
}

/** One fact for each request of a known key, when its answer has been read. */
function recorded(
  exchangeOf: (context: SqlContext) => Exchange,
  { clock, served, refused }: AnalyticsHttpDependencies,
): MiddlewareHandler<RestEnvironment> {
  return async (context, next) => {
    const exchange = exchangeOf(context);
    const [at, startedMs] = [clock.now(), clock.monotonic()];
    await next();
    const { error, req, res } = context;
    const code = error instanceof SluiceError ? error.code : "";
    const { grant, network, bill, end } = exchange;
    if (grant === null) {
      if (error instanceof SluiceError) refused(error.code);
      return;
    }
    const latencyMs = clock.monotonic() - startedMs;
    const fact = (bytesOut: number): RequestFact => ({
      at,
      requestId: context.get("requestId"),
      accountId: grant.accountId,
      keyId: grant.keyId,
      network: network ?? "",
      door: "rest",
      method: `${req.method} ${routePath(context, -1)}`,
      status: res.status,
      rpcCode: null,
      latencyMs,
      bytesIn: Number(req.header("content-length") ?? 0),
      bytesOut,
      credits: bill.credits,
      code,
      cache: "",
      upstream: "",
    });
    if (end === null) served(fact((await res.clone().arrayBuffer()).byteLength));
    else void end.then((bytes) => served(fact(bytes)));
  };
}
