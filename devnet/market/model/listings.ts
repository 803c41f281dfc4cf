import { type Asset, marketAssets } from "./assets.ts";
import { exponential } from "./hash.ts";

export const exchangeIds = ["binance", "coinbase", "kraken", "okx", "bybit", "kucoin", "bitstamp", "gate"] as const;
export type ExchangeId = (typeof exchangeIds)[number];
export type Quote = "USD" | "USDT" | "USDC";

/** A pair as one exchange lists it. Prices are whole numbers of 10^-pricePlaces, sizes of 10^-sizePlaces. */
export interface Listing {
  /** Place in the table of all exchanges' listings, which names the market wherever a number must. */
  readonly index: number;
  readonly exchange: ExchangeId;
  readonly base: string;
  readonly quote: Quote;
  readonly pricePlaces: number;
  readonly sizePlaces: number;
  /** Exactly one trade happens in each stretch of this length. */
  readonly slotSeconds: number;
  /** Mean size of a trade, in units of size. */
  readonly sizeMean: number;
  /** Basis points between bid and ask, before both are rounded outward to units. */
  readonly spreadBps: number;
}

const every = "BTC ETH SOL ADA DOT USDC UNI LINK AAVE COMP";

/**
 * The pairs of each exchange. A pair that is missing is a normal outcome: listings differ, and thin coins have few
 * venues.
 */
const pairs: Readonly<Record<ExchangeId, Partial<Record<Quote, string>>>> = {
  binance: { USDT: `${every} BNB FTT` },
  coinbase: { USD: "BTC ETH SOL ADA DOT UNI LINK AAVE COMP CRO USDT", USDT: "BTC ETH", USDC: "USDT" },
  kraken: { USD: `${every} USDT`, USDT: "BTC ETH SOL ADA DOT USDC LINK" },
  okx: { USDT: `${every} BNB CRO` },
  bybit: { USDT: `${every} BNB CRO FTT` },
  kucoin: { USDT: `${every} BNB CRO` },
  bitstamp: { USD: `${every} USDT FTT`, USDT: "BTC ETH USDC" },
  gate: { USDT: `${every} BNB CRO FTT` },
};

/** Each exchange's part of an asset's daily volume. */
const shares: Readonly<Record<ExchangeId, number>> = {
  binance: 0.4,
  coinbase: 0.15,
  kraken: 0.06,
  okx: 0.12,
  bybit: 0.12,
  kucoin: 0.05,
  bitstamp: 0.02,
  gate: 0.08,
};

const usualPricePlaces: Readonly<Record<string, number>> = {
  ...{ BTC: 2, ETH: 2, SOL: 2, ADA: 4, DOT: 3, USDC: 5, USDT: 5, UNI: 3, LINK: 3, AAVE: 2, COMP: 2, BNB: 2, CRO: 5 },
  FTT: 4,
};

const pricePlacesOf: Partial<Record<ExchangeId, Readonly<Record<string, number>>>> = {
  kraken: { BTC: 1, ADA: 6, DOT: 4, LINK: 5 },
  okx: { BTC: 1, SOL: 3, ADA: 5, USDC: 4 },
  kucoin: { BTC: 1, ADA: 6, DOT: 4, UNI: 4 },
  bybit: { USDC: 4 },
  gate: { BTC: 1, USDC: 4 },
};

const sizePlacesOf: Readonly<Record<ExchangeId, number>> = {
  binance: 5,
  coinbase: 8,
  kraken: 8,
  okx: 8,
  bybit: 6,
  kucoin: 8,
  bitstamp: 8,
  gate: 6,
};

/** A trade is worth so much in the mean, unless the market is so thin or so busy that slots cannot be that long. */
const usdPerTrade = 1_000;
const slotSecondsMax = 150;
/** A size is at most so many times the mean one. */
export const sizeSpread = 4;
/** A minute's sum of price units times size units has to stay a whole number that a double holds. */
const unitsPerMinuteMax = Number.MAX_SAFE_INTEGER / sizeSpread;
/**
 * A price stays below its table's one times e to the power of so many deviations of a year; a test walks fifty years.
 */
const deviationsMax = 1.4;

function listing(index: number, exchange: ExchangeId, asset: Asset, quote: Quote): Listing {
  // A second quote of an asset that trades in dollars gets a part of what the dollar pair has.
  const isSecond = quote !== "USD" && pairs[exchange].USD?.split(" ").includes(asset.symbol) === true;
  const usdPerDay = asset.usdPerDay * shares[exchange] * (isSecond ? 0.2 : 1);
  const wished = Math.round((86_400 * usdPerTrade) / usdPerDay);
  const slotSeconds = Math.min(slotSecondsMax, Math.max(1, wished));
  const usdPerSlot = (usdPerDay * slotSeconds) / 86_400;
  const pricePlaces = pricePlacesOf[exchange]?.[asset.symbol] ?? usualPricePlaces[asset.symbol] ?? 4;
  let sizePlaces = sizePlacesOf[exchange];
  const slotsPerMinute = Math.ceil(60 / slotSeconds);
  const usdPerMinuteMax = usdPerSlot * slotsPerMinute * exponential(deviationsMax * asset.deviationPerYear);
  while (usdPerMinuteMax * 10 ** (pricePlaces + sizePlaces) > unitsPerMinuteMax) sizePlaces -= 1;
  const sizeMean = Math.max(1, Math.round((usdPerSlot / asset.usd) * 10 ** sizePlaces));
  const spreadBps = Math.min(20, Math.max(0.4, 3 * Math.sqrt(5e7 / usdPerDay)));
  const rest = { pricePlaces, sizePlaces, slotSeconds, sizeMean, spreadBps };
  return { index, exchange, base: asset.symbol, quote, ...rest };
}

/** Everything that every exchange lists, in a fixed order. */
export const allListings: readonly Listing[] = exchangeIds
  .flatMap((exchange) =>
    (["USD", "USDT", "USDC"] as const).flatMap((quote) =>
      (pairs[exchange][quote]?.split(" ") ?? []).map((symbol) => ({ exchange, quote, symbol })),
    ),
  )
  .map(({ exchange, quote, symbol }, index) => {
    const asset = marketAssets.find((each) => each.symbol === symbol);
    if (asset === undefined) throw new Error(`${exchange} lists ${symbol}, which is no asset`);
    return listing(index, exchange, asset, quote);
  });
