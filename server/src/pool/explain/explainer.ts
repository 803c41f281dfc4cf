import { chartPeriods, figurePeriods } from "@sluice/contract/pool";
import type { Ledger } from "../../ledger/index.ts";
import { decimalText } from "../decimal.ts";
import type { ReadFigures } from "../figures-source.ts";
import type { PoolReadings } from "../readings.ts";
import { positionSince } from "../readings.ts";
import type { PoolSnapshot } from "../snapshot.ts";
import { bundlesListedMax, outcomesPart, profitsPart, typesPart } from "./bundle-parts.ts";
import { apyPart, holdingsPart, ratePart, validatorsPart } from "./chain-parts.ts";
import { type ExplainedPart, type Explanation, joined, stepsOf } from "./explanation.ts";
import { averagesPart, daysPart, rateChangesPart, tvlChangePart } from "./past-parts.ts";
import { positionPart } from "./position-part.ts";
import type { ExplainQuestion } from "./question.ts";

/** An explanation, and from when the record has all that there is, as the record itself says it. */
export interface DatedExplanation {
  readonly explanation: Explanation;
  /** Unix milliseconds; null where the record is of the present alone. */
  readonly sinceMs: number | null;
  readonly fromMs: number;
}

interface Dated {
  readonly part: ExplainedPart;
  readonly sinceMs: number | null;
  readonly fromMs: number;
}

export interface PoolExplainerDependencies {
  readonly readings: PoolReadings;
  readonly bundles: Pick<Ledger["bundles"], "figures" | "byMevType" | "balances" | "newestLanded" | "gains">;
  readonly clock: { now(): number };
}

const noPool = stepsOf("there is no pool on the chain, and what is not known is 0");
const present = (part: ExplainedPart): Dated => ({ part, sinceMs: null, fromMs: 0 });

/** Tells of each record what it is computed from, and how. */
export class PoolExplainer {
  readonly #dependencies: PoolExplainerDependencies;

  constructor(dependencies: PoolExplainerDependencies) {
    this.#dependencies = dependencies;
  }

  async explain(question: ExplainQuestion): Promise<DatedExplanation> {
    const read = await this.#dependencies.readings.figures();
    const { part, sinceMs, fromMs } = await this.#part(question, read);
    const ofBundles = ["overview", "mev/breakdown", "pnl"].includes(question.record);
    const slot = read.snapshot === null || ofBundles ? null : read.snapshot.slot.toString();
    return { explanation: { record: question.record, slot, ...part }, sinceMs, fromMs };
  }

  async #part(question: ExplainQuestion, read: ReadFigures): Promise<Dated> {
    const of = (part: (snapshot: PoolSnapshot) => ExplainedPart): ExplainedPart =>
      read.snapshot === null ? noPool : part(read.snapshot);
    switch (question.record) {
      case "pool":
        return present(of((pool) => joined(holdingsPart(read, pool), ratePart(read, pool), apyPart(read, pool))));
      case "validators":
        return present(of((pool) => validatorsPart(read, pool)));
      case "apy": {
        const past = await this.#dependencies.readings.past();
        const part = of((pool) => joined(holdingsPart(read, pool), apyPart(read, pool)));
        return this.#month(joined(part, averagesPart(past)), past);
      }
      case "exchange-rate": {
        const past = await this.#dependencies.readings.past();
        const part = of((pool) => joined(holdingsPart(read, pool), ratePart(read, pool)));
        return this.#month(joined(part, rateChangesPart(past, read.figures)), past);
      }
      case "position": {
        const position = await this.#dependencies.readings.position(question.wallet);
        return { part: of(() => positionPart(position)), sinceMs: positionSince(position), fromMs: 0 };
      }
      case "charts/tvl":
      case "charts/apy":
        return await this.#chart(question.record === "charts/tvl" ? "tvl" : "apy", question, read);
      case "dashboard":
        return await this.#dashboard(read, of);
      default:
        return await this.#bundles(question);
    }
  }

  #month(part: ExplainedPart, { sinceMs }: { readonly sinceMs: number }): Dated {
    return { part, sinceMs, fromMs: this.#dependencies.clock.now() - figurePeriods["30d"] };
  }

  async #chart(
    chart: "tvl" | "apy",
    { period }: { readonly period: keyof typeof chartPeriods },
    { figures, snapshot }: ReadFigures,
  ): Promise<Dated> {
    const { readings } = this.#dependencies;
    const asked = { chart, periodMs: chartPeriods[period] };
    const days = await readings.history.days(readings.sampled(), asked);
    const { timestamp, value } = readings.history.present(figures, chart);
    const record = chart === "tvl" ? "pool" : "apy";
    const today =
      snapshot === null ? noPool : stepsOf(`${timestamp} = ${decimalText(value)}, as \`${record}\` has it now`);
    return { part: joined(daysPart(chart, days), today), sinceMs: days.sinceMs, fromMs: days.fromMs };
  }

  async #dashboard(
    read: ReadFigures,
    of: (part: (snapshot: PoolSnapshot) => ExplainedPart) => ExplainedPart,
  ): Promise<Dated> {
    const { readings, bundles, clock } = this.#dependencies;
    const past = await readings.past();
    const day = readings.bundlesSince(clock.now() - figurePeriods["24h"]);
    const all = await bundles.figures(readings.bundlesSince(0));
    const pool = of((snapshot) =>
      joined(
        holdingsPart(read, snapshot),
        ratePart(read, snapshot),
        apyPart(read, snapshot),
        rateChangesPart(past, read.figures, true),
        tvlChangePart(past, read.figures),
      ),
    );
    const outcomes = outcomesPart("24h", await bundles.figures(day), await bundles.newestLanded(day, bundlesListedMax));
    const total = stepsOf(`tips of all time = ${all.tips} lamports of ${all.landed} bundles that landed`);
    return { part: joined(pool, outcomes, total), sinceMs: await readings.bundlesKnownSince(), fromMs: 0 };
  }

  async #bundles(question: Extract<ExplainQuestion, { record: "overview" | "mev/breakdown" | "pnl" }>): Promise<Dated> {
    const { readings, bundles } = this.#dependencies;
    const sinceMs = await readings.bundlesKnownSince();
    if (question.record === "pnl") {
      const asked = readings.profitsOf(question);
      const part = profitsPart(await bundles.balances(asked), await bundles.gains(asked, bundlesListedMax));
      return { part, sinceMs, fromMs: asked.fromMs };
    }
    if (question.record === "mev/breakdown") {
      const asked = readings.bundlesSince(0);
      const landed = await bundles.newestLanded(asked, bundlesListedMax);
      return { part: typesPart(await bundles.byMevType(asked), landed), sinceMs, fromMs: 0 };
    }
    const { period } = question;
    const asked = readings.bundlesSince(this.#dependencies.clock.now() - figurePeriods[period]);
    const landed = await bundles.newestLanded(asked, bundlesListedMax);
    return { part: outcomesPart(period, await bundles.figures(asked), landed), sinceMs, fromMs: asked.fromMs };
  }
}
