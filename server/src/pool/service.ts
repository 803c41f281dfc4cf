import type { MevType } from "@sluice/contract/engine";
import {
  type ChartPeriod,
  chartPeriods,
  type FigurePeriod,
  figurePeriods,
  type PnlStrategy,
} from "@sluice/contract/pool";
import type { Network } from "@sluice/contract/tiers";
import { BoundedMap, type Clock } from "@sluice/lib";
import type { Address } from "@sluice/wire/identifiers";
import type { EngineChain } from "../engine/index.ts";
import type { Ledger, SampledPool } from "../ledger/index.ts";
import type { StakePoolChain } from "./account-reads.ts";
import { recordsText, recordText } from "./decimal.ts";
import type { StakePoolEvents } from "./events.ts";
import { chainRecords, type Explanation, explainBundles, explainChain } from "./explain.ts";
import {
  apyRecordOf,
  breakdownRecordsOf,
  dashboardRecordOf,
  exchangeRateRecordOf,
  overviewRecordOf,
  pnlRecordOf,
  poolRecordOf,
  positionRecordOf,
  validatorRecordOf,
} from "./figures.ts";
import { FiguresSource, type ReadFigures } from "./figures-source.ts";
import { Fresh, type Freshness } from "./fresh.ts";
import { PoolHistory, type PoolPast } from "./history.ts";
import type { PoolIdentity } from "./pool-reader.ts";
import { walletTokens } from "./wallet-tokens.ts";

export interface PoolServiceOptions {
  readonly network: Network;
  /** Null where no pool is configured: what bundles brought is told all the same. */
  readonly identity: PoolIdentity | null;
}

export interface PoolServiceDependencies {
  readonly chain: StakePoolChain & Pick<EngineChain, "genesis">;
  readonly samples: Ledger["poolSamples"];
  readonly bundles: Pick<Ledger["bundles"], "figures" | "byMevType" | "firstAtMs" | "balances" | "newest">;
  readonly clock: Clock;
  readonly events: StakePoolEvents;
}

/** An answer's text, and from when on it has all that there is; null where it is of the present alone. */
export interface PoolAnswer {
  readonly text: string;
  /** Unix milliseconds. */
  readonly sinceMs: number | null;
  /** Where the answer's period begins, in Unix milliseconds. */
  readonly fromMs: number;
}

/** Figures of the chain, of the ledger, and of what is asked by many different callers. */
const chainFreshness: Freshness = { freshMs: 10_000, staleMs: 300_000 };
const ledgerFreshness: Freshness = { freshMs: 5_000, staleMs: 60_000 };
const pastFreshness: Freshness = { freshMs: 30_000, staleMs: 600_000 };
const walletFreshness: Freshness = { freshMs: 5_000, staleMs: 5_000 };
const walletsMax = 10_000;
const accountsMax = 10_000;

/** The records that are explained. */
export const explainedRecords = [...chainRecords, "mev"] as const;
/** Bundles that an explanation lists. */
const landedMax = 1_000;

/** The texts that follow from one reading of the chain. */
interface ChainTexts {
  readonly read: ReadFigures;
  readonly pool: string;
  readonly validators: string;
}

/** Answers with the figures of the stake pool and of bundles, each from what was read not long ago. */
export class PoolService {
  readonly #options: PoolServiceOptions;
  readonly #dependencies: PoolServiceDependencies;
  readonly #chain: Fresh<ChainTexts>;
  readonly #history: PoolHistory;
  readonly #past: Fresh<PoolPast>;
  readonly #charts: ReadonlyMap<string, Fresh<PoolAnswer>>;
  readonly #overviews: ReadonlyMap<FigurePeriod, Fresh<PoolAnswer>>;
  readonly #breakdown: Fresh<PoolAnswer>;
  readonly #dashboard: Fresh<PoolAnswer>;
  readonly #wallets = new BoundedMap<string, Fresh<string>>({ max: walletsMax });
  readonly #profits = new BoundedMap<string, Fresh<PoolAnswer>>({ max: accountsMax });

