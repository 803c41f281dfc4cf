import type { Market } from "../../venue.ts";
import { fixed, type Json } from "../number.ts";

export const weightPerMinute = 6_000;

export function exchangeInfo(markets: readonly Market[], nowMs: number): Json {
  return {
    timezone: "UTC",
    serverTime: nowMs,
    rateLimits: [
      { rateLimitType: "REQUEST_WEIGHT", interval: "MINUTE", intervalNum: 1, limit: weightPerMinute },
      { rateLimitType: "ORDERS", interval: "SECOND", intervalNum: 10, limit: 100 },
      { rateLimitType: "ORDERS", interval: "DAY", intervalNum: 1, limit: 200_000 },
      { rateLimitType: "RAW_REQUESTS", interval: "MINUTE", intervalNum: 5, limit: 61_000 },
    ],
    exchangeFilters: [],
    symbols: markets.map(symbolRow),
  };
}

function symbolRow({ listing, symbol }: Market): Json {
  const tick = fixed(1, listing.pricePlaces, 8);
  const step = fixed(1, listing.sizePlaces, 8);
  return {
    symbol,
    status: "TRADING",
    baseAsset: listing.base,
    baseAssetPrecision: 8,
    quoteAsset: listing.quote,
    quotePrecision: 8,
    quoteAssetPrecision: 8,
    baseCommissionPrecision: 8,
    quoteCommissionPrecision: 8,
    orderTypes: ["LIMIT", "LIMIT_MAKER", "MARKET", "STOP_LOSS_LIMIT", "TAKE_PROFIT_LIMIT"],
    icebergAllowed: true,
    ocoAllowed: true,
    quoteOrderQtyMarketAllowed: true,
    isSpotTradingAllowed: true,
    isMarginTradingAllowed: false,
    filters: [
      { filterType: "PRICE_FILTER", minPrice: tick, maxPrice: "1000000.00000000", tickSize: tick },
      { filterType: "PERCENT_PRICE", multiplierUp: "5", multiplierDown: "0.2", avgPriceMins: 5 },
      { filterType: "LOT_SIZE", minQty: step, maxQty: "9000000.00000000", stepSize: step },
      { filterType: "MIN_NOTIONAL", minNotional: "5.00000000", applyToMarket: true, avgPriceMins: 5 },
      { filterType: "ICEBERG_PARTS", limit: 10 },
      { filterType: "MARKET_LOT_SIZE", minQty: "0.00000000", maxQty: "100.00000000", stepSize: "0.00000000" },
      { filterType: "MAX_NUM_ORDERS", maxNumOrders: 200 },
      { filterType: "MAX_NUM_ALGO_ORDERS", maxNumAlgoOrders: 5 },
    ],
    permissions: ["SPOT"],
  };
}
