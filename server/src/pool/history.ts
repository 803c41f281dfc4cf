import type { Clock } from "@sluice/lib";
import type { EpochRates, PoolSample, PoolSampleReads, SampledDay, SampledPool } from "../ledger/index.ts";
import { averageApy, percentPlaces, rateChangePercent } from "./arithmetic.ts";
import { changePercent, type ExactDecimal, native, type PoolRecord, zeroOf } from "./decimal.ts";
import { type ApyAverages, noAverages, type PoolChanges, type StakePoolFigures } from "./figures.ts";

const dayMs = 86_400_000;

export interface PoolHistoryDependencies {
  readonly samples: PoolSampleReads;
  readonly clock: Pick<Clock, "now">;
}

/** What samples say of the past of a pool, and which ones say it. */
export interface PoolPast {
  readonly averages: ApyAverages;
  /** What the present is compared with; null where no sample is old enough, or all are too old. */
  readonly before: Readonly<Record<"day" | "week" | "month", PoolSample | null>>;
  /** What averages are of, the newest first. */
  readonly epochs: Readonly<Record<"days7" | "days30", readonly EpochRates[]>>;
  /** Unix milliseconds of the first sample; now where there is none. */
  readonly sinceMs: number;
}

/** Days of a chart, and from when the first one is asked for and is there. Unix milliseconds. */
export interface SampledDays {
  readonly days: readonly SampledDay[];
  readonly fromMs: number;
  readonly sinceMs: number;
}

/** Which chart. */
export interface ChartQuestion {
  readonly chart: "tvl" | "apy";
  /** Null is all that there is. */
  readonly periodMs: number | null;
}

const dayLength = "2026-11-20".length;
const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, dayLength);

/** Figures of the past, from the samples of a pool. */
export class PoolHistory {
  readonly #dependencies: PoolHistoryDependencies;

  constructor(dependencies: PoolHistoryDependencies) {
    this.#dependencies = dependencies;
  }

  /** The past of a pool; null as `of` is a pool without samples. */
  async past(of: SampledPool | null): Promise<PoolPast> {
    const { samples, clock } = this.#dependencies;
    const nowMs = clock.now();
    const first = of === null ? null : await samples.firstAtMs(of);
    if (of === null || first === null) return noPast(nowMs);
    const [day = null, week = null, month = null] = await Promise.all(
      [1, 7, 30].map((days) => this.#sampleBefore(of, nowMs, days)),
    );
    const days30 = await samples.rates(of, nowMs - 30 * dayMs);
    const days7 = await samples.rates(of, nowMs - 7 * dayMs);
    return {
      averages: { days7: averageOf(days7), days30: averageOf(days30) },
      before: { day, week, month },
      epochs: { days7, days30 },
      sinceMs: first,
    };
  }

  /** The days that a chart is of. */
  async days(of: SampledPool | null, { chart, periodMs }: ChartQuestion): Promise<SampledDays> {
    const { samples, clock } = this.#dependencies;
    const nowMs = clock.now();
    const fromMs = periodMs === null ? 0 : nowMs - periodMs;
    const first = of === null ? null : await samples.firstAtMs(of);
    const days = of === null ? [] : await samples.days(of, fromMs, chart === "apy" ? "rated" : "all");
    return { days, fromMs, sinceMs: first ?? nowMs };
  }

  /** The sample that is at least so many days old, and at most twice as many: an older one says little. */
  async #sampleBefore(of: SampledPool, nowMs: number, days: number): Promise<PoolSample | null> {
    const span = { fromMs: nowMs - 2 * days * dayMs, toMs: nowMs - days * dayMs };
    return await this.#dependencies.samples.lastUpTo(of, span);
  }
}

/** The present of a pool beside its past. */
export function changesOf({ before: { day, week, month } }: PoolPast, { holdings }: StakePoolFigures): PoolChanges {
  const rateSince = (before: PoolSample | null): ExactDecimal =>
    before === null ? zeroOf(percentPlaces) : rateChangePercent(before, holdings);
  return {
    tvl24h: changePercent(day?.lamports ?? 0n, holdings.lamports, percentPlaces),
    rate24h: rateSince(day),
    rate7d: rateSince(week),
    rate30d: rateSince(month),
  };
}

/** What today's point of a chart is made of; `figures` null is no pool. */
export interface ChartPresent {
  readonly chart: ChartQuestion["chart"];
  readonly figures: StakePoolFigures | null;
  readonly nowMs: number;
}

/** The days before today, by their samples. */
export const daysBefore = ({ days }: SampledDays, { nowMs }: Pick<ChartPresent, "nowMs">): readonly SampledDay[] =>
  days.filter(({ day }) => day < dayOf(nowMs));

/** The point of today; null where there is no pool, or its rate is not known. */
export function presentPoint({ chart, figures, nowMs }: ChartPresent) {
  if (figures === null || (chart === "apy" && figures.rating === "unknown")) return null;
  const value = chart === "tvl" ? native(figures.holdings.lamports) : figures.apy.total;
  return { timestamp: dayOf(nowMs), value };
}

/** A point for each day that was sampled, and for today what is now. */
export function chartPoints(sampled: SampledDays, shown: ChartPresent): readonly PoolRecord[] {
  const points = daysBefore(sampled, shown).map(({ day, lamports, rate }): PoolRecord => {
    const apy = { units: rate?.apy ?? 0n, places: percentPlaces };
    return { timestamp: day, value: shown.chart === "tvl" ? native(lamports) : apy };
  });
  const present = presentPoint(shown);
  return present === null ? points : [...points, present];
}

const noPast = (nowMs: number): PoolPast => ({
  averages: noAverages,
  before: { day: null, week: null, month: null },
  epochs: { days7: [], days30: [] },
  sinceMs: nowMs,
});

const averageOf = (rates: readonly EpochRates[]): ExactDecimal =>
  averageApy(
    rates.map(({ apy, mevApy, epochs }) => ({
      parts: {
        total: { units: apy, places: percentPlaces },
        mev: { units: mevApy, places: percentPlaces },
        base: { units: apy - mevApy, places: percentPlaces },
      },
      epochs,
    })),
  ).total;
