import { type OracleSymbol, oraclePair, oracleSymbols } from "@sluice/contract/oracle";

/** At most so many characters of a caller's text are repeated in an error. */
const echoMax = 32;
const bySymbol: ReadonlyMap<string, OracleSymbol> = new Map(oracleSymbols.map((symbol) => [symbol, symbol]));
const byPair: ReadonlyMap<string, OracleSymbol> = new Map(oracleSymbols.map((symbol) => [oraclePair(symbol), symbol]));

/** In upper case as far as it is ASCII: other letters become ASCII ones in upper case, and would name a symbol. */
export const upperAscii = (text: string): string => text.replace(/[a-z]+/g, (letters) => letters.toUpperCase());

/** The symbol that a caller names, as in BTC, in any letter case. */
export const symbolNamed = (text: string): OracleSymbol | undefined => bySymbol.get(upperAscii(text));

/** The symbol of a pair that a caller names, as in BTC-USD, in any letter case. */
export const pairNamed = (text: string): OracleSymbol | undefined => byPair.get(upperAscii(text));

/** The beginning of a caller's text, in whole characters. */
export const echoed = (text: string): string =>
  [...text.slice(0, 2 * echoMax).toWellFormed()].slice(0, echoMax).join("");
