import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { ManualClock } from "@sluice/lib";
import { analyticsMetrics, createAnalyticsEvents } from "../analytics/index.ts";
import { cacheMetrics, createCacheEvents } from "../cache/index.ts";
import { createCreditsEvents, creditMetrics } from "../credits/index.ts";
import { createEngineEvents, engineMetrics } from "../engine/index.ts";
import {
  assetIndexMetrics,
  assetListMetrics,
  createAssetIndexEvents,
  createAssetListEvents,
  createEnhancedEvents,
  enhancedMetrics,
} from "../enhanced/index.ts";
import { createGatewayEvents, gatewayMetrics } from "../gateway/index.ts";
import { archiveMetrics, createArchiveEvents, createHistoryEvents, historyMetrics } from "../history/index.ts";
import { createIngestEvents, ingestMetrics } from "../ingest/index.ts";
import { createKeysEvents, keyMetrics } from "../keys/index.ts";
import { createLeaseEvents, leaseMetrics } from "../leases/index.ts";
import { createLedgerEvents, ledgerMetrics } from "../ledger/index.ts";
import { createLimitsEvents, limitMetrics } from "../limits/index.ts";
import { createLogEvents, logMetrics } from "../log/index.ts";
import { createNamesEvents, namesMetrics } from "../names/index.ts";
import { createConnectionEvents, netMetrics } from "../net/index.ts";
import {
  baseMetrics,
  createLog,
  createMetrics,
  createServerEvents,
  type Observe,
  requestMetrics,
  serverMetrics,
} from "../observe/index.ts";
import { createOracleEvents, oracleMetrics } from "../oracle/index.ts";
import { createPoolEvents, poolMetrics } from "../pool/index.ts";
import { createRpcEvents, rpcMetrics } from "../rpc/index.ts";
import { createStateEvents, stateMetrics } from "../state/index.ts";
import {
  createPubSubEvents,
  createStreamsEvents,
  createYellowstoneEvents,
  pubsubMetrics,
  streamsMetrics,
  yellowstoneMetrics,
} from "../streams/index.ts";
import { createUpstreamEvents, upstreamMetrics } from "../upstreams/index.ts";
import {
  createDeliveryEvents,
  createSchedulingEvents,
  webhookDeliveryMetrics,
  webhookSchedulingMetrics,
} from "../webhooks/index.ts";
import { createWorkersEvents, workersMetrics } from "../workers/index.ts";
import { metricTable } from "./metric-table.ts";

/** Each room with metrics: their definitions and the function that creates the events which feed them. */
const rooms: Record<string, { readonly metrics: object; readonly create: (observe: Observe) => object }> = {
  observe: { metrics: { ...requestMetrics, ...serverMetrics, ...baseMetrics }, create: createServerEvents },
  net: { metrics: netMetrics, create: createConnectionEvents },
  workers: { metrics: workersMetrics, create: createWorkersEvents },
  gateway: { metrics: gatewayMetrics, create: createGatewayEvents },
  keys: { metrics: keyMetrics, create: createKeysEvents },
  leases: {
    metrics: leaseMetrics,
    create: (observe) => createLeaseEvents(observe, { network: "devnet", job: "engine-book", nowMs: () => 0 }),
  },
  limits: { metrics: limitMetrics, create: createLimitsEvents },
  credits: { metrics: creditMetrics, create: createCreditsEvents },
  cache: { metrics: cacheMetrics, create: createCacheEvents },
  upstreams: { metrics: upstreamMetrics, create: createUpstreamEvents },
  rpc: { metrics: rpcMetrics, create: createRpcEvents },
  state: { metrics: stateMetrics, create: createStateEvents },
  webhooks: { metrics: webhookDeliveryMetrics, create: createDeliveryEvents },
  ledger: { metrics: ledgerMetrics, create: createLedgerEvents },
  log: { metrics: logMetrics, create: createLogEvents },
  ingest: { metrics: ingestMetrics, create: (observe) => createIngestEvents(observe, { network: "devnet" }) },
  history: { metrics: historyMetrics, create: createHistoryEvents },
  analytics: { metrics: analyticsMetrics, create: createAnalyticsEvents },
  enhanced: { metrics: enhancedMetrics, create: createEnhancedEvents },
  "enhanced/asset-index": { metrics: assetIndexMetrics, create: createAssetIndexEvents },
  "enhanced/asset-lists": { metrics: assetListMetrics, create: createAssetListEvents },
  "history/archive": { metrics: archiveMetrics, create: createArchiveEvents },
  streams: { metrics: streamsMetrics, create: createStreamsEvents },
  "streams/pubsub": { metrics: pubsubMetrics, create: createPubSubEvents },
  "streams/yellowstone": { metrics: yellowstoneMetrics, create: createYellowstoneEvents },
  "webhooks/scheduling": { metrics: webhookSchedulingMetrics, create: createSchedulingEvents },
  names: { metrics: namesMetrics, create: createNamesEvents },
  oracle: {
    metrics: oracleMetrics,
    create: (observe) => createOracleEvents(observe, { requestServed: () => {}, requestRefused: () => {} }),
  },
  engine: { metrics: engineMetrics, create: createEngineEvents },
  pool: { metrics: poolMetrics, create: createPoolEvents },
};

