import type { ChartPeriod, FigurePeriod, PnlStrategy } from "@sluice/contract/pool";
import type { Address } from "@sluice/wire/identifiers";
import type { ExplainQuestion } from "./explain/question.ts";
import type { ReadFigures } from "./figures-source.ts";
import { PoolReadings, type PoolReadingsDependencies, type PoolReadingsOptions } from "./readings.ts";
import type { PoolAnswer } from "./records/record.ts";
import { PoolRecords } from "./records/records.ts";

/** Answers with the figures of the stake pool and of bundles, each from what was read not long ago. */
export class PoolService {
  readonly #readings: PoolReadings;
  readonly #records: PoolRecords;

  constructor(options: PoolReadingsOptions, dependencies: PoolReadingsDependencies) {
    this.#readings = new PoolReadings(options, dependencies);
    this.#records = new PoolRecords(this.#readings, dependencies);
  }

  /** Reads the chain once there is a node, so that the first caller need not wait for it. Never rejects. */
  begin(): Disposable {
    return this.#readings.begin();
  }

  /** The figures and what they were computed from, by a reading that begins now. */
  async readAnew(): Promise<ReadFigures> {
    return await this.#readings.figuresAnew();
  }

  /** Which pool the ledger's samples are of; null without one. */
  sampled(): ReturnType<PoolReadings["sampled"]> {
    return this.#readings.sampled();
  }

  /** How a record comes about, as JSON of an `Explanation`, from the same reading as the record itself. */
  async explain(question: ExplainQuestion): Promise<PoolAnswer> {
    const record = await this.#records.of(question);
    return await record.explanation();
  }

  pool(): Promise<PoolAnswer> {
    return this.#answer({ record: "pool" });
  }

  validators(): Promise<PoolAnswer> {
    return this.#answer({ record: "validators" });
  }

  apy(): Promise<PoolAnswer> {
    return this.#answer({ record: "apy" });
  }

  exchangeRate(): Promise<PoolAnswer> {
    return this.#answer({ record: "exchange-rate" });
  }

  position(wallet: Address): Promise<PoolAnswer> {
    return this.#answer({ record: "position", wallet });
  }

  overview(period: FigurePeriod): Promise<PoolAnswer> {
    return this.#answer({ record: "overview", period });
  }

  breakdown(): Promise<PoolAnswer> {
    return this.#answer({ record: "mev/breakdown" });
  }

  dashboard(): Promise<PoolAnswer> {
    return this.#answer({ record: "dashboard" });
  }

  chart(chart: "tvl" | "apy", period: ChartPeriod): Promise<PoolAnswer> {
    return this.#answer({ record: `charts/${chart}`, period });
  }

  /** Of an account, or of all of them. */
  pnl(
    accountId: string | null,
    { strategy, period }: { readonly strategy: PnlStrategy; readonly period: FigurePeriod },
  ): Promise<PoolAnswer> {
    return this.#answer({ record: "pnl", accountId, strategy, period });
  }

  async #answer(question: ExplainQuestion): Promise<PoolAnswer> {
    const { answer } = await this.#records.of(question);
    return answer;
  }
}
