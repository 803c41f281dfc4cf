import { analyticsMetrics } from "../analytics/index.ts";
import { cacheMetrics } from "../cache/index.ts";
import { creditMetrics } from "../credits/index.ts";
import { engineMetrics } from "../engine/index.ts";
import { assetIndexMetrics, assetListMetrics, enhancedMetrics } from "../enhanced/index.ts";
import { gatewayMetrics } from "../gateway/index.ts";
import { archiveMetrics, historyMetrics } from "../history/index.ts";
import { ingestMetrics } from "../ingest/index.ts";
import { keyMetrics } from "../keys/index.ts";
import { leaseMetrics } from "../leases/index.ts";
import { ledgerMetrics } from "../ledger/index.ts";
import { limitMetrics } from "../limits/index.ts";
import { logMetrics } from "../log/index.ts";
import { namesMetrics } from "../names/index.ts";
import { netMetrics } from "../net/index.ts";
import { baseMetrics, type MetricDefinition, requestMetrics, serverMetrics } from "../observe/index.ts";
import { oracleMetrics } from "../oracle/index.ts";
import { poolMetrics } from "../pool/index.ts";
import { rpcMetrics } from "../rpc/index.ts";
import { stateMetrics } from "../state/index.ts";
import { pubsubMetrics, streamsMetrics, yellowstoneMetrics } from "../streams/index.ts";
import { upstreamMetrics } from "../upstreams/index.ts";
import { webhookDeliveryMetrics, webhookSchedulingMetrics } from "../webhooks/index.ts";
import { workersMetrics } from "../workers/index.ts";

/** The metrics of a room, under the title that a board shows them by. */
interface MetricGroup {
  readonly title: string;
  readonly metrics: readonly MetricDefinition[];
}

const group = (title: string, metrics: Readonly<Record<string, MetricDefinition>>): MetricGroup => ({
  title,
  metrics: Object.values(metrics),
});

export const metricGroups: readonly MetricGroup[] = [
  group("Requests", requestMetrics),
  group("Server", serverMetrics),
  group("Workers", workersMetrics),
  group("Connections", netMetrics),
  group("Gateway", gatewayMetrics),
  group("Keys", keyMetrics),
  group("Limits", limitMetrics),
  group("Credits", creditMetrics),
  group("Cache", cacheMetrics),
  group("Nodes", upstreamMetrics),
  group("Sent transactions", rpcMetrics),
  group("State store", stateMetrics),
  group("Leases", leaseMetrics),
  group("Ledger", ledgerMetrics),
  group("Chain log", logMetrics),
  group("Ingest", ingestMetrics),
  group("SQL", analyticsMetrics),
  group("History", { ...historyMetrics, ...archiveMetrics }),
  group("Enhanced API", enhancedMetrics),
  group("Digital assets", { ...assetIndexMetrics, ...assetListMetrics }),
  group("Streams", { ...streamsMetrics, ...pubsubMetrics }),
  group("Yellowstone gRPC", yellowstoneMetrics),
  group("Making of webhook deliveries", webhookSchedulingMetrics),
  group("Webhooks", webhookDeliveryMetrics),
  group("Names", namesMetrics),
  group("Oracle", oracleMetrics),
  group("Block engine", engineMetrics),
  group("Stake pool", poolMetrics),
  group("Process", baseMetrics),
];

/** All metrics, each declared in its room's events.ts; docs/reference/metrics.md is generated from it. */
export const metricTable: readonly MetricDefinition[] = metricGroups.flatMap(({ metrics }) => metrics);
