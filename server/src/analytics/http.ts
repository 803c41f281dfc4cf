import * as schemas from "@sluice/contract/schemas";
import type { Network } from "@sluice/contract/tiers";
import type { Clock, Log } from "@sluice/lib";
import type { Context, Hono } from "hono";
import {
  type Access,
  type AdmittedCaller,
  admitRest,
  beginExchange,
  type RestExchange,
  type RestRecorder,
  recordRest,
} from "../access/index.ts";
import { createRestApp, type RestEnvironment, readInput } from "../http/index.ts";
import { LedgerAbortedError } from "../ledger/index.ts";
import { type Analytics, requireSqlTier } from "./analytics.ts";
import type { SavedQueryShelf } from "./saved-queries.ts";
import { schemaBody } from "./schema-body.ts";
import { sqlResponse } from "./sql-response.ts";

export interface AnalyticsHttpDependencies extends RestRecorder {
  readonly networkDefault: Network;
  readonly access: Pick<Access, "identify" | "restrict" | "permit" | "callerOf" | "meter">;
  readonly analytics: Analytics;
  readonly saved: SavedQueryShelf;
  readonly clock: Pick<Clock, "now" | "monotonic">;
  readonly log: Pick<Log, "error">;
  readonly requestId: () => string;
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

interface SqlExchange extends RestExchange {
  /** Resolves with the bytes of a body that is streamed. */
  end: Promise<number> | null;
}

type SqlContext = Context<RestEnvironment>;

/** SQL over REST: queries, the schema, and the queries that accounts keep. */
export function createAnalyticsHttp(dependencies: AnalyticsHttpDependencies): Hono<RestEnvironment> {
  const { analytics, saved } = dependencies;
  const app = createRestApp({ cors: "open" }, dependencies);
  const exchanges = new WeakMap<Request, SqlExchange>();
  const exchangeOf = ({ req }: SqlContext): SqlExchange => {
    const exchange = exchanges.get(req.raw);
    if (exchange === undefined) throw new TypeError("a route is reached through the application alone");
    return exchange;
  };
  app.use("*", async (context, next) => {
    const exchange = { ...beginExchange(dependencies.clock), end: null };
    exchanges.set(context.req.raw, exchange);
    await next();
    await recorded(context, exchange, dependencies);
  });
  const { access, networkDefault } = dependencies;
  const admit = (context: SqlContext): Promise<AdmittedCaller> =>
    admitRest(context, exchangeOf(context), { access, networkDefault, oneOf: ["read"] });

  app.post(analyticsPath, async (context) => {
    const { grant, network } = await admit(context);
    requireSqlTier(grant);
    const question = await readInput(context.req.raw, schemas.sqlQuery, bodyBounds);
    const exchange = exchangeOf(context);
    const { signal } = context.req.raw;
    try {
      const answer = await analytics.run({ ...grant, network }, question, { signal, bill: exchange });
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

/** One fact for each request of a known key, when its answer has been read. */
async function recorded(context: SqlContext, exchange: SqlExchange, recorder: RestRecorder): Promise<void> {
  const { end } = exchange;
  if (end === null) await recordRest(context, exchange, recorder);
  else void end.then((bytesOut) => recordRest(context, exchange, { ...recorder, bytesOut }));
}