  constructor(options: PoolServiceOptions, dependencies: PoolServiceDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
    const source = new FiguresSource(options.identity, dependencies);
    this.#chain = this.#fresh(chainFreshness, "pool", async () => textsOf(await source.read()));
    this.#history = new PoolHistory(dependencies);
    this.#past = this.#fresh(pastFreshness, "samples", async () => {
      const { figures } = await this.read();
      return await this.#history.past(this.sampled(), figures);
    });
    const charts = (["tvl", "apy"] as const).flatMap((chart) =>
      (Object.keys(chartPeriods) as readonly ChartPeriod[]).map((period) => ({ chart, period })),
    );
    this.#charts = new Map(
      charts.map(({ chart, period }) => [
        `${chart} ${period}`,
        this.#fresh(pastFreshness, "samples", () => this.#readChart(chart, period)),
      ]),
    );
    const periods = Object.keys(figurePeriods) as readonly FigurePeriod[];
    this.#overviews = new Map(
      periods.map((period) => [period, this.#fresh(ledgerFreshness, "bundles", () => this.#readOverview(period))]),
    );
    this.#breakdown = this.#fresh(ledgerFreshness, "bundles", () => this.#readBreakdown());
    this.#dashboard = this.#fresh(ledgerFreshness, "dashboard", () => this.#readDashboard());
  }

  /** Reads the chain, so that the first caller need not wait for it. Never rejects. */
  async begin(): Promise<void> {
    await this.#chain.read().catch((error: unknown) => this.#dependencies.events.readingFailed("pool", error));
  }

  /** How a record comes about; null for one that has no explanation. */
  async explain(record: string): Promise<Explanation | null> {
    if (record === "mev") {
      const bundles = await this.#dependencies.bundles.newest(this.#options.network, landedMax);
      return explainBundles(record, bundles, landedMax);
    }
    const known = chainRecords.find((each) => each === record);
    return known === undefined ? null : explainChain(known, await this.read());
  }

  /** Which pool the ledger's samples are of; null without one. */
  sampled(): SampledPool | null {
    const { identity, network } = this.#options;
    if (identity === null) return null;
    return { network, chain: this.#dependencies.chain.genesis() ?? "", pool: identity.address };
  }

  /** The figures and what they were computed from. */
  async read(): Promise<ReadFigures> {
    return (await this.#chain.get()).read;
  }

  async pool(): Promise<PoolAnswer> {
    return present((await this.#chain.get()).pool);
  }

  async validators(): Promise<PoolAnswer> {
    return present((await this.#chain.get()).validators);
  }

  async apy(): Promise<PoolAnswer> {
    const { figures } = await this.read();
    const { averages, sinceMs } = await this.#past.get();
    return { text: recordText(apyRecordOf(figures, averages)), sinceMs, fromMs: this.#monthAgo() };
  }

  async exchangeRate(): Promise<PoolAnswer> {
    const { figures } = await this.read();
    const { changes, sinceMs } = await this.#past.get();
    return { text: recordText(exchangeRateRecordOf(figures, changes)), sinceMs, fromMs: this.#monthAgo() };
  }

  async position(wallet: Address): Promise<PoolAnswer> {
    const fresh = this.#wallets.getOrCreate(wallet, () =>
      this.#fresh(walletFreshness, "wallet", () => this.#readPosition(wallet)),
    );
    return present(await fresh.get());
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
      this.#fresh(ledgerFreshness, "profits", () => this.#readProfits(accountId, asked)),
    );
    return await fresh.get();
  }

  #fresh<T>(freshness: Freshness, what: string, read: () => Promise<T>): Fresh<T> {
    const { clock, events } = this.#dependencies;
    return new Fresh(freshness, { clock, read, failed: (error) => events.readingFailed(what, error) });
  }

  #monthAgo(): number {
    return this.#dependencies.clock.now() - figurePeriods["30d"];
  }

  async #readChart(chart: "tvl" | "apy", period: ChartPeriod): Promise<PoolAnswer> {
    const { figures, snapshot } = await this.read();
    const shown = { chart, periodMs: chartPeriods[period], figures: snapshot === null ? null : figures };
    const { points, sinceMs, fromMs } = await this.#history.chart(this.sampled(), shown);
    return { text: recordsText(points), sinceMs, fromMs };
  }

  async #readPosition(wallet: Address): Promise<string> {
    const { figures, snapshot } = await this.read();
    const mint = snapshot?.pool.poolMint ?? null;
    const tokens = mint === null ? 0n : await walletTokens(this.#dependencies.chain, { wallet, mint });
    return recordText(positionRecordOf(figures, tokens, null));
  }

  #question(fromMs: number) {
    const untilMs = this.#dependencies.clock.now() + 1;
    return { network: this.#options.network, fromMs, untilMs, searcherId: null, mevType: null };
  }

  /** Since when there are outcomes of bundles; without one it is now. */
  async #bundlesSince(): Promise<number> {
    const { bundles, clock } = this.#dependencies;
    return (await bundles.firstAtMs(this.#options.network)) ?? clock.now();
  }

  async #readOverview(period: FigurePeriod): Promise<PoolAnswer> {
    const fromMs = this.#dependencies.clock.now() - figurePeriods[period];
    const sinceMs = await this.#bundlesSince();
    const figures = await this.#dependencies.bundles.figures(this.#question(fromMs));
    return { text: recordText(overviewRecordOf(period, figures)), sinceMs, fromMs };
  }

  async #readBreakdown(): Promise<PoolAnswer> {
    const sinceMs = await this.#bundlesSince();
    const figures = await this.#dependencies.bundles.byMevType(this.#question(0));
    return { text: recordsText(breakdownRecordsOf(figures)), sinceMs, fromMs: 0 };
  }

  async #readDashboard(): Promise<PoolAnswer> {
    const { bundles, clock } = this.#dependencies;
    const { figures } = await this.read();
    const sinceMs = await this.#bundlesSince();
    const day = await bundles.figures(this.#question(clock.now() - figurePeriods["24h"]));
    const all = await bundles.figures(this.#question(0));
    const { changes } = await this.#past.get();
    return { text: recordText(dashboardRecordOf(figures, changes, { day, all })), sinceMs, fromMs: 0 };
  }

  async #readProfits(
    accountId: string | null,
    asked: { readonly strategy: PnlStrategy; readonly period: FigurePeriod },
  ): Promise<PoolAnswer> {
    const { bundles, clock } = this.#dependencies;
    const { network } = this.#options;
    const untilMs = clock.now() + 1;
    const fromMs = untilMs - 1 - figurePeriods[asked.period];
    const mevType: MevType | null = asked.strategy === "all" ? null : asked.strategy;
    const sinceMs = await this.#bundlesSince();
    const balances = await bundles.balances({ network, fromMs, untilMs, accountId, mevType });
    return { text: recordText(pnlRecordOf(asked, balances)), sinceMs, fromMs };
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
