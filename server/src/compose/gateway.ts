import { rpcMethods } from "@sluice/contract/rpc";
import { type Clock, replaceableAddressSet } from "@sluice/lib";
import { Access } from "../access/index.ts";
import { consoleUpstreams } from "../admin/index.ts";
import { AnswerCache, createCacheEvents } from "../cache/index.ts";
import type { Config } from "../config/index.ts";
import { createGatewayEvents } from "../gateway/index.ts";
import { createRequestIds } from "../http/index.ts";
import { createKeys, createKeysEvents } from "../keys/index.ts";
import { type RequestFact, statusStillOpen } from "../ledger/index.ts";
import { createLimits, createLimitsEvents, createSharedLimits } from "../limits/index.ts";
import { createTracing } from "../observe/index.ts";
import { createRpcEvents, Rpc, type RpcDependencies, SentTransactions } from "../rpc/index.ts";
import {
  createUpstreamEvents,
  createUpstreams,
  type NodeAnswer,
  type UpstreamEvents,
  type UpstreamOutcome,
  type Upstreams,
} from "../upstreams/index.ts";
import { wireCredits } from "./credits.ts";
import type { Dependencies } from "./dependencies.ts";
import { wireHistory } from "./history.ts";
import { SlotNotices } from "./slot-notices.ts";
import type { Stores } from "./stores.ts";

interface Needs extends Dependencies {
  readonly stores: Stores;
}

/** The rooms of a request's way, in its order, on the stack in the order in which they have to end. */
export function wireGateway(config: Config, dependencies: Needs) {
  const { clock, random, stores, resources } = dependencies;
  const events = { ...dependencies.events, ...createGatewayEvents(dependencies) };
  const cacheEvents = createCacheEvents(dependencies);
  const upstreamEvents = createUpstreamEvents(dependencies);
  const { transactionSettled } = createRpcEvents(dependencies);
  const made = createTracing();
  const tracing = made.enabled ? made : null;
  const keys = wireKeys(config, dependencies);
  const credits = wireCredits(config, { meter: "credits", store: stores.state.credits }, dependencies);
  const limits = wireLimits(dependencies);
  const trustedProxies = replaceableAddressSet(config.trustedProxies);
  const access = new Access({ trustedProxies }, { keys, limits, credits });
  const slots = new SlotNotices();
  const upstreams = resources.use(
    createUpstreams(
      {
        networks: config.upstreams,
        deadlineMs: config.upstreamTimeoutMs,
        slotLagMax: BigInt(config.cordonSlots),
      },
      {
        clock,
        random,
        events: upstreamEvents,
        tracing,
        onSlot: (network, commitment, slot) => {
          cache.slotMoved(network, commitment);
          slots.tell(network, commitment, slot);
        },
      },
    ),
  );
  resources.use(watchNodes(clock, upstreams, upstreamEvents));
  const cache = new AnswerCache<NodeAnswer, UpstreamOutcome>(
    { finalBytesMax: config.cacheBytes },
    { clock, isLive: (network, commitment) => upstreams.pool(network)?.isLive(commitment) ?? false },
  );
  cacheEvents.cacheOpened(() => cache.bytes);
  const pool: RpcDependencies["pool"] = (network) => upstreams.pool(network);
  const sent = resources.use(new SentTransactions({ clock, pool, settled: transactionSettled }));
  const history = wireHistory(config, dependencies);
  const rpc = new Rpc(
    { allowUnknownMethods: config.unknownMethods === "pass" },
    { clock, cache, pool, sent, history, events: cacheEvents },
  );
  const served = (fact: RequestFact): void => {
    if (fact.status === statusStillOpen) events.connectionPassed(fact.door, fact);
    else events.requestServed(fact.door, fact);
    stores.ledger.requests.append(fact);
  };
  return {
    clock,
    keys,
    limits,
    credits,
    access,
    rpc,
    sent,
    upstreams,
    slots,
    served,
    events,
    tracing,
    requestId: createRequestIds({ random }),
    trustedProxies,
    resizeCache: (bytesMax: number) => cache.resizeFinal(bytesMax),
  };
}

function wireKeys({ mode }: Config, dependencies: Needs) {
  const { clock, log } = dependencies;
  const { keys } = dependencies.stores.state;
  return dependencies.resources.use(
    createKeys(
      { developmentKeys: mode === "dev" ? "accept" : "refuse" },
      {
        clock,
        log,
        findByHash: (hash) => keys.findByHash(hash),
        touch: (used) => keys.touch(used),
        events: createKeysEvents(dependencies),
      },
    ),
  );
}

/** Exact in this process's memory; where there may be several processes, leased from what they share. */
function wireLimits(dependencies: Needs) {
  const { clock, random, stores, resources } = dependencies;
  const events = createLimitsEvents(dependencies);
  if (stores.hot.driver === "memory") return createLimits({}, { clock });
  const holder = Buffer.from(random.bytes(12)).toString("hex");
  return resources.use(createSharedLimits({ holder }, { clock, store: stores.hot, events }));
}

const watchMs = 2_000;

/** Tells of each node's health now and then; observe logs only what changed. */
function watchNodes(clock: Clock, upstreams: Upstreams, events: UpstreamEvents): Disposable {
  return clock.every(watchMs, () => {
    for (const { network, label, health, slotLag } of consoleUpstreams(upstreams)) {
      events.upstreamObserved({ network, upstream: label, health, slotLag });
    }
  });
}

/** Names of methods in facts, by which they are counted. */
export const knownMethods = [...rpcMethods.keys(), "pubsub"];
export type Gateway = ReturnType<typeof wireGateway>;
