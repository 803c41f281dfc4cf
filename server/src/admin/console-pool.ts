import { SluiceError } from "@sluice/contract/errors";
import * as schemas from "@sluice/contract/schemas";
import type { Clock } from "@sluice/lib";
import type { Hono } from "hono";
import { parseInput, type RestEnvironment } from "../http/index.ts";
import { explainQuestion, type PoolService } from "../pool/index.ts";
import type { ConsoleSessions, ConsoleViewer } from "./console-session.ts";
import { isoTime } from "./records.ts";

/** The figures of the stake pool and of bundles, for people who are signed in. */
export interface ConsolePoolParts {
  readonly service: Pick<
    PoolService,
    | "pool"
    | "validators"
    | "apy"
    | "exchangeRate"
    | "overview"
    | "breakdown"
    | "chart"
    | "dashboard"
    | "pnl"
    | "explain"
  >;
  /** Where programs ask for the same. */
  readonly door: string;
}

interface PoolRouteDependencies {
  /** Null where this process shows no stake pool. */
  readonly pool: ConsolePoolParts | null;
  readonly sessions: Pick<ConsoleSessions, "admit">;
  readonly clock: Pick<Clock, "now">;
}

const root = "/api/v1/console/pool";
const headers = { "Content-Type": "application/json", "Cache-Control": "no-store" } as const;

/**
 * Adds the figures of one page, and how each of them comes about. Profits are of the account, and for operators of
 * everybody.
 */
export function addPoolPage(app: Hono<RestEnvironment>, { pool, sessions, clock }: PoolRouteDependencies): void {
  const open = (): ConsolePoolParts => {
    if (pool === null) throw new SluiceError("NOT_FOUND", { message: "This server runs no block engine" });
    return pool;
  };
  const whose = ({ operates, accountId }: ConsoleViewer): string | null => (operates ? null : accountId);
  app.get(root, async (context) => {
    const viewer = await sessions.admit(context);
    const asked = parseInput(schemas.consolePoolQuery, context.req.query());
    return new Response(await pageText(open(), { ...asked, accountId: whose(viewer) }, clock), { headers });
  });
  app.get(`${root}/explain`, async (context) => {
    const viewer = await sessions.admit(context);
    const { text } = await open().service.explain(explainQuestion(context.req.query(), whose(viewer)));
    return new Response(text, { headers });
  });
}

type PageQuestion = ReturnType<typeof schemas.consolePoolQuery.parse> & { readonly accountId: string | null };

/** The records' own texts, whose numbers have all of their digits. */
async function pageText(
  { service, door }: ConsolePoolParts,
  { chart, period, strategy, accountId }: PageQuestion,
  clock: Pick<Clock, "now">,
): Promise<string> {
  const [overview, tvl, apy] = [
    await service.overview(period),
    await service.chart("tvl", chart),
    await service.chart("apy", chart),
  ];
  const since = ({ sinceMs, fromMs }: { readonly sinceMs: number | null; readonly fromMs: number }) =>
    sinceMs === null || fromMs >= sinceMs ? null : isoTime(sinceMs);
  const records = {
    pool: await service.pool(),
    dashboard: await service.dashboard(),
    apy: await service.apy(),
    exchangeRate: await service.exchangeRate(),
    validators: await service.validators(),
    overview,
    breakdown: await service.breakdown(),
    pnl: await service.pnl(accountId, { strategy, period }),
  };
  const own = { door, samplesSince: since(tvl), bundlesSince: since(overview), observedAt: isoTime(clock.now()) };
  const members = [
    ...Object.entries(own).map(([name, value]) => `"${name}":${JSON.stringify(value)}`),
    ...Object.entries(records).map(([name, { text }]) => `"${name}":${text}`),
    `"charts":{"tvl":${tvl.text},"apy":${apy.text}}`,
  ];
  return `{${members.join(",")}}`;
}
