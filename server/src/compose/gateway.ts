import { rpcMethods } from "@sluice/contract/rpc";
import { replaceableAddressSet } from "@sluice/lib";
import { Access } from "../access/index.ts";
import { AnswerCache, createCacheEvents, SharedAnswers } from "../cache/index.ts";
import type { Config } from "../config/index.ts";
import { createGatewayEvents, factRecorder, GatewayServer } from "../gateway/index.ts";
import { createRequestIds, type ProbeSource } from "../http/index.ts";
import { createKeys, createKeysEvents, type RevocationFeed } from "../keys/index.ts";
import { createLimits, createLimitsEvents, createSharedLimits } from "../limits/index.ts";
import { type AppMount, ConnectionLimit, createConnectionEvents, listening, type SocketMount } from "../net/index.ts";
import { createTracing, processDescriptors } from "../observe/index.ts";
import {
  createRpcEvents,
  createSharedHistory,
  Rpc,
  type RpcDependencies,
  SentTransactions,
  type SharedHistory,
} from "../rpc/index.ts";
import {
  ConnectionCounts,
  createPubSubEvents,
  type Flows,
  PubSubEndpoint,
  type StreamMount,
} from "../streams/index.ts";
import {
  createUpstreamEvents,
  createUpstreams,
  type NodeAnswer,
  reportHealth,
  SlotNotices,
  type UpstreamOutcome,
  type Upstreams,
} from "../upstreams/index.ts";
import type { Seat } from "../workers/index.ts";
import { openArchive } from "./archive.ts";
import type { Dependencies } from "./dependencies.ts";
import { opensGateway, replicaGroupsOf } from "./endpoints.ts";
import { upstreamsOptions } from "./nodes.ts";
import { openFactKeeper } from "./served.ts";
import { openMeter, type Stores } from "./stores.ts";
import { mountStreams } from "./streams.ts";
import { type OpenPort, openFronts, placeOf } from "./tls.ts";

interface GatewayParts extends Dependencies {
  readonly stores: Stores;
  readonly seat: Seat | null;
}

/** The rooms of a request, in the order of its way; the stack closes them in reverse. */
export function wireGateway(config: Config, dependencies: GatewayParts) {
  const { clock, random, stores, resources } = dependencies;
  const events = { ...dependencies.events, ...createGatewayEvents(dependencies) };
  const cacheEvents = createCacheEvents(dependencies);
  const upstreamEvents = createUpstreamEvents(dependencies);
  const sentEvents = createRpcEvents(dependencies);
  const installed = createTracing();
  const tracing = installed.enabled ? installed : null;
  const keys = wireKeys(config, dependencies);
  const { limits, processes } = wireLimits(config, dependencies);
  const credits = openMeter(config, { meter: "credits", store: stores.state.credits, processes }, dependencies);
  const facts = openFactKeeper(config, dependencies);
  const trustedProxies = replaceableAddressSet(config.trustedProxies);
  const access = new Access({ trustedProxies, hasTls: config.tls.gateway !== null }, { keys, limits, credits });
  const slots = new SlotNotices();
  const upstreams = resources.use(
    createUpstreams(upstreamsOptions(config), {
      clock,
      random,
      events: upstreamEvents,
      tracing,
      chainStore: stores.state.chains,
      onNewChain: (network) => {
        cache.forget(network);
        rpc.forget(network);
      },
      onSlot: (network, commitment, slot) => {
        cache.slotMoved(network, commitment);
        slots.notify(network, commitment, slot);
      },
    }),
  );
  resources.use(reportHealth(upstreams, { clock, events: upstreamEvents }));
  const cache = new AnswerCache<NodeAnswer, UpstreamOutcome>(
    { finalBytesMax: config.cacheBytes },
    { clock, isLive: upstreams.isLive.bind(upstreams) },
  );
  cacheEvents.cacheOpened(() => cache.bytes);
  const pool: RpcDependencies["pool"] = upstreams.pool.bind(upstreams);
  const { transactionSettled: settled, sentFollowFailed: followFailed } = sentEvents;
  const sent = resources.use(new SentTransactions({ clock, pool, settled, followFailed }));
  const history = openSharedHistory(config, { ...dependencies, upstreams });
  const rpc = new Rpc(
    { allowUnknownMethods: config.unknownMethods === "pass" },
    { clock, cache, pool, sent, history, archive: openArchive(dependencies), events: cacheEvents },
  );
  return {
    clock,
    keys,
    limits,
    processes,
    credits,
    access,
    rpc,
    sent,
    upstreams,
    slots,
    facts,
    served: factRecorder(events, facts),
    events,
    tracing,
    requestId: createRequestIds({ random }),
    trustedProxies,
    /** Of all protocols that hold connections open, which share them. */
    places: dependencies.seat?.places ?? new ConnectionCounts(),
    resizeCache: (bytesMax: number) => cache.resizeFinal(bytesMax),
  };
}

/** Development keys are for development: production refuses them, and makes none. */
export const acceptedKeys = ({ mode }: Config): "accept" | "refuse" => (mode === "dev" ? "accept" : "refuse");