function observed() {
  const metrics = createMetrics({}, { clock: new ManualClock(1_000_000) });
  const lines: string[] = [];
  const log = createLog({ level: "debug", destination: { write: (line) => lines.push(line) } });
  const observe = { log, metrics };
  const events = {
    ...createOracleEvents(observe, { requestServed: () => {}, requestRefused: () => {} }),
    ...createServerEvents(observe),
    ...createConnectionEvents(observe),
    ...createWorkersEvents(observe),
    ...createGatewayEvents(observe),
    ...createKeysEvents(observe),
    ...createLimitsEvents(observe),
    ...createLeaseEvents(observe, { network: "devnet", job: "engine-book", nowMs: () => 0 }),
    ...createCreditsEvents(observe),
    ...createCacheEvents(observe),
    ...createUpstreamEvents(observe),
    ...createRpcEvents(observe),
    ...createStateEvents(observe),
    ...createLedgerEvents(observe),
    ...createDeliveryEvents(observe),
    ...createLogEvents(observe),
    ...createIngestEvents(observe, { network: "devnet" }),
    ...createHistoryEvents(observe),
    ...createArchiveEvents(observe),
    ...createEnhancedEvents(observe),
    ...createAssetIndexEvents(observe),
    ...createAssetListEvents(observe),
    ...createStreamsEvents(observe),
    ...createPubSubEvents(observe),
    ...createYellowstoneEvents(observe),
    ...createSchedulingEvents(observe),
    ...createNamesEvents(observe),
    ...createAnalyticsEvents(observe),
    ...createEngineEvents(observe),
    ...createPoolEvents(observe),
  };
  return { metrics, events, lines };
}

/** Source text by path below server/src, without tests and test support. */
type Sources = ReadonlyMap<string, string>;

function readSources(): Sources {
  const root = dirname(import.meta.dir);
  const paths = readdirSync(root, { recursive: true, encoding: "utf8" }).filter(
    (path) => path.endsWith(".ts") && !/\.(test|campaign)\.ts$|(^|\/)testing\//.test(path),
  );
  return new Map(paths.map((path) => [path, readFileSync(join(root, path), "utf8")]));
}

const fedPattern = /\b(\w+)\s*\.(?:with|readFrom)\(/g;

/** Metrics that no code of their room feeds: no handle of their family is ever requested there. */
function unfedMetrics(sources: Sources): string[] {
  return Object.entries(rooms).flatMap(([room, { metrics }]) => {
    const own = [...sources].flatMap(([path, text]) => (path.startsWith(`${room}/`) ? [text] : []));
    const fed = new Set(own.flatMap((text) => [...text.matchAll(fedPattern)].map(([, key]) => key)));
    return Object.keys(metrics).flatMap((key) => (fed.has(key) ? [] : [`${room}: ${key}`]));
  });
}

/** A member of what events come in; what follows the dot is not part of the match, since it may hold members itself. */
const memberPattern = /(?:[eE]vents|[dD]eps|[dD]ependencies)\)?\??\.(?=(\w+))/g;
const takenPattern = /\{([^{}]*)\} = (?=[^;]*[eE]vents)/g;

