import type { OracleSymbol } from "@sluice/contract/oracle";
import type { Clock } from "@sluice/lib";
import type { Bar, History, PricePoint } from "./history.ts";

export const pastLimits = {
  /** How long an answer is given again, in milliseconds: what it says is not older than a tier's finest update by more. */
  keptMs: 1_000,
  /** Answers that are kept. */
  keptMax: 512,
} as const;

/** Histories with those of the last moment kept, so that many who ask for the same cost the ledger one query. */
export class Past {
  readonly #clock: Clock;
  readonly #history: History;
  readonly #points = new Map<string, { untilMs: number; answer: Promise<readonly PricePoint[]> }>();
  readonly #bars = new Map<string, { untilMs: number; answer: Promise<readonly Bar[]> }>();

  constructor(dependencies: { readonly clock: Clock; readonly history: History }) {
    this.#clock = dependencies.clock;
    this.#history = dependencies.history;
  }

  points(symbol: OracleSymbol, spanMs: number, limit: number): Promise<readonly PricePoint[]> {
    return this.#shared(this.#points, `${symbol} ${spanMs} ${limit}`, () =>
      this.#history.points(symbol, { spanMs, limit, nowMs: this.#clock.now() }),
    );
  }

  bars(symbol: OracleSymbol, minutes: number, limit: number): Promise<readonly Bar[]> {
    return this.#shared(this.#bars, `${symbol} ${minutes} ${limit}`, () =>
      this.#history.bars(symbol, { minutes, limit, nowMs: this.#clock.now() }),
    );
  }

  #shared<T>(
    kept: Map<string, { untilMs: number; answer: Promise<T> }>,
    name: string,
    make: () => Promise<T>,
  ): Promise<T> {
    const nowMs = this.#clock.monotonic();
    const known = kept.get(name);
    if (known !== undefined && known.untilMs > nowMs) return known.answer;
    const answer = make();
    kept.delete(name);
    if (kept.size >= pastLimits.keptMax) {
      for (const oldest of kept.keys()) {
        kept.delete(oldest);
        break;
      }
    }
    const entry = { untilMs: nowMs + pastLimits.keptMs, answer };
    kept.set(name, entry);
    // A failure is not given again.
    answer.catch(() => kept.get(name) === entry && kept.delete(name));
    return answer;
  }
}