function wireKeys(config: Config, dependencies: GatewayParts) {
  const { clock, log } = dependencies;
  const { keys } = dependencies.stores.state;
  return dependencies.resources.use(
    createKeys(
      { developmentKeys: acceptedKeys(config), lookupTimeoutMs: config.stores.database.lookupTimeoutMs },
      {
        clock,
        log,
        findByHash: (hash, asker) => keys.findByHash(hash, asker),
        touch: (used) => keys.touch(used),
        events: createKeysEvents(dependencies),
      },
    ),
  );
}

/**
 * Limits are exact in the memory of one process; several processes lease them from the shared store, by which they also
 * know how many they are.
 */
function wireLimits(config: Config, dependencies: GatewayParts) {
  const { clock, processId, stores, resources } = dependencies;
  const events = createLimitsEvents(dependencies);
  if (stores.hot.driver === "memory") return { limits: createLimits({}, { clock }), processes: () => 1 };
  const options = { holder: processId, groups: replicaGroupsOf(config) };
  const limits = resources.use(createSharedLimits(options, { clock, store: stores.hot, events }));
  return { limits, processes: () => limits.replicas };
}

/**
 * History that processes share through Redis; null without Redis. A development chain starts anew at each start, so
 * that earlier answers would be wrong: it shares nothing.
 */
function openSharedHistory(
  config: Config,
  dependencies: GatewayParts & { readonly upstreams: Pick<Upstreams, "pool"> },
): SharedHistory | null {
  const { clock, stores } = dependencies;
  if (stores.hot.driver === "memory" || config.mode === "dev") return null;
  const events = createCacheEvents(dependencies);
  const answers = new SharedAnswers({}, { clock, store: stores.hot, events });
  return createSharedHistory(answers, (network) => dependencies.upstreams.pool(network)?.chain ?? null);
}

/** More than a process serves well; the rest is for other replicas. */
const connectionsMaxDefault = 65_536;

/** Three quarters of the process's descriptors: the rest is for nodes, stores, files and the other endpoints. */
const connectionsMaxOf = (descriptorLimit: number | null): number =>
  Math.min(connectionsMaxDefault, Math.floor((descriptorLimit ?? connectionsMaxDefault) * 0.75));

interface GatewayListenerParts extends Dependencies {
  readonly revocations: Pick<RevocationFeed, "subscribe">;
  readonly apps: readonly AppMount[];
  readonly health: ProbeSource;
  readonly seat: Seat | null;
  /** The streams of the console's pages; null where it is not served. */
  readonly consoleStream: ((streams: StreamMount) => SocketMount) | null;
  /** Null where this process does not tell streams. */
  readonly flows: Flows | null;
}

/** Opens the gateway's ports: JSON-RPC, PubSub, health and the mounted applications. */
export async function openGatewayListener(
  config: Config,
  gateway: Gateway,
  dependencies: GatewayListenerParts,
): Promise<OpenPort> {
  const { revocations, apps, health, seat, flows, consoleStream } = dependencies;
  const sharesPort = seat !== null;
  const shared = { networkDefault: config.networkDefault, trustedProxies: gateway.trustedProxies };
  const allowUnknownMethods = config.unknownMethods === "pass";
  const streams = mountStreams(config, { ...dependencies, gateway, places: gateway.places });
  const pubsub = new PubSubEndpoint(
    { networkDefault: config.networkDefault, allowUnknownMethods },
    {
      ...gateway,
      random: dependencies.random,
      events: { ...dependencies.events, ...createPubSubEvents(dependencies) },
      pool: (network) => gateway.upstreams.pool(network),
      flow: (network) => flows?.network(network) ?? null,
    },
  );
  revocations.subscribe(() => pubsub.recheck());
  const connectionsMax = config.connectionsMax ?? connectionsMaxOf(processDescriptors().limit);
  const events = createConnectionEvents(dependencies);
  const connectionLimit = new ConnectionLimit({ connectionsMax }, { clock: gateway.clock, events });
  const sockets = [streams, pubsub, ...(consoleStream === null ? [] : [consoleStream(streams)])];
  const parts = { ...gateway, apps, sockets, pubsub, probes: health, connectionLimit };
  const { gateway: port, pubsub: pubsubPort } = config.ports;
  const options = {
    endpoint: "gateway",
    hostname: config.bind,
    port,
    tls: config.tls.gateway,
    connectionsMax,
    sharesPort,
  };
  const place = placeOf(options, dependencies);
  const { peers, ...address } = place;
  const publicUrl = config.publicUrls.gateway;
  const listener = listening(
    "gateway",
    port,
    () =>
      new GatewayServer(
        {
          ...shared,
          ...address,
          publicUrl,
          answersCalls: opensGateway(config),
          pubsubPort: peers === undefined ? pubsubPort : 0,
          // Behind a front the ports are this process's own.
          sharesPorts: sharesPort && peers === undefined,
        },
        peers === undefined ? parts : { ...parts, peers },
      ),
  );
  const ports = [
    { options, innerPort: listener.port },
    { options: { ...options, endpoint: "pubsub", port: pubsubPort }, innerPort: listener.pubsubPort ?? 0 },
  ];
  const opened = await openFronts(listener, { place, ports }, dependencies);
  return {
    stop: async (deadlineMs, isReplaced) => {
      await opened.stop(deadlineMs, isReplaced);
      pubsub[Symbol.dispose]();
    },
  };
}

/** The names by which metrics count the methods of requests. */
export const knownMethods = [...rpcMethods.keys(), "pubsub", "ws"];
export type Gateway = ReturnType<typeof wireGateway>;
