import { type ChartPeriod, chartPeriods, type FigurePeriod, figurePeriods } from "@sluice/contract/pool";
import { BoundedMap } from "@sluice/lib";
import { recordsText, recordText } from "../decimal.ts";
import { bundlesListedMax, outcomesPart, profitsPart, typesPart } from "../explain/bundle-parts.ts";
import { stepsOf } from "../explain/explanation.ts";
import { positionPart } from "../explain/position-part.ts";
import type { ExplainQuestion } from "../explain/question.ts";
import { breakdownRecordsOf, overviewRecordOf, pnlRecordOf } from "../figures.ts";
import type { Fresh, Freshness } from "../fresh.ts";
import type { ChartQuestion, SampledDays } from "../history.ts";
import { positionRecordOf } from "../position/position-figures.ts";
import { type PoolReadings, type PoolReadingsDependencies, positionSince } from "../readings.ts";
import {
  apyRecord,
  chartRecord,
  dashboardRecord,
  exchangeRateRecord,
  poolRecord,
  type ReadTotals,
  validatorsRecord,
} from "./chain-records.ts";
import { reachOf } from "./reach.ts";
import { type MadeRecord, ReadRecord } from "./record.ts";

/** Of figures of the ledger and of wallets, and of the days of charts, which are ten minutes apart. */
const ledgerFreshness: Freshness = { freshMs: 5_000, staleMs: 60_000 };
const chartFreshness: Freshness = { freshMs: 30_000, staleMs: 600_000 };
const walletsMax = 10_000;
const accountsMax = 10_000;

/** A record, and what it was made of. */
interface Derived {
  readonly from: readonly unknown[];
  readonly record: ReadRecord;
}

type Question<Name> = Extract<ExplainQuestion, { readonly record: Name }>;

/**
 * Gives the record of a question, made of readings that are not older than the freshness of each. A record and its
 * explanation are one object, so that they are of the same reading, and who asks again before something is read anew
 * gets the same object.
 */
export class PoolRecords {
  readonly #readings: PoolReadings;
  readonly #dependencies: Pick<PoolReadingsDependencies, "bundles" | "clock">;
  readonly #derived = new Map<string, Derived>();
  readonly #days: ReadonlyMap<string, Fresh<SampledDays>>;
  readonly #totals: Fresh<ReadTotals>;
  /** Of the ledger: overviews and the breakdown, profits by account, and positions by wallet. */
  readonly #outcomes = new Map<string, Fresh<ReadRecord>>();
  readonly #profits = new BoundedMap<string, Fresh<ReadRecord>>({ max: accountsMax });
  readonly #positions = new BoundedMap<string, Fresh<ReadRecord>>({ max: walletsMax });

