import type { MevType } from "./engine.ts";

/** The vocabulary of the stake pool's figures. */

/** Periods of overviews and of profit and loss, in milliseconds. */
export const figurePeriods = {
  "1h": 3_600_000,
  "24h": 86_400_000,
  "7d": 7 * 86_400_000,
  "30d": 30 * 86_400_000,
} as const;
export type FigurePeriod = keyof typeof figurePeriods;
/** The period where none is named. */
export const figurePeriodDefault: FigurePeriod = "24h";

/** Periods of charts in milliseconds; null is all that there is. */
export const chartPeriods = {
  "7d": 7 * 86_400_000,
  "30d": 30 * 86_400_000,
  "90d": 90 * 86_400_000,
  "1y": 365 * 86_400_000,
  all: null,
} as const;
export type ChartPeriod = keyof typeof chartPeriods;
/** The period of a chart where none is named. */
export const chartPeriodDefault: ChartPeriod = "30d";

/** Strategies of profit and loss: what bundles claim to do, and all of them. */
export const pnlStrategies = ["sandwich", "arbitrage", "liquidation", "jit", "unknown", "all"] as const;
export type PnlStrategy = (typeof pnlStrategies)[number];

/** What each type of bundle is called in the breakdown of revenue, in its order. */
export const mevBreakdownNames: Readonly<Record<MevType, string>> = {
  sandwich: "Sandwich",
  arbitrage: "Arbitrage",
  liquidation: "Liquidation",
  jit: "JIT",
  unknown: "Other",
};

/** Records whose figures are explained, named by their paths. */
export const explainedRecords = [
  "pool",
  "position",
  "validators",
  "overview",
  "apy",
  "exchange-rate",
  "mev/breakdown",
  "charts/tvl",
  "charts/apy",
  "dashboard",
  "pnl",
] as const;
export type ExplainedRecord = (typeof explainedRecords)[number];
