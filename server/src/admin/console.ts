import { SluiceError } from "@sluice/contract/errors";
import type {
  ConsoleEndpoint,
  ConsoleOverview,
  ConsolePrices,
  ConsoleUpstream,
  ConsoleUsage,
} from "@sluice/contract/schemas";
import * as schemas from "@sluice/contract/schemas";
import { type Network, platformTierLimits } from "@sluice/contract/tiers";
import type { Clock, Log } from "@sluice/lib";
import type { Hono } from "hono";
import { createRestApp, type RestEnvironment, readInput } from "../http/index.ts";
import type { LedgerTableState } from "../ledger/index.ts";
import type { AccountRecord } from "../state/index.ts";
import { addBundlesRoutes, type ConsoleBundlesDependencies } from "./console-bundles.ts";
import { addEnhancedRoutes, type ConsoleEnhanced } from "./console-enhanced.ts";
import { addNamesRoute, type ConsoleResolver } from "./console-names.ts";
import { addPoolPage, type ConsolePoolParts } from "./console-pool.ts";
import { addPricesRoutes } from "./console-prices.ts";
import { type ConsoleSessionDependencies, ConsoleSessions, type ConsoleViewer } from "./console-session.ts";
import { addSqlRoutes, type ConsoleSql } from "./console-sql.ts";
import { addConsoleWebhooks, type ConsoleWebhooks } from "./console-webhooks.ts";
import { ledgerTableBody } from "./ledger-routes.ts";
import { LiveStreams } from "./live-stream.ts";
import { type ChainPosition, ChainPulse } from "./pulse.ts";
import { isoTime } from "./records.ts";

export interface ConsoleDependencies extends ConsoleSessionDependencies {
  readonly state: ConsoleSessionDependencies["state"];
  readonly clock: Clock;
  readonly requestId: () => string;
  readonly log: Pick<Log, "error">;
  /** The endpoints that a viewer is shown. */
  readonly endpoints: (viewer: ConsoleViewer) => readonly ConsoleEndpoint[];
  /** The nodes of all networks. */
  readonly upstreams: () => readonly ConsoleUpstream[];
  /** Asks a node of the default network, uncharged; rejects when none answers. */
  readonly chainPosition: () => Promise<ChainPosition>;
  /** As they were measured last. */
  readonly ledgerTables: () => readonly LedgerTableState[];
  readonly usage: (accountId: string) => Promise<ConsoleUsage>;
  readonly creditsUsed: (accountId: string) => Promise<{ used: bigint }>;
  /** Null where this process runs no resolver. */
  readonly names: ConsoleResolver | null;
  /** Null where it runs no oracle. */
  readonly prices: ((updateFrequencySeconds: number) => ConsolePrices) | null;
  readonly bundles: ConsoleBundlesDependencies["bundles"];
  /** Null where this process shows no stake pool. */
  readonly pool: ConsolePoolParts | null;
  /** Null where no SQL is served. */
  readonly sql: ConsoleSql | null;
  /** Null where no enhanced API is served. */
  readonly enhanced: ConsoleEnhanced | null;
  /** Null where no webhooks are managed. */
  readonly webhooks: ConsoleWebhooks | null;
}

export interface ConsoleOptions {
  readonly network: Network;
  /** Where browsers open the console, without a trailing slash; null where the operator names no address. */
  readonly publicUrl: string | null;
  readonly version: string;
  /** Aborted when the server drains: live streams end then, since they would never end by themselves. */
  readonly closing: AbortSignal;
  /** Between two messages of a live stream. */
  readonly liveEveryMs?: number;
}

const bodyBounds = { limitBytes: 4 * 1024, timeoutMs: 10_000 } as const;
/** Usage is read from the ledger at most this often for each account, however many pages are open. */
const usageKeptMs = 2_000;
const accountsKeptMax = 1_000;

