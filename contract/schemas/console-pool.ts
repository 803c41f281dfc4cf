import { z } from "zod";
import {
  apyRecord,
  chartPoints,
  chartQuery,
  dashboardRecord,
  exchangeRateRecord,
  mevBreakdown,
  overviewRecord,
  pnlQuery,
  pnlRecord,
  poolRecord,
  validatorRecords,
} from "./pool.ts";
import { timestamp } from "./primitives.ts";

/** What the console's page of the stake pool is asked with: the period of its charts, and of its profits. */
export const consolePoolQuery = z.object({
  chart: chartQuery.shape.period,
  period: pnlQuery.shape.period,
  strategy: pnlQuery.shape.strategy,
});

/** The figures of the stake pool and of bundles for people to read, each as its own path of the engine has it. */
export const consolePool = z
  .object({
    door: z.string().meta({ example: "http://127.0.0.1:7435" }),
    pool: poolRecord,
    dashboard: dashboardRecord,
    apy: apyRecord,
    exchangeRate: exchangeRateRecord,
    validators: validatorRecords,
    overview: overviewRecord,
    breakdown: mevBreakdown,
    pnl: pnlRecord,
    charts: z.object({ tvl: chartPoints, apy: chartPoints }),
    samplesSince: timestamp.nullable().meta({ description: "The first sample; null where the charts have all" }),
    bundlesSince: timestamp.nullable().meta({ description: "The first bundle that the ledger knows the end of" }),
    observedAt: timestamp,
  })
  .meta({ id: "ConsolePool", description: "The stake pool's page of the console" });

export type ConsolePool = z.infer<typeof consolePool>;
