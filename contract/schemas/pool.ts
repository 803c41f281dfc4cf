import { z } from "zod";
import {
  chartPeriodDefault,
  chartPeriods,
  explainedRecords,
  figurePeriodDefault,
  figurePeriods,
  pnlStrategies,
} from "../pool.ts";
import { timestamp } from "./primitives.ts";

/** Records of the stake pool's endpoint (spec: block engine, REST records). Amounts are in native tokens. */

const amount = (description: string) => z.number().meta({ description: `${description}, in native tokens` });
const percent = (description: string) => z.number().meta({ description: `${description}, in percent` });
const lamports = (description: string) => z.number().meta({ description: `${description}, in lamports` });
const share = (description: string) =>
  z
    .number()
    .min(0)
    .max(1)
    .meta({ description: `${description}, from 0 to 1` });
const count = (description: string) => z.int().nonnegative().meta({ description });

const keysOf = <Name extends string>(of: Readonly<Record<Name, unknown>>): [Name, ...Name[]] => {
  const [first, ...others] = Object.keys(of) as Name[];
  if (first === undefined) throw new TypeError("an enumeration has no names");
  return [first, ...others];
};

const text = (names: readonly string[]) => ({ error: `must be one of ${names.join(", ")}` });
const figureNames = keysOf(figurePeriods);
const chartNames = keysOf(chartPeriods);

const figurePeriod = z.enum(figureNames, text(figureNames));
/** The parameter of an overview. */
export const overviewPath = z.object({ period: figurePeriod });
/** The query of a chart. */
export const chartQuery = z.object({
  period: z.enum(chartNames, text(chartNames)).default(chartPeriodDefault),
});
/** The query of profit and loss. */
export const pnlQuery = z.object({
  strategy: z.enum(pnlStrategies, text(pnlStrategies)).default("all"),
  period: figurePeriod.default(figurePeriodDefault),
});
/** The query of an explanation; which of the others a record needs, or takes, follows from its path. */
export const explainQuery = z.object({
  record: z
    .enum(explainedRecords, text(explainedRecords))
    .meta({ description: "The record, named by its path, for example `charts/tvl`" }),
  wallet: z.string().optional().meta({ description: "Of `position`, which needs it" }),
  period: z.string().optional().meta({ description: "Of `overview`, `pnl` and charts, as their own paths take it" }),
  strategy: z.string().optional().meta({ description: "Of `pnl`" }),
});

const exchangeRate = amount("What one token of the pool is worth");
const tvl = amount("All that the pool holds");
const tokenSupply = z.number().meta({ description: "Tokens of the pool" });
const validatorCount = count("Validators of the pool");
const apyParts = {
  apy: percent("What the pool's token gains in a year at the pace of the last epoch"),
  baseApy: percent("The part of it that is not from tips"),
  mevApy: percent("The part of it that is from tips"),
};

export const poolRecord = z
  .object({ tvl, exchangeRate, validatorCount, tokenSupply, ...apyParts })
  .meta({ id: "Pool", description: "The state of the stake pool" });

export const positionRecord = z
  .object({
    tokenBalance: z.number().meta({ description: "Tokens of the pool that the wallet holds" }),
    valueInNative: amount("What they are worth now"),
    unrealizedRewards: amount("That value less what they cost; tokens of unknown cost count as 0"),
    apyEarned: percent("The same in a year, since they were bought; 0 where it is not known, and in the first epoch"),
  })
  .meta({ id: "Position", description: "A wallet's part of the stake pool" });

export const validatorRecord = z
  .object({
    address: z.string().meta({ description: "The vote account" }),
    name: z.string().meta({ description: "What the validator calls itself on the chain; empty where it does not" }),
    stake: amount("Stake of the pool with it"),
    apy: percent("What that stake earned in the last epoch, in a year"),
    commission: percent("What it keeps of inflation rewards"),
    mevScore: z
      .number()
      .min(0)
      .max(100)
      .meta({ description: "Tips that it brings to its stake beside the others: 50 is the average, 0 none" }),
  })
  .meta({ id: "Validator", description: "A validator of the stake pool" });
/** The answer of GET /api/v1/validators. */
export const validatorRecords = z.array(validatorRecord);

