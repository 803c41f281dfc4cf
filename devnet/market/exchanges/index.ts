/**
 * The eight exchanges in their public shapes. Each one has a folder: `rest.ts` answers requests, `feed.ts` speaks the
 * stream, and `index.ts` joins them with the exchange's limits. They are fed a Venue, which knows what the market did
 * and what faults are on, and they hold nothing of the market themselves.
 */
import type { ExchangeId } from "../model/listings.ts";
import { binance } from "./binance/index.ts";
import { bitstamp } from "./bitstamp/index.ts";
import { bybit } from "./bybit/index.ts";
import { coinbase } from "./coinbase/index.ts";
import type { Exchange } from "./exchange.ts";
import { gate } from "./gate/index.ts";
import { kraken } from "./kraken/index.ts";
import { kucoin } from "./kucoin/index.ts";
import { okx } from "./okx/index.ts";

export function exchangesOf(options: { readonly seed: string }): Readonly<Record<ExchangeId, Exchange>> {
  return {
    binance: binance(),
    coinbase: coinbase(),
    kraken: kraken(),
    okx: okx(),
    bybit: bybit(),
    kucoin: kucoin(options),
    bitstamp: bitstamp(),
    gate: gate(),
  };
}
