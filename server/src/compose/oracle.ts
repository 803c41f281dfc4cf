import { join } from "node:path";
import { ApiDocs } from "../admin/index.ts";
import { type Config, version } from "../config/index.ts";
import type { ProbeSource } from "../http/index.ts";
import type { RevocationFeed } from "../keys/index.ts";
import { createLeaseEvents, keepLease, LeaseHolder, leaseTimesOf } from "../leases/index.ts";
import { AppListener } from "../net/index.ts";
import {
  createOracle,
  createOracleEvents,
  decimal,
  type Oracle,
  type OracleRequestEvents,
  startExchanges,
} from "../oracle/index.ts";
import type { Dependencies } from "./dependencies.ts";
import { describedServers, drainMsOf, gatewayPlace, opensOracle } from "./endpoints.ts";
import type { Gateway } from "./gateway.ts";
import { openMeter, type Stores } from "./stores.ts";
import { openPort } from "./tls.ts";

interface OracleParts extends Dependencies {
  readonly health: ProbeSource;
  readonly stores: Stores;
  readonly gateway: Gateway;
  readonly revocations: RevocationFeed;
}

/** The directory of the tick log. */
export const tickLogDirectory = (config: Config): string => join(config.stores.directory, "oracle");

/** Opens the oracle's endpoint and starts its sources; null where this process does not have the role. */
export async function openOracle(config: Config, dependencies: OracleParts): Promise<Oracle | null> {
  if (!opensOracle(config)) return null;
  const { clock, random, events, stores, gateway, revocations, resources } = dependencies;
  const { access, requestId, processes } = gateway;
  const { requests } = stores.state;
  const oracleEvents = createOracleEvents(dependencies, requestEvents(dependencies));
  const standsBy = await openRecorderLease(config, dependencies);
  const oracle = resources.use(
    createOracle(
      {
        sunsetMs: config.oracle.sunsetMs,
        successorUrl: config.oracle.successorUrl,
        tickLog:
          config.oracle.tickLogBytes === 0
            ? null
            : { directory: tickLogDirectory(config), bytesMax: config.oracle.tickLogBytes },
      },
      {
        clock,
        access,
        allowances: {
          v1: openMeter(config, { meter: "oracle", store: requests.oracle, processes }, dependencies),
          v2: openMeter(config, { meter: "oracle-v2", store: requests["oracle-v2"], processes }, dependencies),
        },
        ledger: stores.ledger,
        candlesKeptSince: () => stores.ledger.tables.keptSince("oracle_candles_by_minute"),
        standsBy,
        requestId,
        events: oracleEvents,
        startFeed: (listener) =>
          startExchanges(
            { endpoints: config.oracle.endpoints, pools: config.oracle.pools.map(poolOf), node: poolNode(config) },
            { clock, random, events: oracleEvents, ...listener },
          ),
      },
    ),
  );
  revocations.subscribe(() => oracle.stream.recheck());
  const port = config.ports.oracle;
  const docs = new ApiDocs({ servers: describedServers(config) });
  const probes = { source: dependencies.health, role: "oracle" };
  const page = { title: "price oracle", version, gateway: gatewayPlace(config), probes };
  const options = { endpoint: "oracle", hostname: config.bind, port, tls: config.tls.oracle };
  const listener = await openPort(
    options,
    dependencies,
    ({ peers, ...address }) =>
      new AppListener(
        { ...address, page },
        {
          fetch: (request, bindings) => docs.own("oracle", request) ?? oracle.fetch(request, bindings),
          sockets: [oracle.stream],
          clock,
          requestId,
          events,
          ...(peers === undefined ? {} : { peers }),
        },
      ),
  );
  resources.defer(() => listener.stop(drainMsOf(config)));
  return oracle;
}

/** The lease under which one process of several records prices; tells whether another one does. */
async function openRecorderLease(config: Config, dependencies: OracleParts): Promise<() => boolean> {
  const { clock, events, log, processId, resources, stores } = dependencies;
  const { leaseMs } = config.stores;
  const [network, job] = [config.networkDefault, "oracle-recorder"] as const;
  const nowMs = (): number => clock.monotonic();
  const lease = new LeaseHolder(
    { network, job, leaseMs },
    {
      store: stores.state.leases,
      clock,
      holder: processId,
      retryableError: (what, error) => log.warn({ what, error }, "an operation failed and is tried again"),
      events: createLeaseEvents(dependencies, { network, job, nowMs }),
    },
  );
  const { internalError } = events;
  const what = "the recording of prices";
  resources.use(await keepLease({ what, times: leaseTimesOf(leaseMs) }, { clock, lease, internalError }));
  return () => lease.isElsewhere;
}

/** Pools are read from the default network's first node: about two hundred bytes a slot. */
function poolNode(config: Config): { url: string; headers: Readonly<Record<string, string>> } | null {
  const [node] = config.upstreams[config.networkDefault];
  return node === undefined ? null : { url: node.url, headers: node.headers };
}

function poolOf({ symbol, quote, base, quoted, depthMin }: Config["oracle"]["pools"][number]) {
  return {
    base: symbol,
    quote,
    baseVault: base.vault,
    baseMint: base.mint,
    baseDecimals: base.decimals,
    quoteVault: quoted.vault,
    quoteMint: quoted.mint,
    quoteDecimals: quoted.decimals,
    depthMin: decimal(String(depthMin)),
  };
}

/** Requests of the oracle, as the metrics and the ledger of all endpoints take them. */
function requestEvents({ events, gateway }: OracleParts): OracleRequestEvents {
  return {
    requestServed: (fact) => {
      events.requestServed("oracle", fact);
      gateway.facts.append(fact);
    },
    requestRefused: (code) => events.requestRefused("oracle", code),
  };
}
