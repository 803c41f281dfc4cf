import type { Quote } from "../../tick.ts";
import type { Market } from "../exchange.ts";

/** How an exchange builds its names from a base and a quote. */
export interface NameRules {
  readonly name: (base: string, quote: Quote) => string;
  readonly streamName?: (base: string, quote: Quote) => string;
  readonly aliases?: (base: string, quote: Quote) => readonly string[];
}

/** The markets of one exchange: each base in one quote, since two books of one exchange are not two opinions. */
export function listMarkets(quote: Quote, bases: readonly string[], rules: NameRules): readonly Market[] {
  return bases.map((base) => ({
    base,
    quote,
    name: rules.name(base, quote),
    streamName: (rules.streamName ?? rules.name)(base, quote),
    aliases: rules.aliases?.(base, quote) ?? [],
  }));
}
