import { type ChartPeriod, chartPeriods, figurePeriods } from "@sluice/contract/pool";
import type { LandedBundle } from "../../ledger/index.ts";
import { decimalText, recordsText, recordText } from "../decimal.ts";
import { outcomesPart } from "../explain/bundle-parts.ts";
import { apyPart, holdingsPart, ratePart, validatorsPart } from "../explain/chain-parts.ts";
import { type ExplainedPart, joined, stepsOf } from "../explain/explanation.ts";
import { averagesPart, daysPart, rateChangesPart, tvlChangePart } from "../explain/past-parts.ts";
import {
  apyRecordOf,
  type BundleTotals,
  dashboardRecordOf,
  exchangeRateRecordOf,
  poolRecordOf,
  type Rating,
  validatorRecordOf,
} from "../figures.ts";
import type { ReadFigures } from "../figures-source.ts";
import {
  type ChartQuestion,
  changesOf,
  chartPoints,
  daysBefore,
  type PoolPast,
  presentPoint,
  type SampledDays,
} from "../history.ts";
import type { PoolSnapshot } from "../snapshot.ts";
import { type RecordReach, reachOf } from "./reach.ts";
import type { MadeRecord } from "./record.ts";

/** Records of the chain's accounts and of samples, each with how it comes about. */

const noPool = stepsOf("there is no pool on the chain, and its figures are 0");

const whereThereIsOne =
  ({ snapshot }: ReadFigures, part: (snapshot: PoolSnapshot) => ExplainedPart): (() => ExplainedPart) =>
  () =>
    snapshot === null ? noPool : part(snapshot);

/** What every record of a reading of the chain has. */
const readAt = ({ atMs, snapshot }: ReadFigures) => ({ atMs, slot: snapshot?.slot ?? null });

/** A rate that is not of what the last update counted is missing until now. */
const ratedSince = (ratings: readonly Rating[], { atMs }: ReadFigures): RecordReach => ({
  sinceMs: ratings.every((rating) => rating === "counted") ? null : atMs,
  fromMs: 0,
});

/** A record that has all of what is asked for from the moment where its parts do. */
const reaching = (...parts: readonly RecordReach[]): RecordReach => ({ sinceMs: reachOf(parts), fromMs: 0 });

/** Samples of a period until the reading. */
const sampledSince = ({ sinceMs }: PoolPast, { atMs }: ReadFigures, period: "24h" | "30d"): RecordReach => ({
  sinceMs,
  fromMs: atMs - figurePeriods[period],
});

export const poolRecord = (read: ReadFigures): MadeRecord => ({
  record: "pool",
  ...readAt(read),
  ...ratedSince([read.figures.rating], read),
  text: recordText(poolRecordOf(read.figures)),
  explain: whereThereIsOne(read, (pool) => joined(holdingsPart(read, pool), ratePart(read, pool), apyPart(read, pool))),
});

export const validatorsRecord = (read: ReadFigures): MadeRecord => ({
  record: "validators",
  ...readAt(read),
  ...ratedSince(
    read.figures.validators.map(({ rating }) => rating),
    read,
  ),
  text: recordsText(read.figures.validators.map(validatorRecordOf)),
  explain: whereThereIsOne(read, (pool) => validatorsPart(read, pool)),
});

export const apyRecord = (read: ReadFigures, past: PoolPast): MadeRecord => ({
  record: "apy",
  ...readAt(read),
  ...reaching(sampledSince(past, read, "30d"), ratedSince([read.figures.rating], read)),
  text: recordText(apyRecordOf(read.figures, past.averages)),
  explain: () =>
    joined(
      whereThereIsOne(read, (pool) => joined(holdingsPart(read, pool), apyPart(read, pool)))(),
      averagesPart(past),
    ),
});

export const exchangeRateRecord = (read: ReadFigures, past: PoolPast): MadeRecord => ({
  record: "exchange-rate",
  ...readAt(read),
  ...reaching(sampledSince(past, read, "30d")),
  text: recordText(exchangeRateRecordOf(read.figures, changesOf(past, read.figures))),
  explain: () =>
    joined(
      whereThereIsOne(read, (pool) => joined(holdingsPart(read, pool), ratePart(read, pool)))(),
      rateChangesPart(past, read.figures),
    ),
});

/** Which chart: its days of samples, and as today's point what is now. */
export function chartRecord(
  read: ReadFigures,
  sampled: SampledDays,
  { chart, period }: { readonly chart: ChartQuestion["chart"]; readonly period: ChartPeriod },
): MadeRecord {
  const shown = { chart, figures: read.snapshot === null ? null : read.figures, nowMs: read.atMs };
  const rated = chart === "apy" ? [ratedSince([read.figures.rating], read)] : [];
  const fromMs = read.atMs - (chartPeriods[period] ?? read.atMs);
  return {
    record: `charts/${chart}`,
    ...readAt(read),
    ...reaching({ sinceMs: sampled.sinceMs, fromMs }, ...rated),
    text: recordsText(chartPoints(sampled, shown)),
    explain: () => {
      const present = presentPoint(shown);
      const record = chart === "tvl" ? "pool" : "apy";
      const today =
        present === null
          ? whereThereIsOne(read, () => stepsOf("today has no point, as the yearly rate is not known"))()
          : stepsOf(`${present.timestamp} = ${decimalText(present.value)}, as \`${record}\` has it now`);
      return joined(daysPart(chart, daysBefore(sampled, shown)), today);
    },
  };
}

/** What the ledger has of bundles for the dashboard, and since when; `newest` lists those of the day. */
export interface ReadTotals extends BundleTotals {
  readonly sinceMs: number;
  readonly newest: () => Promise<readonly LandedBundle[]>;
}

export const dashboardRecord = (read: ReadFigures, past: PoolPast, totals: ReadTotals): MadeRecord => ({
  record: "dashboard",
  ...readAt(read),
  ...reaching(
    { sinceMs: totals.sinceMs, fromMs: 0 },
    sampledSince(past, read, "24h"),
    ratedSince([read.figures.rating], read),
  ),
  text: recordText(dashboardRecordOf(read.figures, changesOf(past, read.figures), totals)),
  explain: async () => {
    const pool = whereThereIsOne(read, (snapshot) =>
      joined(
        holdingsPart(read, snapshot),
        ratePart(read, snapshot),
        apyPart(read, snapshot),
        rateChangesPart(past, read.figures, true),
        tvlChangePart(past, read.figures),
      ),
    );
    const { tips, landed } = totals.all;
    const total = stepsOf(`tips of all time = ${tips} lamports of ${landed} bundles that landed`);
    return joined(pool(), outcomesPart("24h", totals.day, await totals.newest()), total);
  },
});
