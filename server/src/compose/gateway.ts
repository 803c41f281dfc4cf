import { rpcMethods } from "@sluice/contract/rpc";
import { type Clock, type Random, replaceableAddressSet } from "@sluice/lib";
import { AnswerCache } from "../cache/index.ts";
import type { Config } from "../config/index.ts";
import { type RequestFact, statusStillOpen } from "../gateway/index.ts";
import { createRequestIds } from "../http/index.ts";
import { createKeys } from "../keys/index.ts";
import { createLimits, createSharedLimits } from "../limits/index.ts";
import { createTracing, type Events, type Log } from "../observe/index.ts";
import { Rpc, type RpcDependencies, SentTransactions } from "../rpc/index.ts";
import { createUpstreams, type NodeAnswer, type UpstreamOutcome, type Upstreams } from "../upstreams/index.ts";
import { consoleUpstreams } from "./console.ts";
import { wireCredits } from "./credits.ts";
import { wireHistory } from "./history.ts";
import { SlotNotices } from "./slot-notices.ts";
import type { Stores } from "./stores.ts";

interface Dependencies {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly events: Events;
  readonly stores: Stores;
  readonly resources: AsyncDisposableStack;
}

/** The rooms of a request's way, in its order, on the stack in the order in which they have to end. */
export function wireGateway(config: Config, dependencies: Dependencies) {
  const { clock, random, log, events, stores, resources } = dependencies;
  const { state, ledger } = stores;
  const made = createTracing();
  const tracing = made.enabled ? made : null;
  const keys = resources.use(
    createKeys(
      { developmentKeys: config.mode === "dev" ? "accept" : "refuse" },
      { clock, log, findByHash: (hash) => state.keys.findByHash(hash), touch: (used) => state.keys.touch(used) },
    ),
  );
  const credits = wireCredits(config, { meter: "credits", store: state.credits }, dependencies);
  const limits = wireLimits(dependencies);
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
        events,
        tracing,
        onSlot: (network, commitment, slot) => {
          cache.slotMoved(network, commitment);
          slots.tell(network, commitment, slot);
        },
      },
    ),
  );
  resources.use(watchNodes(upstreams, events));
  const cache = new AnswerCache<NodeAnswer, UpstreamOutcome>(
    { finalBytesMax: config.cacheBytes },
    { clock, isLive: (network, commitment) => upstreams.pool(network)?.isLive(commitment) ?? false },
  );
  const pool: RpcDependencies["pool"] = (network) => upstreams.pool(network);
  const sent = resources.use(
    new SentTransactions({ clock, pool, settled: (network, state) => events.transactionSettled(network, state) }),
  );
  const history = wireHistory(config, dependencies);
  const rpc = new Rpc({ allowUnknownMethods: config.unknownMethods === "pass" }, { clock, cache, pool, sent, history });
  const served = (fact: RequestFact): void => {
    if (fact.status === statusStillOpen) events.connectionPassed(fact);
    else events.requestServed(fact);
    if (fact.cache !== "") events.cacheOutcome(fact.network, "", fact.cache === "HIT" ? "hit" : "miss");
    ledger.requests.append(fact);
  };
  return {
    clock,
    keys,
    limits,
    credits,
    rpc,
    sent,
    upstreams,
    slots,
    served,
    events,
    tracing,
    requestId: createRequestIds({ random }),
    trustedProxies: replaceableAddressSet(config.trustedProxies),
    resizeCache: (bytesMax: number) => cache.resizeFinal(bytesMax),
  };
}

/** Exact in this process's memory; where there may be several processes, leased from what they share. */
function wireLimits({ clock, random, events, stores, resources }: Dependencies) {
  if (stores.hot.driver === "memory") return createLimits({}, { clock });
  const holder = Buffer.from(random.bytes(12)).toString("hex");
  return resources.use(createSharedLimits({ holder }, { clock, store: stores.hot, events }));
}

const watchMs = 2_000;

/** Tells of each node's health now and then; observe logs only what changed. */
function watchNodes(upstreams: Upstreams, events: Events): Disposable {
  const timer = setInterval(() => {
    for (const { network, label, health, slotLag } of consoleUpstreams(upstreams)) {
      events.upstreamObserved({ network, upstream: label, health, slotLag });
    }
  }, watchMs);
  timer.unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

/** Names of methods in facts, by which they are counted. */
export const knownMethods = [...rpcMethods.keys(), "pubsub"];
export type Gateway = ReturnType<typeof wireGateway>;
