import { errorTable, SluiceError } from "@sluice/contract/errors";
import * as schemas from "@sluice/contract/schemas";
import { type Network, platformTierLimits } from "@sluice/contract/tiers";
import type { Clock } from "@sluice/lib";
import type { Context, Hono } from "hono";
import { type Analytics, requireSqlTier, type SavedQueryShelf, schemaBody, sqlResponse } from "../analytics/index.ts";
import { type RestEnvironment, readInput } from "../http/index.ts";
import { LedgerAbortedError, type RequestFact } from "../ledger/index.ts";
import type { AccountRecord } from "../state/index.ts";
import type { ConsoleSessions, ConsoleViewer } from "./console-session.ts";

/** SQL for people who are signed in, charged to their account as by its keys. */
export interface ConsoleSql {
  readonly analytics: Pick<Analytics, "run">;
  readonly saved: SavedQueryShelf;
  /** Receives the fact of every query; must not block or throw. */
  readonly served: (fact: RequestFact) => void;
}

interface SqlRouteDependencies {
  readonly sql: ConsoleSql;
  readonly network: Network;
  readonly sessions: Pick<ConsoleSessions, "admit" | "admitChange">;
  readonly clock: Clock;
  readonly account: (id: string) => Promise<AccountRecord>;
}

const root = "/api/v1/console/sql";
const bodyBounds = { limitBytes: 256 * 1024, timeoutMs: 10_000 } as const;
/** For a person who left before the answer; nobody receives it. */
const leftStatus = 499;

/** Adds queries, the schema and the queries that an account keeps. */
export function addSqlRoutes(app: Hono<RestEnvironment>, dependencies: SqlRouteDependencies): void {
  const { sql, sessions, account } = dependencies;
  const { saved } = sql;
  app.post(root, async (context) => {
    const viewer = await sessions.admitChange(context);
    return await runQuery(context, viewer, dependencies);
  });
  app.get(`${root}/schema`, async (context) => {
    await sessions.admit(context);
    return context.json(schemaBody());
  });
  app.get(`${root}/queries`, async (context) => {
    const { accountId } = await sessions.admit(context);
    return context.json(await saved.list(accountId), 200, { "Cache-Control": "no-store" });
  });
  app.get(`${root}/queries/:id`, async (context) => {
    const { accountId } = await sessions.admit(context);
    return context.json(await saved.get(accountId, context.req.param("id")), 200, { "Cache-Control": "no-store" });
  });
  app.post(`${root}/queries`, async (context) => {
    const { accountId } = await sessions.admitChange(context);
    requireSqlTier({ tier: (await account(accountId)).tiers.platform });
    const content = await readInput(context.req.raw, schemas.savedQueryCreate, bodyBounds);
    return context.json(await saved.create(accountId, content), 201);
  });
  app.patch(`${root}/queries/:id`, async (context) => {
    const { accountId } = await sessions.admitChange(context);
    const changes = await readInput(context.req.raw, schemas.savedQueryUpdate, bodyBounds);
    return context.json(await saved.update(accountId, context.req.param("id"), changes));
  });
  app.delete(`${root}/queries/:id`, async (context) => {
    const { accountId } = await sessions.admitChange(context);
    await saved.delete(accountId, context.req.param("id"));
    return context.body(null, 204);
  });
}

async function runQuery(
  context: Context<RestEnvironment>,
  { accountId, keyId }: ConsoleViewer,
  { sql, network, clock, account }: SqlRouteDependencies,
): Promise<Response> {
  const { tiers, creditsMonthly } = await account(accountId);
  const tier = tiers.platform;
  requireSqlTier({ tier });
  const question = await readInput(context.req.raw, schemas.sqlQuery, bodyBounds);
  const caller = {
    accountId,
    tier,
    creditsMonthly: creditsMonthly ?? platformTierLimits[tier].creditsMonthly,
    network,
  };
  const bill = { credits: 0 };
  const [at, startedMs] = [clock.now(), clock.monotonic()];
  const fact = (status: number, code: string, bytesOut: number): RequestFact => ({
    at,
    requestId: context.get("requestId"),
    accountId,
    keyId: keyId ?? "",
    network,
    door: "rest",
    method: `POST ${root}`,
    status,
    rpcCode: null,
    latencyMs: clock.monotonic() - startedMs,
    bytesIn: Number(context.req.header("content-length") ?? 0),
    bytesOut,
    credits: bill.credits,
    code,
    cache: "",
    upstream: "",
  });
  try {
    const answer = await sql.analytics.run(caller, question, { signal: context.req.raw.signal, bill });
    void answer.end.then((bytes) => sql.served(fact(200, "", bytes)));
    return sqlResponse(answer);
  } catch (error) {
    if (error instanceof LedgerAbortedError) {
      sql.served(fact(leftStatus, "", 0));
      return new Response(null, { status: leftStatus });
    }
    if (error instanceof SluiceError) sql.served(fact(errorTable[error.code].status, error.code, 0));
    throw error;
  }
}
