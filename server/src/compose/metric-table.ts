import { cacheMetrics } from "../cache/index.ts";
import { creditMetrics } from "../credits/index.ts";
import { engineMetrics } from "../engine/index.ts";
import { gatewayMetrics } from "../gateway/index.ts";
import { keyMetrics } from "../keys/index.ts";
import { ledgerMetrics } from "../ledger/index.ts";
import { limitMetrics } from "../limits/index.ts";
import { namesMetrics } from "../names/index.ts";
import { netMetrics } from "../net/index.ts";
import { baseMetrics, type MetricDefinition, requestMetrics, serverMetrics } from "../observe/index.ts";
import { oracleMetrics } from "../oracle/index.ts";
import { rpcMetrics } from "../rpc/index.ts";
import { upstreamMetrics } from "../upstreams/index.ts";

/** The metrics of all rooms, each declared in its room's events.ts; docs/reference/metrics.md is generated from it. */
export const metricTable: readonly MetricDefinition[] = [
  requestMetrics,
  serverMetrics,
  netMetrics,
  gatewayMetrics,
  keyMetrics,
  limitMetrics,
  creditMetrics,
  cacheMetrics,
  upstreamMetrics,
  rpcMetrics,
  ledgerMetrics,
  namesMetrics,
  oracleMetrics,
  engineMetrics,
  baseMetrics,
].flatMap((definitions) => Object.values(definitions));
