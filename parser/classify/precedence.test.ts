import { expect, test } from "bun:test";
import { programs } from "@sluice/wire/programs";
import { raydiumCpmm } from "../programs/raydium-cpmm.ts";
import { tensorSwap } from "../programs/tensor-swap.ts";
import { key, u64 } from "../testing/built.ts";
import {
  acceptedOffer,
  cases,
  coreTransfer,
  exchanged,
  given,
  got,
  listingForOffer,
  strange,
} from "../testing/cases.ts";
import { addressOf, parsedScenario, type ScenarioCall } from "../testing/scenario.ts";

const pay = (to: string, lamports: bigint): ScenarioCall => ({
  program: programs.system,
  accounts: ["payer", to],
  data: Buffer.from([2, 0, 0, 0, ...u64(lamports)]).toString("hex"),
});

for (const { what, type, told } of cases) {
  test(`${type}: ${what}`, () => {
    expect<string>(parsedScenario(told).type).toBe(type);
  });
}

test("liquidity is told whatever the type is, with what went in", () => {
  const added = cases.find(({ what }) => what === "two tokens that go to a pool");
  if (added === undefined) throw new Error("no such case");
  expect(parsedScenario(added.told).liquidity).toEqual([
    {
      type: "ADD",
      source: "raydium_cpmm",
      programId: raydiumCpmm.id,
      user: addressOf("payer"),
      pool: addressOf("pool"),
      tokens: [
        { mint: addressOf("mintA"), amount: 60n, decimals: 6 },
        { mint: addressOf("mintB"), amount: 3n, decimals: 6 },
      ],
    },
  ]);
});

test("a swap by a program that nothing knows tells what its wallet gave and got", () => {
  const { swap, source } = parsedScenario({ calls: [strange(["walletA"], [given, got])], tokens: exchanged });
  expect({ source, user: swap?.user, input: swap?.input, output: swap?.output }).toEqual({
    source: "unknown",
    user: addressOf("payer"),
    input: { mint: addressOf("mintA"), amount: 60n, decimals: 6 },
    output: { mint: addressOf("mintB"), amount: 30n, decimals: 6 },
  });
});

test("an offer that is taken for what a market held is told with its ends and all that the offer paid", () => {
  expect(parsedScenario(acceptedOffer).nfts).toMatchObject([
    { mint: addressOf("mint"), seller: addressOf("payer"), buyer: key(9), priceLamports: 1_000_000n },
  ]);
});

test("an offer that is taken is told with who takes it, who made it and at what price", () => {
  expect(parsedScenario(listingForOffer).nfts).toMatchObject([
    { mint: addressOf("mint"), seller: addressOf("payer"), buyer: addressOf("friend"), priceLamports: 9_000n },
  ]);
});

test("a price that fees are paid on top of is what the seller gets in one payment", () => {
  const others = ["fees", "pool", "whitelist", "tokens", "mint", "listing", "escrow", "seller", "payer"];
  const buy = { program: tensorSwap.id, accounts: others, data: `f5dc694975624e8d${"00".repeat(8)}` };
  const paid = [pay("fees", 21n), pay("seller", 8n), pay("seller", 2_100n)];
  expect(parsedScenario({ calls: [{ ...buy, inner: paid }] }).nfts).toMatchObject([
    { seller: addressOf("seller"), buyer: addressOf("payer"), priceLamports: 2_100n },
  ]);
});

test("an asset that goes to another is told with both ends", () => {
  expect(parsedScenario({ calls: [coreTransfer] }).transfers).toMatchObject([
    { mint: addressOf("asset"), from: addressOf("payer"), to: addressOf("friend"), amount: 1n },
  ]);
});

test("an asset that goes to an account which the call lacks is told without that end", () => {
  const [asset, collection, owner, authority] = coreTransfer.accounts;
  const accounts = [asset, collection, owner, authority].filter((each) => each !== undefined);
  expect(parsedScenario({ calls: [{ ...coreTransfer, accounts }] }).transfers).toMatchObject([
    { mint: addressOf("asset"), from: addressOf("payer"), to: null },
  ]);
});
