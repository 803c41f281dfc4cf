import type { Listing } from "../../model/listings.ts";
import type { Market, Venue } from "../../venue.ts";

/** Old assets carry a letter more, in some places; assets that were added later do not. */
const oldAssets: Readonly<Record<string, string>> = { BTC: "XXBT", ETH: "XETH" };
const oldNames: Readonly<Record<string, string>> = { BTC: "XBT" };

export interface Names {
  /** With which one asks. */
  readonly altname: string;
  /** Under which the answer stands. */
  readonly key: string;
  readonly wsname: string;
  /** Of WebSocket v2, and newly of REST too. */
  readonly display: string;
  readonly base: string;
  readonly quote: string;
}

export function namesOf({ base, quote }: Listing): Names {
  const old = oldNames[base] ?? base;
  const altname = `${old}${quote}`;
  const quoteAsset = quote === "USD" ? "ZUSD" : quote;
  const isOldPair = quote === "USD" && oldAssets[base] !== undefined;
  const key = isOldPair ? `${oldAssets[base]}ZUSD` : base === "USDT" && quote === "USD" ? "USDTZUSD" : altname;
  const rest = {
    wsname: `${old}/${quote}`,
    display: `${base}/${quote}`,
    base: oldAssets[base] ?? base,
    quote: quoteAsset,
  };
  return { altname, key, ...rest };
}

/** A market by the name asked, with the key of its answer. The old wsname is no name to ask with. */
export function find(venue: Venue, asked: string): { readonly market: Market; readonly key: string } | null {
  for (const market of venue.markets()) {
    const names = namesOf(market.listing);
    const spoken = `${market.listing.base}${market.listing.quote}`;
    if (asked === names.display) return { market, key: names.display };
    if (asked === names.altname || asked === names.key || asked === spoken) return { market, key: names.key };
  }
  return null;
}