/** The console's own REST, under /api/v1/console; same origin only. */
export function createConsole(options: ConsoleOptions, dependencies: ConsoleDependencies): Hono<RestEnvironment> {
  const app = createRestApp({ cors: "none" }, dependencies);
  const sessions = new ConsoleSessions(options, dependencies);
  const overviews = new Overviews(options, dependencies);
  const { clock, names, prices, bundles } = dependencies;
  const live = new LiveStreams({ clock, everyMs: options.liveEveryMs ?? 1_000, closing: options.closing });
  const account = async (id: string): Promise<AccountRecord> => {
    const found = await dependencies.state.accounts.get(id);
    if (found === null) throw new SluiceError("INVALID_API_KEY", { message: "The account is gone" });
    return found;
  };
  const overview = async (viewer: ConsoleViewer) => await overviews.of(viewer, await account(viewer.accountId));

  app.post("/api/v1/console/session", async (context) => {
    const { key } = await readInput(context.req.raw, schemas.consoleSessionCreate, bodyBounds);
    const { accountId, expiresAt, cookie } = await sessions.signIn(context, key);
    const { name, tiers } = await account(accountId);
    context.header("Set-Cookie", cookie);
    return context.json({ account: { name, tier: tiers.platform }, expires_at: isoTime(expiresAt) });
  });
  app.delete("/api/v1/console/session", async (context) => {
    const { cookie } = await sessions.signOut(context);
    context.header("Set-Cookie", cookie);
    return context.body(null, 204);
  });
  app.get("/api/v1/console/overview", async (context) => {
    return context.json(await overview(await sessions.admit(context)), 200, { "Cache-Control": "no-store" });
  });
  app.get("/api/v1/console/live", async (context) => {
    const viewer = await sessions.admit(context);
    await account(viewer.accountId);
    // Who looks is asked again each time: a changed tier shows, and a revoked key or a removed account ends the
    // stream.
    const read = async () => await overview(await sessions.admitAgain(context));
    return live.open({ holder: viewer.accountId, method: context.req.method }, read);
  });
  addPricesRoutes(app, { prices, sessions, live, account });
  addBundlesRoutes(app, { bundles, sessions, live });
  addNamesRoute(app, { names, sessions });
  addPoolPage(app, { pool: dependencies.pool, sessions, clock });
  const { sql, enhanced, webhooks } = dependencies;
  if (enhanced !== null) addEnhancedRoutes(app, { enhanced, network: options.network, sessions, account });
  if (sql !== null) addSqlRoutes(app, { sql, network: options.network, sessions, clock, account });
  if (webhooks !== null) addConsoleWebhooks(app, { parts: webhooks, network: options.network, sessions, account });
  return app;
}

class Overviews {
  readonly #options: ConsoleOptions;
  readonly #dependencies: ConsoleDependencies;
  readonly #pulse: ChainPulse;
  readonly #startedAtMs: number;
  readonly #usage = new Map<string, { untilMs: number; usage: Promise<ConsoleUsage> }>();

  constructor(options: ConsoleOptions, dependencies: ConsoleDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
    this.#pulse = new ChainPulse(dependencies.chainPosition, dependencies.clock);
    this.#startedAtMs = dependencies.clock.monotonic();
  }

  async of(viewer: ConsoleViewer, account: AccountRecord): Promise<ConsoleOverview> {
    const { clock, creditsUsed, endpoints } = this.#dependencies;
    const upstreams = this.#dependencies.upstreams();
    const [pulse, lastHour, credits] = await Promise.all([
      this.#pulse.now(),
      this.#lastHour(account.id),
      creditsUsed(account.id),
    ]);
    const monthly = account.creditsMonthly ?? platformTierLimits[account.tiers.platform].creditsMonthly;
    return {
      network: this.#options.network,
      networkState: stateOf(upstreams.filter(({ network }) => network === this.#options.network)),
      // Slots and heights stay far below 2^53 within the life of a chain (contract: count).
      slot: pulse.slot === null ? null : Number(pulse.slot),
      blockHeight: pulse.blockHeight === null ? null : Number(pulse.blockHeight),
      transactionsPerSecond: pulse.transactionsPerSecond,
      doors: [...endpoints(viewer)],
      upstreams: viewer.operates ? [...upstreams] : null,
      ledger: viewer.operates ? this.#dependencies.ledgerTables().map(ledgerTableBody) : null,
      lastHour,
      account: {
        name: account.name,
        tier: account.tiers.platform,
        creditsUsed: String(credits.used),
        creditsMonthly: monthly === null ? null : String(monthly),
      },
      signedIn: viewer.signedIn,
      version: this.#options.version,
      uptimeSeconds: Math.floor((clock.monotonic() - this.#startedAtMs) / 1_000),
      observedAt: isoTime(clock.now()),
    };
  }

  #lastHour(accountId: string): Promise<ConsoleUsage> {
    const nowMs = this.#dependencies.clock.monotonic();
    const kept = this.#usage.get(accountId);
    if (kept !== undefined && kept.untilMs > nowMs) return kept.usage;
    const usage = this.#dependencies.usage(accountId);
    usage.catch(() => this.#usage.delete(accountId));
    if (this.#usage.size >= accountsKeptMax) this.#usage.clear();
    this.#usage.set(accountId, { untilMs: nowMs + usageKeptMs, usage });
    return usage;
  }
}

/** What a customer is told of a network: whether calls are served, and whether by a node that keeps up. */
function stateOf(nodes: readonly ConsoleUpstream[]): ConsoleOverview["networkState"] {
  if (nodes.some(({ health }) => health === "healthy")) return "operational";
  return nodes.some(({ health }) => health === "cordoned") ? "degraded" : "unavailable";
}
