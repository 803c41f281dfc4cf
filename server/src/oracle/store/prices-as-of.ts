import { BoundedMap, type Clock } from "@sluice/lib";
import { type Decimal, parseDecimal } from "../model/decimal.ts";
import type { OracleLedger } from "../model/ports.ts";

/** US dollars by symbol. */
export type PricesBySymbol = ReadonlyMap<string, Decimal>;

export interface PricesAsOfDependencies {
  readonly clock: Pick<Clock, "now" | "monotonic">;
  readonly ledger: Pick<OracleLedger, "query">;
}

/** A price that does not change is recorded once a minute, and a record is written within seconds. */
const ageMsMax = 120_000;
/** What is recorded of a moment is whole after this time. */
const settledMs = 30_000;
/** How long an answer is used while more may be recorded of its moment. */
const unsettledMs = 1_000;
const answersMax = 256;

const asOf =
  "SELECT symbol, toString(argMax(r.price, r.made_at)) AS price FROM oracle_rounds_by_second AS r " +
  "WHERE r.at >= fromUnixTimestamp64Milli({from:Int64}) AND r.at <= fromUnixTimestamp64Milli({to:Int64}) " +
  "AND r.made_at > {from:Int64} AND r.made_at <= {to:Int64} GROUP BY symbol LIMIT 1000";

interface Answer {
  readonly prices: Promise<PricesBySymbol>;
  readonly untilMs: number;
}

/**
 * What symbols were worth at a moment: of each the newest price that was recorded at that moment or in the two minutes
 * before it. A symbol without one is not there. Reaches back as far as rounds are kept.
 */
export class PricesAsOf {
  readonly #dependencies: PricesAsOfDependencies;
  readonly #answers = new BoundedMap<number, Answer>({ max: answersMax });

  constructor(dependencies: PricesAsOfDependencies) {
    this.#dependencies = dependencies;
  }

  /** `atMs` is Unix milliseconds; moments of one second are asked for once. Rejects as the ledger does. */
  at(atMs: number): Promise<PricesBySymbol> {
    const { clock } = this.#dependencies;
    const second = Math.floor(atMs / 1_000);
    const nowMs = clock.monotonic();
    const known = this.#answers.get(second);
    if (known !== undefined && nowMs < known.untilMs) return known.prices;
    const isSettled = clock.now() - second * 1_000 >= settledMs;
    const untilMs = isSettled ? Number.POSITIVE_INFINITY : nowMs + unsettledMs;
    const answer = { prices: this.#read(second * 1_000), untilMs };
    this.#answers.set(second, answer);
    answer.prices.catch(() => {
      if (this.#answers.get(second) === answer) this.#answers.delete(second);
    });
    return answer.prices;
  }

  async #read(atMs: number): Promise<PricesBySymbol> {
    const range = { from: atMs - ageMsMax, to: atMs + 999 };
    const rows = await this.#dependencies.ledger.query<{ symbol: string; price: string }>(asOf, range);
    const prices = new Map<string, Decimal>();
    for (const { symbol, price } of rows) {
      const read = parseDecimal(price);
      if (read !== null) prices.set(symbol, read);
    }
    return prices;
  }
}
