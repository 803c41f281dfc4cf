import type { Clock } from "@sluice/lib";
import type { PoolSampleReads, SampledPool } from "../ledger/index.ts";
import { averageApy, type PoolHoldings, percentPlaces, rateChangePercent } from "./arithmetic.ts";
import { changePercent, type ExactDecimal, native, type PoolRecord, zeroOf } from "./decimal.ts";
import { type ApyAverages, noAverages, noChanges, type PoolChanges, type StakePoolFigures } from "./figures.ts";

const dayMs = 86_400_000;

export interface PoolHistoryDependencies {
  readonly samples: PoolSampleReads;
  readonly clock: Pick<Clock, "now">;
}

/** What samples say of a pool at one moment. */
export interface PoolPast {
  readonly changes: PoolChanges;
  readonly averages: ApyAverages;
  /** Unix milliseconds of the first sample; now where there is none. */
  readonly sinceMs: number;
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
    if (of === null || first === null) return { changes: noChanges, averages: noAverages, sinceMs: nowMs };
    const [day, week, month] = await Promise.all([1, 7, 30].map((days) => this.#holdingsBefore(of, nowMs, days)));
    const rates = await samples.rates(of, nowMs - 30 * dayMs);
    const lately = await samples.rates(of, nowMs - 7 * dayMs);
    const average = (epochs: typeof rates): ExactDecimal =>
      averageApy(
        epochs.map(({ apy, mevApy }) => ({
          total: { units: apy, places: percentPlaces },
          mev: { units: mevApy, places: percentPlaces },
          base: { units: apy - mevApy, places: percentPlaces },
        })),
      ).total;
    const rateSince = (before: PoolHoldings | null | undefined): ExactDecimal =>
      before === null || before === undefined ? zeroOf(percentPlaces) : rateChangePercent(before, holdings);
    return {
      changes: {
        tvl24h: changePercent(day?.lamports ?? 0n, holdings.lamports, percentPlaces),
        rate24h: rateSince(day),
        rate7d: rateSince(week),
        rate30d: rateSince(month),
      },
      averages: { days7: average(lately), days30: average(rates) },
      sinceMs: first,
    };
  }

  /** A point for each day that was sampled, and for today what is now. */
  async chart(
    of: SampledPool | null,
    {
      chart,
      periodMs,
      figures,
    }: {
      readonly chart: "tvl" | "apy";
      readonly periodMs: number | null;
      readonly figures: StakePoolFigures | null;
    },
  ): Promise<{ readonly points: readonly PoolRecord[]; readonly sinceMs: number; readonly fromMs: number }> {
    const { samples, clock } = this.#dependencies;
    const nowMs = clock.now();
    const fromMs = periodMs === null ? 0 : nowMs - periodMs;
    const first = of === null ? null : await samples.firstAtMs(of);
    const days = of === null ? [] : await samples.days(of, fromMs);
    const today = dayOf(nowMs);
    const points = days
      .filter(({ day }) => day !== today)
      .map(({ day, lamports, apy }): PoolRecord => {
        return { timestamp: day, value: chart === "tvl" ? native(lamports) : { units: apy, places: percentPlaces } };
      });
    const present: readonly PoolRecord[] =
      figures === null
        ? []
        : [{ timestamp: today, value: chart === "tvl" ? native(figures.holdings.lamports) : figures.apy.total }];
    return { points: [...points, ...present], sinceMs: first ?? nowMs, fromMs };
  }

  /** The sample that is at least so many days old, and at most twice as many: an older one says little. */
  async #holdingsBefore(of: SampledPool, nowMs: number, days: number): Promise<PoolHoldings | null> {
    const span = { fromMs: nowMs - 2 * days * dayMs, toMs: nowMs - days * dayMs };
    return await this.#dependencies.samples.lastUpTo(of, span);
  }
}
