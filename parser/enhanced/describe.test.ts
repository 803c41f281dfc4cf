import { describe, expect, test } from "bun:test";
import { wellKnownAddresses } from "@sluice/wire/programs";
import { parseTransaction } from "../parse.ts";
import { acceptedOffer, coreTransfer, exchanged, given, got, strange } from "../testing/cases.ts";
import { addressOf, type Scenario, scenario } from "../testing/scenario.ts";
import { type Names, namedIn, noNames } from "./describe.ts";
import { enhancedRecord, toldOf } from "./record.ts";

const place = { slot: 1n, blockTime: null };
const names: Names = {
  symbolOf: (mint) => ({ [addressOf("mintA")]: "AAA", [addressOf("mintB")]: "BBB" })[mint] ?? null,
  nameOf: (id) => ({ [addressOf("asset")]: "Cat #1", [addressOf("mint")]: 'A "cat"' })[id] ?? null,
  nativeSymbol: "XNT",
};
const sentence = (told: Scenario, called: Names = names) => {
  const view = scenario(told);
  return enhancedRecord(view, parseTransaction(view), { place, names: called })["description"];
};
const payer = addressOf("payer");
const swap: Scenario = { calls: [strange(["walletA"], [given, got])], tokens: exchanged };
const [ofAsset, friend] = [{ calls: [coreTransfer] }, addressOf("friend")];

describe("a sentence", () => {
  test("has the symbols of tokens, and their mints where there are none", () => {
    expect(sentence(swap)).toBe(`${payer} swapped 0.00006 AAA for 0.00003 BBB on unknown.`);
    const [mintA, mintB] = [addressOf("mintA"), addressOf("mintB")];
    expect(sentence(swap, noNames)).toBe(`${payer} swapped 0.00006 ${mintA} for 0.00003 ${mintB} on unknown.`);
  });

  test("has the names of NFTs in quotes, and the native currency as it is called", () => {
    expect(sentence(acceptedOffer)).toMatch(/ bought "A \\"cat\\"" from .* for 0\.001 XNT on Formfunction\.$/);
    expect(sentence(ofAsset)).toBe(`${payer} transferred "Cat #1" to ${friend}.`);
    expect(sentence(ofAsset, noNames)).toBe(`${payer} transferred 1 ${addressOf("asset")} to ${friend}.`);
  });

  test("of the ledger calls the native currency as it is told to", () => {
    const view = scenario(acceptedOffer);
    expect(toldOf(view, parseTransaction(view), { ...place, nativeSymbol: "XNT" }).description).toContain("0.001 XNT");
    expect(toldOf(view, parseTransaction(view), place).description).toContain("0.001 SOL");
  });
});

test("what a sentence may name is told before it is made, native currency apart", () => {
  const named = (told: Scenario) => namedIn(parseTransaction(scenario(told)));
  expect(named(swap)).toEqual({ tokens: [addressOf("mintA"), addressOf("mintB")], nfts: [], compressed: [] });
  expect(named(acceptedOffer)).toEqual({ tokens: [], nfts: [addressOf("mint")], compressed: [] });
  expect(named(ofAsset)).toEqual({ tokens: [], nfts: [addressOf("asset")], compressed: [] });
  const wrapped = { ...exchanged, walletA: { ...exchanged.walletA, mint: wellKnownAddresses.wrappedNativeMint } };
  const vault = { ...exchanged.vaultA, mint: wellKnownAddresses.wrappedNativeMint };
  expect(named({ ...swap, tokens: { ...wrapped, vaultA: vault } }).tokens).toEqual([addressOf("mintB")]);
});
