import { type OracleSymbol, oracleSymbols } from "@sluice/contract/oracle";
import { wellKnownAddresses } from "@sluice/wire/programs";

/** A pool of a chain that prices are read from, as the configuration has it. */
interface KnownPool {
  readonly symbol: OracleSymbol;
  readonly quote: string;
  readonly base: { readonly mint: string };
  readonly quoted: { readonly mint: string };
}

export interface KnownChain {
  /** Of the chain; null while it is not known. */
  readonly genesisHash: string | null;
  /** Pools of this chain. */
  readonly pools: readonly KnownPool[];
}

const solanaGenesisHash = "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d";
/** Of Solana's main chain: its own currency, and what the issuers of both dollars name as theirs. */
const mintsOfSolana: readonly (readonly [string, OracleSymbol])[] = [
  [wellKnownAddresses.wrappedNativeMint, "SOL"],
  ["EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkwZyTDt1v", "USDC"],
  ["Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB", "USDT"],
];

/**
 * The symbols of a chain's tokens, by their mints. Only of tokens of which it is certain what they are: those of the
 * pools that the operator names, and a few of Solana's main chain. Another token with the same name has no price.
 */
export function symbolsOfMints({ genesisHash, pools }: KnownChain): ReadonlyMap<string, OracleSymbol> {
  const symbols = new Map<string, OracleSymbol>(genesisHash === solanaGenesisHash ? mintsOfSolana : []);
  for (const { symbol, quote, base, quoted } of pools) {
    symbols.set(base.mint, symbol);
    const other = oracleSymbols.find((each) => each === quote);
    if (other !== undefined) symbols.set(quoted.mint, other);
  }
  return symbols;
}