export const overviewRecord = z
  .object({
    period: z.string(),
    total_tips_earned: lamports("Tips of bundles that landed"),
    total_bundles_landed: count("Bundles that landed"),
    avg_tip_per_bundle: lamports("Tips of one of them"),
    landing_rate: share("Bundles that landed, of those that ended"),
  })
  .meta({ id: "Overview", description: "What became of bundles in a period" });

export const apyRecord = z
  .object({
    current_apy: apyParts.apy,
    base_apy: apyParts.baseApy,
    mev_apy: apyParts.mevApy,
    apy_7d_avg: percent("The average of the epochs of the last 7 days"),
    apy_30d_avg: percent("The average of the epochs of the last 30 days"),
  })
  .meta({ id: "Apy", description: "What the pool's token gains in a year" });

export const exchangeRateRecord = z
  .object({
    rate: exchangeRate,
    rate_change_24h: percent("Its change in a day"),
    rate_change_7d: percent("Its change in 7 days"),
    rate_change_30d: percent("Its change in 30 days"),
  })
  .meta({ id: "ExchangeRate", description: "What one token of the pool is worth, and how that changed" });

export const mevBreakdownItem = z
  .object({
    type: z.string(),
    bundles: count("Bundles that landed"),
    revenue: amount("Their tips"),
    percentage: percent("Their part of all tips"),
  })
  .meta({ id: "MevBreakdownItem", description: "Tips of one type of bundles" });
/** The answer of GET /api/v1/mev/breakdown. */
export const mevBreakdown = z.array(mevBreakdownItem);

export const chartPoint = z
  .object({ timestamp: z.iso.date(), value: z.number() })
  .meta({ id: "ChartPoint", description: "The value at the end of a day (UTC), or now for today" });
/** The answer of a chart, in the order of days. */
export const chartPoints = z.array(chartPoint);

export const dashboardRecord = z
  .object({
    tvl,
    tvlChange24h: percent("Its change in a day"),
    ...apyParts,
    bundlesLanded24h: count("Bundles that landed in a day"),
    bundlesTotal: count("Bundles that landed since the ledger has them"),
    landingRate: share("Bundles that landed in a day, of those that ended"),
    mevRevenue24h: amount("Tips of a day"),
    mevRevenueTotal: amount("Tips since the ledger has them"),
    validatorCount,
    tokenSupply,
    exchangeRate,
    exchangeRateChange24h: percent("Its change in a day"),
  })
  .meta({ id: "Dashboard", description: "The figures of the pool and of its tips in one record" });

export const pnlRecord = z
  .object({
    strategy: z.string(),
    period: z.string(),
    totalRevenue: amount("What owners of landed bundles gained before fees and tips"),
    totalCost: amount("Fees that they paid, and tips"),
    netProfit: amount("Revenue less cost"),
    bundleCount: count("Bundles that landed and whose transactions the ledger has"),
    avgProfitPerBundle: amount("Net profit of one of them"),
  })
  .meta({ id: "Pnl", description: "Profit and loss of the key's account; of everybody with the permission admin" });

/** How a record comes about. */
export const explanationRecord = z
  .object({
    record: z.string(),
    at: timestamp.meta({ description: "When it was read: a record of the same reading has these very values" }),
    slot: z.string().nullable().meta({ description: "The slot of the accounts; null where none were read" }),
    inputs: z.array(
      z.object({
        what: z.string(),
        where: z.string().meta({ description: "The account and its place, the sample, the transaction or the bundle" }),
        value: z.string().meta({ description: "In the smallest unit" }),
      }),
    ),
    steps: z.array(z.string()).meta({ description: "The arithmetic, one step each" }),
  })
  .meta({ id: "Explanation", description: "What a record is computed from, and how" });
export type ExplanationBody = z.output<typeof explanationRecord>;
export type PoolBody = z.output<typeof poolRecord>;
export type PositionBody = z.output<typeof positionRecord>;
export type ValidatorBody = z.output<typeof validatorRecord>;
export type OverviewBody = z.output<typeof overviewRecord>;
export type ApyBody = z.output<typeof apyRecord>;
export type ExchangeRateBody = z.output<typeof exchangeRateRecord>;
/** The items of the breakdown. */
export type MevBreakdownBody = z.output<typeof mevBreakdown>;
/** The points of a chart. */
export type ChartBody = z.output<typeof chartPoints>;
export type DashboardBody = z.output<typeof dashboardRecord>;
export type PnlBody = z.output<typeof pnlRecord>;
