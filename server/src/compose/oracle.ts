import { join } from "node:path";
import type { Config } from "../config/index.ts";
import type { RevocationFeed } from "../keys/index.ts";
import { AppDoor, listening } from "../net/index.ts";
import {
  createOracle,
  createOracleEvents,
  decimal,
  type Oracle,
  type OracleRequestEvents,
  startExchanges,
} from "../oracle/index.ts";
import { wireCredits } from "./credits.ts";
import type { Dependencies } from "./dependencies.ts";
import type { Gateway } from "./gateway.ts";
import type { Stores } from "./stores.ts";

interface Needs extends Dependencies {
  readonly stores: Stores;
  readonly gateway: Gateway;
  readonly revocations: RevocationFeed;
}

/** How long requests in flight may take at most once the server has been asked to end. */
const drainMsMax = 5_000;

/** Where the log of all that prices are made of lies. */
export const tickLogDirectory = (config: Config): string => join(config.stores.directory, "oracle");

export const opensOracle = (config: Config): boolean =>
  config.roles.includes("oracle") && config.oracle.prices !== "off";

/** Opens the oracle's door and starts its sources; null where this process has not the role. */
export function openOracle(config: Config, dependencies: Needs): Oracle | null {
  if (!opensOracle(config)) return null;
  const { clock, random, events, stores, gateway, revocations, resources } = dependencies;
  const { access, requestId } = gateway;
  const { requests } = stores.state;
  const oracleEvents = createOracleEvents(dependencies, requestEvents(dependencies));
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
          v1: wireCredits(config, { meter: "oracle", store: requests.oracle }, dependencies),
          v2: wireCredits(config, { meter: "oracle-v2", store: requests["oracle-v2"] }, dependencies),
        },
        ledger: stores.ledger,
        requestId,
        events: oracleEvents,
        startFeed: (onTick) =>
          startExchanges(
            { endpoints: config.oracle.endpoints, pools: config.oracle.pools.map(poolOf), node: poolNode(config) },
            { clock, random, events: oracleEvents, onTick },
          ),
      },
    ),
  );
  revocations.subscribe(() => oracle.stream.recheck());
  const port = config.ports.oracle;
  const open = (): AppDoor =>
    new AppDoor(
      { hostname: config.bind, port, gatewayPort: config.ports.gateway },
      { fetch: (request, bindings) => oracle.fetch(request, bindings), sockets: [oracle.stream], requestId, events },
    );
  const door = listening("oracle", port, open);
  resources.defer(() => door.stop(Math.min(drainMsMax, config.drain.deadlineMs)));
  return oracle;
}

/** Pools are read from the default network's first node: two hundred bytes every slot or so. */
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
function requestEvents({ events, stores }: Needs): OracleRequestEvents {
  return {
    requestServed: (fact) => {
      events.requestServed("oracle", fact);
      stores.ledger.requests.append(fact);
    },
    requestRefused: (code) => events.requestRefused("oracle", code),
  };
}