/** Functions of events that no code outside events.ts calls or hands on. */
function uncalledFeeders(sources: Sources): string[] {
  const { log, metrics } = { log: createLog({ level: "silent" }), metrics: createMetrics() };
  const users = [...sources].flatMap(([path, text]) => (path.endsWith("/events.ts") ? [] : [text]));
  const used = new Set(
    users.flatMap((text) => [
      ...[...text.matchAll(memberPattern)].map(([, name]) => name),
      ...[...text.matchAll(takenPattern)].flatMap(([, names = ""]) => names.match(/\w+/g) ?? []),
    ]),
  );
  return Object.entries(rooms).flatMap(([room, { create }]) =>
    Object.keys(create({ log, metrics })).flatMap((name) => (used.has(name) ? [] : [`${room}: ${name}`])),
  );
}

const sources = readSources();

test("every metric has a feeder, and every feeder is called", () => {
  expect(sources.size).toBeGreaterThan(300);
  expect(unfedMetrics(sources)).toEqual([]);
  expect(uncalledFeeders(sources)).toEqual([]);
});

test("the check finds a metric without a feeder, and a feeder without a caller", () => {
  const without = (pattern: RegExp): Sources =>
    new Map([...sources].map(([path, text]) => [path, text.replaceAll(pattern, "removed")]));
  expect(unfedMetrics(without(/sharedAnswers\.with/g))).toEqual(["cache: sharedAnswers"]);
  expect(uncalledFeeders(without(/events\??\.pubsubMoved/g))).toEqual(["streams/pubsub: pubsubMoved"]);
  expect(unfedMetrics(new Map()).length).toBe(metricTable.length);
});

test("what is registered is what the reference lists, both ways", async () => {
  const { metrics } = observed();
  const text = await metrics.render();
  const shown = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => `${name} ${type}`);
  expect(shown.sort()).toEqual(metricTable.map(({ name, type }) => `${name} ${type}`).sort());
  await metrics[Symbol.asyncDispose]();
});

test("names follow the custom: base units, counters end in _total", () => {
  for (const { name, type } of metricTable.filter(({ name }) => name.startsWith("sluice_"))) {
    expect([name, name.endsWith("_total")]).toEqual([name, type === "counter"]);
    expect(name).not.toMatch(/_(ms|milliseconds|kb|percent)(_|$)/);
  }
});

test("only an internal error is logged as an error", async () => {
  const { events, metrics, lines } = observed();
  events.requestRefused("rpc", "RATE_LIMIT_EXCEEDED");
  events.upstreamCalled("devnet", "a", "timeout", 30_000);
  events.extraCall("devnet", "a", "hedge");
  events.floorMissed("devnet");
  events.beliefRestarted("devnet", "processed", "unreached");
  events.chainChanged("devnet", "11111111111111111111111111111111");
  events.chainUnread("devnet", new Error("away"));
  for (const chain of ["joined", "unverified", "other-chain"] as const) events.membershipChanged("devnet", "a", chain);
  events.beliefObserved({
    network: "devnet",
    slots: { processed: 1n, confirmed: 1n, finalized: null },
    isDisputed: true,
  });
  events.transactionSettled("devnet", "finalized");
  events.cacheOutcome("devnet", "slot", "hit");
  events.cacheOpened(() => 10);
  events.keyCacheOutcome("negative");
  events.ledgerFlushed("requests", 100, 4);
  events.ledgerDropped("requests", 3, "queue full");
  events.childRestarted("ledger", "exited with 1");
  events.largeAnswerEnded("devnet", "cut");
  events.pubsubOpened("pubsub", "devnet");
  events.pubsubMoved("devnet", 1);
  events.pubsubWaited("pubsub", "devnet", 1);
  events.pubsubClosed("pubsub", "devnet", 1000);
  events.serverStarted({ version: "0.1.0", mode: "dev", startMs: 1500, endpoints: {} });
  events.serverStopping("SIGTERM");
  events.serverStopped();
  expect(lines.filter((line) => line.includes('"level":"error"'))).toEqual([]);
  events.internalError("rpc", new Error("bug"), { requestId: "r1" });
  expect(JSON.parse(lines.at(-1) ?? "{}")).toMatchObject({ level: "error", requestId: "r1", where: "rpc" });
  expect(await metrics.render()).toContain('sluice_pubsub_connections{endpoint="pubsub",network="devnet"} 0\n');
  await metrics[Symbol.asyncDispose]();
});

