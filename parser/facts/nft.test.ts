import { describe, expect, test } from "bun:test";
import { programs } from "@sluice/wire/programs";
import { digitalEyes } from "../programs/digital-eyes.ts";
import { u64 } from "../testing/built.ts";
import { addressOf, parsedScenario, type ScenarioCall } from "../testing/scenario.ts";

const paid = (from: string, to: string, lamports: bigint): ScenarioCall => ({
  program: programs.system,
  accounts: [from, to],
  data: `02000000${Buffer.from(u64(lamports)).toString("hex")}`,
});
/** A sale whose call states no price. */
const sale = (inner: readonly ScenarioCall[]) => {
  const accounts = ["payer", "one", "two", "seller", "four", "five", "mint"];
  const { type, nfts } = parsedScenario({ calls: [{ program: digitalEyes.id, accounts, data: "01", inner }] });
  expect([type, nfts[0]?.buyer, nfts[0]?.seller]).toEqual(["NFT_SALE", addressOf("payer"), addressOf("seller")]);
  return { lamports: nfts[0]?.priceLamports, token: nfts[0]?.priceToken };
};

describe("the price of a sale whose call states none", () => {
  test("is all that the buyer paid others", () => {
    expect(
      sale([paid("payer", "seller", 900_000n), paid("payer", "creator", 100_000n), paid("one", "two", 9n)]),
    ).toEqual({
      lamports: 1_000_000n,
      token: null,
    });
  });

  test("is what the account gave that paid most where the buyer himself paid nothing", () => {
    const escrowed = [
      paid("one", "creator", 300_000n),
      paid("two", "seller", 700_000n),
      paid("two", "creator", 50_000n),
    ];
    expect(sale(escrowed)).toEqual({ lamports: 750_000n, token: null });
  });

  test("is not told where nobody paid", () => {
    expect(sale([])).toEqual({ lamports: null, token: null });
    expect(sale([paid("payer", "payer", 5n)])).toEqual({ lamports: null, token: null });
  });
});
