import type { QuoteCurrency } from "../../tick.ts";
import type { Market } from "../exchange.ts";

/** How an exchange builds its names from a base and a quote. */
export interface NameRules {
  readonly name: (base: string, quote: QuoteCurrency) => string;
  readonly streamName?: (base: string, quote: QuoteCurrency) => string;
  readonly aliases?: (base: string, quote: QuoteCurrency) => readonly string[];
}

/** The markets of one exchange: each base in one quote, since two books of one exchange are not two opinions. */
export function listMarkets(quote: QuoteCurrency, bases: readonly string[], rules: NameRules): readonly Market[] {
  return bases.map((base) => ({
    base,
    quote,
    name: rules.name(base, quote),
    streamName: (rules.streamName ?? rules.name)(base, quote),
    aliases: rules.aliases?.(base, quote) ?? [],
  }));
}
