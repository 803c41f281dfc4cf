import { type OracleSymbol, oracleSymbols } from "@sluice/contract/oracle";
import { isAddress } from "@sluice/wire/identifiers";
import type { Parser } from "./parsers.ts";

/** A side of a pool: the token account that it keeps its reserve in, that account's mint, and the mint's decimals. */
export interface PoolSideConfig {
  readonly vault: string;
  readonly mint: string;
  readonly decimals: number;
}

/** A pool of the chain that a symbol's price may be read from. */
export interface PoolConfig {
  readonly symbol: OracleSymbol;
  readonly quote: "USD" | "USDC" | "USDT";
  readonly base: PoolSideConfig;
  readonly quoted: PoolSideConfig;
  /** Least worth of the quoted side, in whole units of the quote; below it the pool has no say. */
  readonly depthMin: number;
}

const poolsMax = 50;
const decimalsMax = 18;
const depthDefault = 50_000;
const form = "symbol/quote;base=vault:mint:decimals;quote=vault:mint:decimals[;depth=n], separated by commas";
const quotes = ["USD", "USDC", "USDT"] as const;

function sideOf(text: string | undefined): PoolSideConfig | null {
  const [vault = "", mint = "", digits = "", ...rest] = text?.split(":") ?? [];
  const decimals = /^\d{1,2}$/.test(digits) ? Number(digits) : -1;
  if (rest.length > 0 || !isAddress(vault) || !isAddress(mint) || decimals < 0 || decimals > decimalsMax) return null;
  return { vault, mint, decimals };
}

function poolOf(entry: string): PoolConfig | null {
  const [pair = "", ...options] = entry.split(";").map((part) => part.trim());
  const [symbolText = "", quoteText = "", ...more] = pair.toUpperCase().split("/");
  const symbol = oracleSymbols.find((each) => each === symbolText);
  const quote = quotes.find((each) => each === quoteText);
  const given = new Map(options.map((option) => [option.split("=", 1)[0] ?? "", option.replace(/^[^=]*=/, "")]));
  const base = sideOf(given.get("base"));
  const quoted = sideOf(given.get("quote"));
  const depth = given.get("depth") ?? String(depthDefault);
  const known = [...given.keys()].every((name) => name === "base" || name === "quote" || name === "depth");
  const isWhole = known && given.size === options.length && more.length === 0 && /^\d{1,12}$/.test(depth);
  if (!isWhole || symbol === undefined || quote === undefined || base === null || quoted === null) return null;
  return { symbol, quote, base, quoted, depthMin: Number(depth) };
}

/** Pools of the chain, as operators name them. */
export const poolList: Parser<readonly PoolConfig[]> = {
  expects: `up to ${poolsMax} pools ${form}`,
  parse(text) {
    const entries = text.split(",").filter((entry) => entry.trim() !== "");
    const pools = entries.map(poolOf);
    const found = pools.filter((pool) => pool !== null);
    const isGood = entries.length > 0 && entries.length <= poolsMax && found.length === entries.length;
    return isGood ? { ok: true, value: found } : { ok: false, expected: `up to ${poolsMax} pools ${form}` };
  },
};