  constructor(readings: PoolReadings, dependencies: Pick<PoolReadingsDependencies, "bundles" | "clock">) {
    this.#readings = readings;
    this.#dependencies = dependencies;
    this.#totals = readings.fresh(ledgerFreshness, "dashboard", () => this.#readTotals());
    const charts = (["tvl", "apy"] as const).flatMap((chart) =>
      (Object.keys(chartPeriods) as readonly ChartPeriod[]).map((period) => ({ chart, period })),
    );
    this.#days = new Map(
      charts.map(({ chart, period }) => {
        const asked: ChartQuestion = { chart, periodMs: chartPeriods[period] };
        const read = () => readings.history.days(readings.sampled(), asked);
        return [`${chart} ${period}`, readings.fresh(chartFreshness, "samples", read)];
      }),
    );
  }

  /** Rejects where what it needs cannot be read, and was not read for long. */
  async of(question: ExplainQuestion): Promise<ReadRecord> {
    switch (question.record) {
      case "pool": {
        const read = await this.#readings.figures();
        return this.#from("pool", [read], () => poolRecord(read));
      }
      case "validators": {
        const read = await this.#readings.figures();
        return this.#from("validators", [read], () => validatorsRecord(read));
      }
      case "apy": {
        const [read, past] = [await this.#readings.figures(), await this.#readings.past()];
        return this.#from("apy", [read, past], () => apyRecord(read, past));
      }
      case "exchange-rate": {
        const [read, past] = [await this.#readings.figures(), await this.#readings.past()];
        return this.#from("exchange-rate", [read, past], () => exchangeRateRecord(read, past));
      }
      case "charts/tvl":
      case "charts/apy":
        return await this.#chart(question.record === "charts/tvl" ? "tvl" : "apy", question.period);
      case "dashboard": {
        const [read, past, totals] = [
          await this.#readings.figures(),
          await this.#readings.past(),
          await this.#totals.get(),
        ];
        return this.#from("dashboard", [read, past, totals], () => dashboardRecord(read, past, totals));
      }
      default:
        return await this.#freshOf(question).get();
    }
  }

  async #chart(chart: ChartQuestion["chart"], period: ChartPeriod): Promise<ReadRecord> {
    const name = `${chart} ${period}`;
    const days = this.#days.get(name);
    if (days === undefined) throw new RangeError(`no chart is of ${period}`);
    const [read, sampled] = [await this.#readings.figures(), await days.get()];
    return this.#from(name, [read, sampled], () => chartRecord(read, sampled, { chart, period }));
  }

  /** The same record while it is of the same readings. */
  #from(name: string, from: readonly unknown[], make: () => MadeRecord): ReadRecord {
    const held = this.#derived.get(name);
    if (held?.from.every((each, index) => each === from[index]) === true) return held.record;
    const record = new ReadRecord(make());
    this.#derived.set(name, { from, record });
    return record;
  }

  #freshOf(question: Question<"position" | "pnl" | "overview" | "mev/breakdown">): Fresh<ReadRecord> {
    const fresh = (what: string, make: () => Promise<MadeRecord>) => () =>
      this.#readings.fresh(ledgerFreshness, what, async () => new ReadRecord(await make()));
    switch (question.record) {
      case "position":
        return this.#positions.getOrCreate(
          question.wallet,
          fresh("wallet", () => this.#position(question)),
        );
      case "pnl": {
        const key = JSON.stringify([question.accountId, question.strategy, question.period]);
        return this.#profits.getOrCreate(
          key,
          fresh("profits", () => this.#pnl(question)),
        );
      }
      default: {
        const key = question.record === "overview" ? question.period : "types";
        const make = () => (question.record === "overview" ? this.#overview(question.period) : this.#breakdown());
        const held = this.#outcomes.get(key) ?? fresh("bundles", make)();
        this.#outcomes.set(key, held);
        return held;
      }
    }
  }

  async #position({ record, wallet }: Question<"position">): Promise<MadeRecord> {
    const position = await this.#readings.position(wallet);
    const { slot, nowMs, pool } = position;
    return {
      ...{ record, slot, atMs: nowMs, fromMs: 0, sinceMs: positionSince(position) },
      text: recordText(positionRecordOf(pool.decimals, position.figures)),
      explain: () =>
        slot === null ? stepsOf("there is no pool on the chain, and its figures are 0") : positionPart(position),
    };
  }

  /** Of the ledger alone, as it was when it was asked. */
  async #ofLedger() {
    const atMs = this.#dependencies.clock.now();
    return { atMs, slot: null, sinceMs: await this.#readings.bundlesKnownSince() };
  }

  async #overview(period: FigurePeriod): Promise<MadeRecord> {
    const { bundles, clock } = this.#dependencies;
    const question = this.#readings.bundlesSince(clock.now() - figurePeriods[period]);
    const read = await this.#ofLedger();
    const figures = await bundles.figures(question);
    return {
      ...{ record: "overview", ...read, fromMs: question.fromMs },
      text: recordText(overviewRecordOf(period, figures)),
      explain: async () => outcomesPart(period, figures, await bundles.newestLanded(question, bundlesListedMax)),
    };
  }

  async #breakdown(): Promise<MadeRecord> {
    const { bundles } = this.#dependencies;
    const question = this.#readings.bundlesSince(0);
    const read = await this.#ofLedger();
    const types = await bundles.byMevType(question);
    return {
      ...{ record: "mev/breakdown", ...read, fromMs: 0 },
      text: recordsText(breakdownRecordsOf(types)),
      explain: async () => typesPart(types, await bundles.newestLanded(question, bundlesListedMax)),
    };
  }

  /** Profits need the outcome of a bundle and its transactions: they reach back as far as both do. */
  async #pnl({ accountId, strategy, period }: Question<"pnl">): Promise<MadeRecord> {
    const { bundles } = this.#dependencies;
    const question = this.#readings.profitsOf({ accountId, strategy, period });
    const { fromMs } = question;
    const { sinceMs: outcomesMs, ...read } = await this.#ofLedger();
    const transactionsMs = await this.#readings.transactionsKnownSince();
    const balances = await bundles.balances(question);
    return {
      ...{ record: "pnl", ...read, fromMs },
      sinceMs: reachOf([outcomesMs, transactionsMs].map((sinceMs) => ({ sinceMs, fromMs }))),
      text: recordText(pnlRecordOf({ strategy, period }, balances)),
      explain: async () => profitsPart(balances, await bundles.gains(question, bundlesListedMax)),
    };
  }

  async #readTotals(): Promise<ReadTotals> {
    const { bundles, clock } = this.#dependencies;
    const question = this.#readings.bundlesSince(clock.now() - figurePeriods["24h"]);
    const sinceMs = await this.#readings.bundlesKnownSince();
    const day = await bundles.figures(question);
    const all = await bundles.figures(this.#readings.bundlesSince(0));
    return { day, all, sinceMs, newest: () => bundles.newestLanded(question, bundlesListedMax) };
  }
}