test("what a dead process held is counted by meter: what came back, and what stays charged without proof", async () => {
  const { events, metrics } = observed();
  events.creditsReconciled("credits", { books: 3, returned: 120n, unproved: 0n, advanced: 0n });
  events.creditsReconciled("credits", { books: 1, returned: -5n, unproved: 0n, advanced: 0n });
  events.creditsReconciled("oracle", { books: 2, returned: 0n, unproved: 64n, advanced: 9n });
  const text = await metrics.render();
  expect(text).toContain('sluice_credit_books_reconciled_total{meter="credits"} 4\n');
  expect(text).toContain('sluice_credits_returned_total{meter="credits"} 120\n');
  expect(text).toContain('sluice_credits_unproved_total{meter="oracle"} 64\n');
  expect(text).not.toContain('sluice_credits_returned_total{meter="oracle"}');
  await metrics[Symbol.asyncDispose]();
});

test("a node that becomes implausible, and two nodes that contradict each other, are logged once for as long as it lasts", async () => {
  const { events, metrics, lines } = observed();
  const state = { network: "devnet", upstream: "a", slotLag: 0, health: "cordoned" } as const;
  for (const reason of ["failing", "on-trial", "implausible", "implausible", "failing"] as const) {
    events.upstreamObserved({ ...state, reason });
  }
  const slots = { processed: 7n, confirmed: null, finalized: null };
  for (const isDisputed of [true, true, false, true]) events.beliefObserved({ network: "devnet", slots, isDisputed });
  const logged = lines.map((line) => JSON.parse(line));
  expect(logged.map(({ reason }) => reason)).toEqual(["failing", "implausible", "failing", undefined, undefined]);
  const text = await metrics.render();
  expect(text).toContain('sluice_believed_slot{network="devnet",commitment="processed"} 7\n');
  expect(text).not.toContain('sluice_believed_slot{network="devnet",commitment="confirmed"}');
  await metrics[Symbol.asyncDispose]();
});

test("a node's health is logged when it changes, not on every probe", async () => {
  const { events, metrics, lines } = observed();
  const state = { network: "devnet", upstream: "a", slotLag: 0, reason: null } as const;
  for (const health of ["healthy", "healthy", "down", "down", "healthy"] as const) {
    events.upstreamObserved({ ...state, health });
  }
  expect(lines.map((line) => JSON.parse(line).level)).toEqual(["info", "warn", "info"]);
  expect(await metrics.render()).toContain('sluice_upstream_healthy{network="devnet",upstream="a"} 1\n');
  await metrics[Symbol.asyncDispose]();
});

test("price sources are counted by streams, by how requests end, and by the delay of their prices", async () => {
  const { metrics, events } = observed();
  await using _ = metrics;
  events.sourceStreamOpened("kraken");
  events.sourceStreamEnded("kraken", "silent");
  events.sourceRequestEnded("kraken", "limited", 250);
  events.sourceTicked("kraken", 2_000);
  // Its clock runs ahead: as fresh as can be.
  events.sourceTicked("kraken", -3_000);
  const text = await metrics.render();
  expect(text).toContain('sluice_oracle_source_streams_opened_total{source="kraken"} 1\n');
  expect(text).toContain('sluice_oracle_source_streams_ended_total{source="kraken",reason="silent"} 1\n');
  expect(text).toContain('sluice_oracle_source_requests_total{source="kraken",end="limited"} 1\n');
  expect(text).toContain('sluice_oracle_source_request_duration_seconds_sum{source="kraken"} 0.25\n');
  expect(text).toContain('sluice_oracle_tick_delay_seconds_count{source="kraken"} 2\n');
  expect(text).toContain('sluice_oracle_tick_delay_seconds_sum{source="kraken"} 2\n');
});
