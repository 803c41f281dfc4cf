import { type ProgramParser, programParsers } from "@sluice/parser";
import type { TradeConditions } from "./trade-conditions.ts";

const nftDeeds: ReadonlySet<string> = new Set(["nft_sale", "nft_listing", "nft_bid"]);

/** Whether calls of a program may be trades of NFTs. */
const isMarket = ({ kind, instructions }: ProgramParser): boolean =>
  kind === "market" || instructions.some(({ does }) => nftDeeds.has(does));

/**
 * Programs of which a transaction calls at least one where it makes such trades, so that the index of filters finds it
 * without what it was being read. Empty where that cannot be said: swaps are also told by what moves, of programs that
 * nothing here knows, and a name may be of none of the programs.
 */
export function tradePrograms(trades: TradeConditions | null): readonly string[] {
  if (trades === null) return [];
  const { nft, defi } = trades;
  if (nft !== null) return nft.marketplaces === null ? idsOf(isMarket) : programsNamed(nft.marketplaces);
  return defi === null || defi.protocols === null ? [] : programsNamed(defi.protocols);
}

const idsOf = (isMeant: (parser: ProgramParser) => boolean): readonly string[] =>
  programParsers.filter(isMeant).map(({ id }) => id);

function programsNamed(names: ReadonlySet<string>): readonly string[] {
  const known = new Set(programParsers.map(({ source }) => source));
  if ([...names].some((name) => !known.has(name))) return [];
  return idsOf(({ source }) => names.has(source));
}
