import { buildConsoleFiles } from "@sluice/console";
import { SluiceError } from "@sluice/contract/errors";
import type { ConsoleEndpoint } from "@sluice/contract/schemas";
import { SingleFlight } from "@sluice/lib";
import {
  ApiDocs,
  ConsolePages,
  ConsoleStream,
  chainPosition,
  consoleBundleStory,
  consoleBundles,
  consolePrices,
  consoleUpstreams,
  consoleUsage,
  createConsole,
  pagePaths,
} from "../admin/index.ts";
import { type Config, version } from "../config/index.ts";
import type { Engine, EngineService } from "../engine/index.ts";
import { problemResponse } from "../http/index.ts";
import type { Names } from "../names/index.ts";
import type { AppMount, SocketMount } from "../net/index.ts";
import type { Oracle } from "../oracle/index.ts";
import type { StreamMount } from "../streams/index.ts";
import type { Seat } from "../workers/index.ts";
import type { AnalyticsParts } from "./analytics.ts";
import type { Dependencies } from "./dependencies.ts";
import { describedServers, endpointsOf, engineRestUrl, oracleUrl } from "./endpoints.ts";
import type { OpenedEnhanced } from "./enhanced.ts";
import type { Gateway } from "./gateway.ts";
import type { OpenedPool } from "./pool.ts";
import type { Stores } from "./stores.ts";
import type { WebhookParts } from "./webhooks.ts";

interface ConsoleDependencies extends Dependencies {
  readonly stores: Stores;
  readonly gateway: Gateway;
  readonly names: Names | null;
  readonly oracle: Oracle | null;
  readonly engine: EngineService | null;
  readonly pool: OpenedPool | null;
  readonly analytics: AnalyticsParts;
  readonly webhooks: WebhookParts | null;
  readonly enhanced: OpenedEnhanced;
  /** The account whose console is open without a session; for development only. */
  readonly openAccount: () => string | null;
  readonly closing: AbortSignal;
  readonly seat: Seat | null;
}

export interface Console {
  /** The REST of the console. */
  readonly rest: AppMount;
  /** The streams of its pages, over what serves `/ws`. */
  readonly stream: (streams: StreamMount) => SocketMount;
  /** The pages and the descriptions of the interface, under all other paths. */
  readonly pages: AppMount;
  /** Builds the pages, so that the first visitor does not wait. Reports a failure; the next visit builds again. */
  buildPages(): void;
}

/** The console's REST over the parts that it shows, and its pages. */
export function openConsole(config: Config, dependencies: ConsoleDependencies): Console {
  const { clock, log, gateway, stores, openAccount, closing, names, oracle, engine } = dependencies;
  const { analytics, webhooks } = dependencies;
  const publicUrl = config.publicUrls.gateway;
  const sessions = { state: stores.state, clock, openAccount, access: gateway.access.on(config.networkDefault) };
  const rest = createConsole(
    { network: config.networkDefault, publicUrl, version, closing },
    {
      ...sessions,
      log,
      requestId: gateway.requestId,
      names,
      prices:
        oracle &&
        ((frequencySeconds) => consolePrices(oracle, { ...priceFacts(config), nowMs: clock.now() }, frequencySeconds)),
      bundles: engine && {
        list: (viewer) =>
          consoleBundles(requireActive(engine), viewer, { door: engineRestUrl(config), nowMs: clock.now() }),
        story: (viewer, id) => consoleBundleStory(requireActive(engine), viewer, { id, nowMs: clock.now() }),
      },
      pool: dependencies.pool && { service: dependencies.pool.service, door: engineRestUrl(config) },
      sql: { ...analytics, served: gateway.served },
      enhanced: dependencies.enhanced.app,
      webhooks,
      endpoints: ({ operates }): ConsoleEndpoint[] =>
        endpointsOf(config)
          .filter(({ forOperators }) => operates || forOperators !== true)
          .map(({ name, url, protocol }) => ({ name, address: url, protocol, status: "open" })),
      upstreams: () => consoleUpstreams(gateway.upstreams, clock.now()),
      chainPosition: () => chainPosition(gateway.upstreams, config.networkDefault),
      ledgerTables: () => stores.ledger.tables.last(),
      usage: async (accountId) => consoleUsage(await stores.ledger.requests.lastHour(accountId)),
      creditsUsed: (accountId) => gateway.credits.spent(accountId),
    },
  );
  return {
    stream: (streams) => new ConsoleStream({ publicUrl }, { ...sessions, streams }),
    rest: { prefix: "/api/v1/console", fetch: (request, bindings) => rest.fetch(request, bindings) },
    ...openPages(config, dependencies),
  };
}

const priceFacts = (config: Config) => ({
  origin: config.oracle.prices === "market" ? ("market" as const) : ("live" as const),
  door: oracleUrl(config),
});

function requireActive({ active }: EngineService): Engine {
  if (active !== null) return active;
  throw new SluiceError("OVERLOADED", { message: "The block engine stands by here; another process runs it." });
}

function openPages(
  config: Config,
  { closing, events, seat }: ConsoleDependencies,
): Pick<Console, "pages" | "buildPages"> {
  const docs = new ApiDocs({ servers: describedServers(config) });
  const directory = seat?.orders.directory ?? config.stores.directory;
  let pages: ConsolePages | null = null;
  const build = new SingleFlight(async () => {
    pages = new ConsolePages({ directory: await buildConsoleFiles(directory, closing), pages: pagePaths });
    return pages;
  });
  return {
    pages: {
      prefix: "/",
      fetch: async (request, { requestId, docsBase }) =>
        docs.answer(request) ??
        (pages ?? (await build.run())).answer(request) ??
        problemResponse("NOT_FOUND", { requestId, docsBase }),
    },
    buildPages: () =>
      void build.run().catch((error: unknown) => closing.aborted || events.internalError("console", error)),
  };
}
