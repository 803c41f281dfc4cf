/**
 * An asset that the market prices. The price stays near `usd`; `deviationPerYear` and `common` are of the logarithm.
 */
export interface Asset {
  readonly symbol: string;
  readonly name: string;
  readonly usd: number;
  readonly deviationPerYear: number;
  /** Correlation with the factor that all coins share; two coins correlate by the product of theirs. */
  readonly common: number;
  /** US dollars in a day on all exchanges together, before each exchange's share. */
  readonly usdPerDay: number;
}

const asset = (
  symbol: string,
  name: string,
  usd: number,
  deviationPerYear: number,
  common: number,
  usdPerDay: number,
): Asset => ({ symbol, name, usd, deviationPerYear, common, usdPerDay });

/** The coins that the oracle prices. CRO and FTT are thin and are missing on some exchanges, on purpose. */
export const marketAssets: readonly Asset[] = [
  asset("BTC", "Bitcoin", 83_800, 0.5, 0.92, 4e9),
  asset("ETH", "Ether", 3_050, 0.65, 0.9, 2.5e9),
  asset("SOL", "Solana", 148, 0.85, 0.82, 1.2e9),
  asset("ADA", "Cardano", 0.66, 0.8, 0.75, 3e8),
  asset("DOT", "Polkadot", 4.1, 0.8, 0.75, 1.2e8),
  asset("USDC", "USD Coin", 0.99995, 0.0012, 0, 8e8),
  asset("USDT", "Tether", 0.9996, 0.002, 0, 4e8),
  asset("UNI", "Uniswap", 8.2, 0.9, 0.7, 1e8),
  asset("LINK", "Chainlink", 15.3, 0.8, 0.75, 2e8),
  asset("AAVE", "Aave", 182, 0.9, 0.7, 1e8),
  asset("COMP", "Compound", 44, 0.9, 0.65, 4e7),
  asset("BNB", "BNB", 860, 0.55, 0.75, 6e8),
  asset("CRO", "Cronos", 0.118, 0.9, 0.55, 1.5e7),
  asset("FTT", "FTX Token", 0.92, 1.2, 0.4, 4e6),
];
