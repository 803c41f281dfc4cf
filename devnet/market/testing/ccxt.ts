import ccxt from "ccxt";
import type { ExchangeId } from "../model/listings.ts";

/** The members that tests read of a ticker of ccxt. */
interface ClientTicker {
  readonly symbol: string;
  readonly timestamp?: number;
  readonly last?: number;
  readonly bid?: number;
  readonly ask?: number;
  readonly high?: number;
  readonly low?: number;
  readonly baseVolume?: number;
  readonly quoteVolume?: number;
  readonly percentage?: number;
}

/** The client of one exchange, as much of it as tests use. */
export interface Client {
  readonly markets: Readonly<Record<string, { readonly base: string; readonly quote: string; readonly id: string }>>;
  loadMarkets(): Promise<unknown>;
  fetchTicker(symbol: string): Promise<ClientTicker>;
  fetchTickers(): Promise<Readonly<Record<string, ClientTicker>>>;
  fetchOHLCV(
    symbol: string,
    timeframe: string,
    since?: number,
    limit?: number,
  ): Promise<readonly (readonly number[])[]>;
}

const classes = {
  binance: ccxt.binance,
  coinbase: ccxt.coinbaseexchange,
  kraken: ccxt.kraken,
  okx: ccxt.okx,
  bybit: ccxt.bybit,
  kucoin: ccxt.kucoin,
  bitstamp: ccxt.bitstamp,
  gate: ccxt.gate,
} as const;

/** Unmodified ccxt, configured with another host and for spot markets only. */
export function clientOf(exchange: ExchangeId, rest: string): Client {
  const client = new classes[exchange]({
    enableRateLimit: false,
    options: { defaultType: "spot", uta: false, fetchMarkets: { types: ["spot"] } },
  });
  Object.assign(client.urls, { api: elsewhere(client.urls.api, rest) });
  client.has["fetchCurrencies"] = false;
  return client as unknown as Client;
}

type Urls = string | { readonly [name: string]: Urls };

/** The same addresses on another host. */
function elsewhere(urls: unknown, rest: string): Urls {
  if (typeof urls === "string") return urls.replace(/^https:\/\/[^/]+/, rest);
  return Object.fromEntries(Object.entries(urls ?? {}).map(([name, each]) => [name, elsewhere(each, rest)]));
}
