import {
  type ChartPeriod,
  chartPeriods,
  type FigurePeriod,
  figurePeriods,
  type PnlStrategy,
} from "@sluice/contract/pool";
import { BoundedMap } from "@sluice/lib";
import type { Address } from "@sluice/wire/identifiers";
import { recordsText, recordText } from "./decimal.ts";
import { PoolExplainer } from "./explain/explainer.ts";
import type { ExplainQuestion } from "./explain/question.ts";
import {
  apyRecordOf,
  breakdownRecordsOf,
  dashboardRecordOf,
  exchangeRateRecordOf,
  overviewRecordOf,
  pnlRecordOf,
  poolRecordOf,
  validatorRecordOf,
} from "./figures.ts";
import type { ReadFigures } from "./figures-source.ts";
import type { Fresh, Freshness } from "./fresh.ts";
import { positionRecordOf } from "./position/position-figures.ts";
import { PoolReadings, type PoolReadingsDependencies, type PoolReadingsOptions, positionSince } from "./readings.ts";

/** An answer's text, and from when on it has all that there is; null where it is of the present alone. */
export interface PoolAnswer {
  readonly text: string;
  /** Unix milliseconds. */
  readonly sinceMs: number | null;
  /** Where the answer's period begins, in Unix milliseconds. */
  readonly fromMs: number;
}

/** Of figures of the ledger, of charts, and of what is asked by many different callers. */
const ledgerFreshness: Freshness = { freshMs: 5_000, staleMs: 60_000 };
const chartFreshness: Freshness = { freshMs: 30_000, staleMs: 600_000 };
const askedFreshness: Freshness = { freshMs: 5_000, staleMs: 5_000 };
const walletsMax = 10_000;
const accountsMax = 10_000;
/** An explanation may be of a thousand bundles, or of thousands of validators. */
const explanationsMax = 100;

/** The texts that follow from one reading of the chain. */
interface ChainTexts {
  readonly read: ReadFigures;
  readonly pool: string;
  readonly validators: string;
}

/** Answers with the figures of the stake pool and of bundles, each from what was read not long ago. */
export class PoolService {
  readonly #dependencies: PoolReadingsDependencies;
  readonly #readings: PoolReadings;
  readonly #explainer: PoolExplainer;
  #texts: ChainTexts | null = null;
  readonly #charts: ReadonlyMap<string, Fresh<PoolAnswer>>;
  readonly #overviews: ReadonlyMap<FigurePeriod, Fresh<PoolAnswer>>;
  readonly #breakdown: Fresh<PoolAnswer>;
  readonly #dashboard: Fresh<PoolAnswer>;
  readonly #wallets = new BoundedMap<string, Fresh<PoolAnswer>>({ max: walletsMax });
  readonly #profits = new BoundedMap<string, Fresh<PoolAnswer>>({ max: accountsMax });
  readonly #explanations = new BoundedMap<string, Fresh<PoolAnswer>>({ max: explanationsMax });

