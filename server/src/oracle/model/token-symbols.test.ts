import { expect, test } from "bun:test";
import { symbolsOfMints } from "./token-symbols.ts";

const wrapped = "So11111111111111111111111111111111111111112";
const pool = { symbol: "XNT", quote: "USDC", base: { mint: wrapped }, quoted: { mint: "dollar" } } as const;

test("the currency of a chain is Solana's on Solana's main chain alone", () => {
  const solana = "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d";
  expect(symbolsOfMints({ genesisHash: solana, pools: [] }).get(wrapped)).toBe("SOL");
  expect(symbolsOfMints({ genesisHash: "another", pools: [] }).size).toBe(0);
  expect(symbolsOfMints({ genesisHash: null, pools: [] }).size).toBe(0);
});

test("the tokens of pools that prices are read from have their symbols, and a quote in plain dollars has none", () => {
  expect([...symbolsOfMints({ genesisHash: "another", pools: [pool] })]).toEqual([
    [wrapped, "XNT"],
    ["dollar", "USDC"],
  ]);
  expect(symbolsOfMints({ genesisHash: null, pools: [{ ...pool, quote: "USD" }] }).size).toBe(1);
});
