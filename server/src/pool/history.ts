import type { Clock } from "@sluice/lib";
import type { EpochRates, PoolSample, PoolSampleReads, SampledDay, SampledPool } from "../ledger/index.ts";
import { averageApy, percentPlaces, rateChangePercent } from "./arithmetic.ts";
import { changePercent, type ExactDecimal, native, type PoolRecord, zeroOf } from "./decimal.ts";
import { type ApyAverages, noAverages, noChanges, type PoolChanges, type StakePoolFigures } from "./figures.ts";

const dayMs = 86_400_000;

export interface PoolHistoryDependencies {
  readonly samples: PoolSampleReads;
  readonly clock: Pick<Clock, "now">;
}

/** What samples say of a pool at one moment, and which ones say it. */
export interface PoolPast {
  readonly changes: PoolChanges;
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

  /** Compares the present with the past; null as `of` is a pool without samples. */
  async past(of: SampledPool | null, { holdings }: StakePoolFigures): Promise<PoolPast> {
    const { samples, clock } = this.#dependencies;
    const nowMs = clock.now();
    const first = of === null ? null : await samples.firstAtMs(of);
    if (of === null || first === null) return noPast(nowMs);
    const [day = null, week = null, month = null] = await Promise.all(
      [1, 7, 30].map((days) => this.#sampleBefore(of, nowMs, days)),
    );
    const days30 = await samples.rates(of, nowMs - 30 * dayMs);
    const days7 = await samples.rates(of, nowMs - 7 * dayMs);
    const rateSince = (before: PoolSample | null): ExactDecimal =>
      before === null ? zeroOf(percentPlaces) : rateChangePercent(before, holdings);
    return {
      changes: {
        tvl24h: changePercent(day?.lamports ?? 0n, holdings.lamports, percentPlaces),
        rate24h: rateSince(day),
        rate7d: rateSince(week),
        rate30d: rateSince(month),
      },
      averages: { days7: averageOf(days7), days30: averageOf(days30) },
      before: { day, week, month },
      epochs: { days7, days30 },
      sinceMs: first,
    };
  }

  /** The days that a chart is of, today's samples left out. */
  async days(of: SampledPool | null, { chart, periodMs }: ChartQuestion): Promise<SampledDays> {
    const { samples, clock } = this.#dependencies;
    const nowMs = clock.now();
    const fromMs = periodMs === null ? 0 : nowMs - periodMs;
    const first = of === null ? null : await samples.firstAtMs(of);
    const days = of === null ? [] : await samples.days(of, fromMs, chart === "apy" ? "rated" : "all");
    return { days: days.filter(({ day }) => day !== dayOf(nowMs)), fromMs, sinceMs: first ?? nowMs };
  }

  /** A point for each day that was sampled, and for today what is now; `figures` null is no pool. */
  async chart(
    of: SampledPool | null,
    { figures, ...asked }: ChartQuestion & { readonly figures: StakePoolFigures | null },
  ): Promise<Omit<SampledDays, "days"> & { readonly points: readonly PoolRecord[] }> {
    const { days, ...from } = await this.days(of, asked);
    const points = days.map(({ day, lamports, rate }): PoolRecord => {
      const apy = { units: rate?.apy ?? 0n, places: percentPlaces };
      return { timestamp: day, value: asked.chart === "tvl" ? native(lamports) : apy };
    });
    const present = figures === null ? [] : [this.present(figures, asked.chart)];
    return { points: [...points, ...present], ...from };
  }

  /** The point of today. */
  present(
    { holdings, apy }: StakePoolFigures,
    chart: "tvl" | "apy",
  ): { readonly timestamp: string; readonly value: ExactDecimal } {
    const timestamp = dayOf(this.#dependencies.clock.now());
    return { timestamp, value: chart === "tvl" ? native(holdings.lamports) : apy.total };
  }

  /** The sample that is at least so many days old, and at most twice as many: an older one says little. */
  async #sampleBefore(of: SampledPool, nowMs: number, days: number): Promise<PoolSample | null> {
    const span = { fromMs: nowMs - 2 * days * dayMs, toMs: nowMs - days * dayMs };
    return await this.#dependencies.samples.lastUpTo(of, span);
  }
}

const noPast = (nowMs: number): PoolPast => ({
  changes: noChanges,
  averages: noAverages,
  before: { day: null, week: null, month: null },
  epochs: { days7: [], days30: [] },
  sinceMs: nowMs,
});

const averageOf = (epochs: readonly EpochRates[]): ExactDecimal =>
  averageApy(
    epochs.map(({ apy, mevApy }) => ({
      total: { units: apy, places: percentPlaces },
      mev: { units: mevApy, places: percentPlaces },
      base: { units: apy - mevApy, places: percentPlaces },
    })),
  ).total;
