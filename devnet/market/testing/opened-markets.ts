import type { ExchangeId } from "../model/listings.ts";
import { Listener } from "./listener.ts";
import { bootMarket, type TestMarket } from "./market.ts";

/** The markets and sockets that a test opens; a test file closes them after each test. */
export class OpenedMarkets {
  readonly #open: (AsyncDisposable | Disposable)[] = [];

  boot(): TestMarket {
    const markets = bootMarket();
    this.#open.push(markets);
    return markets;
  }

  async connect(markets: TestMarket, exchange: ExchangeId, path: string): Promise<Listener> {
    const socket = await Listener.open(`${markets.market.exchanges[exchange].ws}${path}`);
    this.#open.push(socket);
    return socket;
  }

  /** Closes the newest first. */
  async close(): Promise<void> {
    for (const each of this.#open.splice(0).toReversed()) {
      if (Symbol.asyncDispose in each) await each[Symbol.asyncDispose]();
      else each[Symbol.dispose]();
    }
  }
}
