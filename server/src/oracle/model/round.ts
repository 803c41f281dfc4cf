import type { Decimal } from "./decimal.ts";
import type { SourceId } from "./tick.ts";

/** One source's part in a round. */
export interface RoundSource {
  readonly source: SourceId;
  /** In US dollars, converted by the previous round's own index where the source quotes in USDT or USDC. */
  readonly price: Decimal;
  /** Share of the whole, 0 to 1, after the cap of its origin. */
  readonly weight: Decimal;
  readonly asOfMs: number;
}

/** A price that the sources agree on. */
export interface PricedRound {
  readonly kind: "price";
  readonly symbol: string;
  /** Unix milliseconds of the mark that ended it. */
  readonly atMs: number;
  /** US dollars. */
  readonly price: Decimal;
  /** 0 to 100. */
  readonly confidence: Decimal;
  /** Those that were counted, in the order of their ids. */
  readonly sources: readonly RoundSource[];
  /** US dollars in 24 hours over all counted sources; null where none of them says. */
  readonly volume24h: Decimal | null;
  /** Percent; null while nothing is known of a day ago. */
  readonly change24h: Decimal | null;
  readonly high24h: Decimal | null;
  readonly low24h: Decimal | null;
}

/** Unix milliseconds of the newest datum that made the price: its timestamp, however often it is computed again. */
export const dataAtMs = ({ sources, atMs }: PricedRound): number =>
  sources.length === 0 ? atMs : Math.max(...sources.map(({ asOfMs }) => asOfMs));

/** Why there is no price. `depeg`: a coin has left the dollar; `unknown-rate`: nobody knows what one is worth. */
export type RefusalReason = "too-few-sources" | "disagreement" | "breaker" | "depeg" | "unknown-rate";

/** No price, and why: a symbol without enough fresh, agreeing sources is never guessed. */
export interface RefusedRound {
  readonly kind: "refused";
  readonly symbol: string;
  readonly atMs: number;
  readonly reason: RefusalReason;
  /** Fresh sources that were there. */
  readonly sources: readonly SourceId[];
}

export type Round = PricedRound | RefusedRound;