  constructor(options: PoolReadingsOptions, dependencies: PoolReadingsDependencies) {
    this.#dependencies = dependencies;
    const readings = new PoolReadings(options, dependencies);
    this.#readings = readings;
    this.#explainer = new PoolExplainer({ readings, ...dependencies });
    const charts = (["tvl", "apy"] as const).flatMap((chart) =>
      (Object.keys(chartPeriods) as readonly ChartPeriod[]).map((period) => ({ chart, period })),
    );
    this.#charts = new Map(
      charts.map(({ chart, period }) => [
        `${chart} ${period}`,
        readings.fresh(chartFreshness, "samples", () => this.#readChart(chart, period)),
      ]),
    );
    const periods = Object.keys(figurePeriods) as readonly FigurePeriod[];
    this.#overviews = new Map(
      periods.map((period) => [period, readings.fresh(ledgerFreshness, "bundles", () => this.#readOverview(period))]),
    );
    this.#breakdown = readings.fresh(ledgerFreshness, "bundles", () => this.#readBreakdown());
    this.#dashboard = readings.fresh(ledgerFreshness, "dashboard", () => this.#readDashboard());
  }

  /** Reads the chain, so that the first caller need not wait for it. Never rejects. */
  async begin(): Promise<void> {
    await this.#readings.begin();
  }

  /** The figures and what they were computed from. */
  async read(): Promise<ReadFigures> {
    return await this.#readings.figures();
  }

  /** Which pool the ledger's samples are of; null without one. */
  sampled(): ReturnType<PoolReadings["sampled"]> {
    return this.#readings.sampled();
  }

  /** How a record comes about, as JSON of an `Explanation`, from the same readings as the record itself. */
  async explain(question: ExplainQuestion): Promise<PoolAnswer> {
    const fresh = this.#explanations.getOrCreate(JSON.stringify(question), () =>
      this.#readings.fresh(askedFreshness, "explanation", async () => {
        const { explanation, ...from } = await this.#explainer.explain(question);
        return { text: JSON.stringify(explanation), ...from };
      }),
    );
    return await fresh.get();
  }

  async pool(): Promise<PoolAnswer> {
    return present((await this.#chainTexts()).pool);
  }

  async validators(): Promise<PoolAnswer> {
    return present((await this.#chainTexts()).validators);
  }

  async apy(): Promise<PoolAnswer> {
    const { figures } = await this.read();
    const { averages, sinceMs } = await this.#readings.past();
    return { text: recordText(apyRecordOf(figures, averages)), sinceMs, fromMs: this.#monthAgo() };
  }

  async exchangeRate(): Promise<PoolAnswer> {
    const { figures } = await this.read();
    const { changes, sinceMs } = await this.#readings.past();
    return { text: recordText(exchangeRateRecordOf(figures, changes)), sinceMs, fromMs: this.#monthAgo() };
  }

  async position(wallet: Address): Promise<PoolAnswer> {
    const fresh = this.#wallets.getOrCreate(wallet, () =>
      this.#readings.fresh(askedFreshness, "wallet", () => this.#readPosition(wallet)),
    );
    return await fresh.get();
  }

  async overview(period: FigurePeriod): Promise<PoolAnswer> {
    const fresh = this.#overviews.get(period);
    if (fresh === undefined) throw new RangeError(`no overview is of ${period}`);
    return await fresh.get();
  }

  async breakdown(): Promise<PoolAnswer> {
    return await this.#breakdown.get();
  }

  async dashboard(): Promise<PoolAnswer> {
    return await this.#dashboard.get();
  }

  async chart(chart: "tvl" | "apy", period: ChartPeriod): Promise<PoolAnswer> {
    const fresh = this.#charts.get(`${chart} ${period}`);
    if (fresh === undefined) throw new RangeError(`no chart is of ${period}`);
    return await fresh.get();
  }

  /** Of an account, or of all of them. */
  async pnl(
    accountId: string | null,
    asked: { readonly strategy: PnlStrategy; readonly period: FigurePeriod },
  ): Promise<PoolAnswer> {
    const key = JSON.stringify([accountId, asked.strategy, asked.period]);
    const fresh = this.#profits.getOrCreate(key, () =>
      this.#readings.fresh(ledgerFreshness, "profits", () => this.#readProfits(accountId, asked)),
    );
    return await fresh.get();
  }

  /** The texts of the present reading, made once for each. */
  async #chainTexts(): Promise<ChainTexts> {
    const read = await this.read();
    if (this.#texts?.read === read) return this.#texts;
    this.#texts = textsOf(read);
    return this.#texts;
  }

  #monthAgo(): number {
    return this.#dependencies.clock.now() - figurePeriods["30d"];
  }

  async #readChart(chart: "tvl" | "apy", period: ChartPeriod): Promise<PoolAnswer> {
    const { figures, snapshot } = await this.read();
    const shown = { chart, periodMs: chartPeriods[period], figures: snapshot === null ? null : figures };
    const { points, sinceMs, fromMs } = await this.#readings.history.chart(this.sampled(), shown);
    return { text: recordsText(points), sinceMs, fromMs };
  }

  async #readPosition(wallet: Address): Promise<PoolAnswer> {
    const position = await this.#readings.position(wallet);
    const text = recordText(positionRecordOf(position.pool.decimals, position.figures));
    return { text, sinceMs: positionSince(position), fromMs: 0 };
  }

  async #readOverview(period: FigurePeriod): Promise<PoolAnswer> {
    const question = this.#readings.bundlesSince(this.#dependencies.clock.now() - figurePeriods[period]);
    const sinceMs = await this.#readings.bundlesKnownSince();
    const figures = await this.#dependencies.bundles.figures(question);
    return { text: recordText(overviewRecordOf(period, figures)), sinceMs, fromMs: question.fromMs };
  }

  async #readBreakdown(): Promise<PoolAnswer> {
    const sinceMs = await this.#readings.bundlesKnownSince();
    const figures = await this.#dependencies.bundles.byMevType(this.#readings.bundlesSince(0));
    return { text: recordsText(breakdownRecordsOf(figures)), sinceMs, fromMs: 0 };
  }

  async #readDashboard(): Promise<PoolAnswer> {
    const { bundles, clock } = this.#dependencies;
    const { figures } = await this.read();
    const sinceMs = await this.#readings.bundlesKnownSince();
    const day = await bundles.figures(this.#readings.bundlesSince(clock.now() - figurePeriods["24h"]));
    const all = await bundles.figures(this.#readings.bundlesSince(0));
    const { changes } = await this.#readings.past();
    return { text: recordText(dashboardRecordOf(figures, changes, { day, all })), sinceMs, fromMs: 0 };
  }

  async #readProfits(
    accountId: string | null,
    asked: { readonly strategy: PnlStrategy; readonly period: FigurePeriod },
  ): Promise<PoolAnswer> {
    const question = this.#readings.profitsOf({ accountId, ...asked });
    const sinceMs = await this.#readings.bundlesKnownSince();
    const balances = await this.#dependencies.bundles.balances(question);
    return { text: recordText(pnlRecordOf(asked, balances)), sinceMs, fromMs: question.fromMs };
  }
}

const present = (text: string): PoolAnswer => ({ text, sinceMs: null, fromMs: 0 });

function textsOf(read: ReadFigures): ChainTexts {
  const { figures } = read;
  return {
    read,
    pool: recordText(poolRecordOf(figures)),
    validators: recordsText(figures.validators.map(validatorRecordOf)),
  };
}
