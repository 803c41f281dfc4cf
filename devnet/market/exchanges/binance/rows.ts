import type { View } from "../../process/view.ts";
import { dayMs } from "../../process/view.ts";
import type { Candle } from "../../venue.ts";
import { changeRatio, fixed, type Json, mean } from "../number.ts";

/** Every number is text with eight decimals, whatever the tick. */
const places = 8;

export function figures(view: View) {
  const { pricePlaces, sizePlaces } = view.listing;
  const price = (units: number): string => fixed(units, pricePlaces, places);
  const size = (units: number): string => fixed(units, sizePlaces, places);
  const { day, last } = view;
  return {
    change: price(last.price - day.open),
    percent: fixed(changeRatio(view, 5, "round"), 3, 3),
    mean: mean(day.quote, day.base, pricePlaces, places),
    previous: price(view.previousClose),
    last: price(last.price),
    lastSize: size(last.size),
    bid: price(view.bid),
    bidSize: size(view.bidSize),
    ask: price(view.ask),
    askSize: size(view.askSize),
    open: price(day.open),
    high: price(day.high),
    low: price(day.low),
    volume: size(day.base),
    quoteVolume: fixed(day.quote, pricePlaces + sizePlaces, places),
    openTime: view.stampMs - dayMs,
    closeTime: view.stampMs,
    firstId: view.firstId,
    lastId: last.id,
    count: day.count,
  };
}

/** The 24-hour row. `scale` turns milliseconds into what the client asked for. */
export function dayRow(symbol: string, view: View, kind: "FULL" | "MINI", scale: number): Json {
  const of = figures(view);
  const full = kind === "FULL";
  return {
    symbol,
    ...(full && {
      priceChange: of.change,
      priceChangePercent: of.percent,
      weightedAvgPrice: of.mean,
      prevClosePrice: of.previous,
      lastPrice: of.last,
      lastQty: of.lastSize,
      bidPrice: of.bid,
      bidQty: of.bidSize,
      askPrice: of.ask,
      askQty: of.askSize,
    }),
    openPrice: of.open,
    highPrice: of.high,
    lowPrice: of.low,
    ...(!full && { lastPrice: of.last }),
    volume: of.volume,
    quoteVolume: of.quoteVolume,
    openTime: of.openTime * scale,
    closeTime: of.closeTime * scale,
    firstId: of.firstId,
    lastId: of.lastId,
    count: of.count,
  };
}

export const bookRow = (symbol: string, view: View): Json => {
  const of = figures(view);
  return { symbol, bidPrice: of.bid, bidQty: of.bidSize, askPrice: of.ask, askQty: of.askSize };
};

export const priceRow = (symbol: string, view: View): Json => ({ symbol, price: figures(view).last });

/** A flat row where nothing was traded. */
export function candleRow(candle: Candle, pricePlaces: number, sizePlaces: number, scale: number): Json {
  const { bar } = candle;
  const price = (units: number): string => fixed(bar.count === 0 ? candle.previousClose : units, pricePlaces, places);
  const amount = (units: bigint): string => fixed(units, pricePlaces + sizePlaces, places);
  const size = (units: number): string => fixed(units, sizePlaces, places);
  return [
    candle.startMs * scale,
    price(bar.open),
    price(bar.high),
    price(bar.low),
    price(bar.close),
    size(bar.base),
    candle.endMs * scale - 1,
    amount(bar.quote),
    bar.count,
    size(bar.buyBase),
    amount(bar.buyQuote),
    "0",
  ];
}
