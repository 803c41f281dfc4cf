/** The exchanges that can be read, each a pure definition in its own file. */
import type { Exchange } from "../exchange.ts";
import { binance } from "./binance.ts";
import { bitstamp } from "./bitstamp.ts";
import { bybit } from "./bybit.ts";
import { coinbase } from "./coinbase.ts";
import { gate } from "./gate.ts";
import { kraken } from "./kraken.ts";
import { kucoin } from "./kucoin.ts";
import { okx } from "./okx.ts";

export const exchanges: readonly Exchange[] = [binance, coinbase, kraken, okx, bybit, kucoin, bitstamp, gate];
