import type { OracleSymbol } from "@sluice/contract/oracle";
import type { Network } from "@sluice/contract/tiers";
import type { Decimal, PricesAsOf } from "../../oracle/index.ts";
import { TokenPrices } from "../model/token-prices.ts";

export interface EventPricesDependencies {
  readonly prices: Pick<PricesAsOf, "at">;
  /** The symbols of a network's tokens, by their mints. */
  readonly symbolsOf: (network: Network) => ReadonlyMap<string, OracleSymbol>;
}

/** What the tokens of a network were worth at the time of a block. */
export class EventPrices {
  readonly #dependencies: EventPricesDependencies;

  constructor(dependencies: EventPricesDependencies) {
    this.#dependencies = dependencies;
  }

  /**
   * `blockTime` is Unix seconds; nothing has a price in a block without a time. Null while prices cannot be read. Never
   * rejects.
   */
  async at(network: Network, blockTime: bigint | null): Promise<TokenPrices | null> {
    const symbols = this.#dependencies.symbolsOf(network);
    if (blockTime === null || symbols.size === 0) return new TokenPrices(new Map());
    try {
      const bySymbol = await this.#dependencies.prices.at(Number(blockTime) * 1_000);
      const byMint = new Map<string, Decimal>();
      for (const [mint, symbol] of symbols) {
        const price = bySymbol.get(symbol);
        if (price !== undefined) byMint.set(mint, price);
      }
      return new TokenPrices(byMint);
    } catch {
      // The ledger says of itself that it is away.
      return null;
    }
  }
}
