import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { creditCost, hasOwnPrice, itemsOf, serviceCredits } from "./credits.ts";

/** The methods table of the specification (node platform, Endpoints), with getLatestBlockhash as decided. */
const specified: Readonly<Record<string, number>> = {
  getAccountInfo: 1,
  getBalance: 1,
  getMultipleAccounts: 3,
  getBlock: 5,
  getBlockHeight: 1,
  getBlockTime: 1,
  getBlocks: 1,
  getBlocksWithLimit: 1,
  getFirstAvailableBlock: 1,
  getTransaction: 5,
  sendTransaction: 10,
  getSignaturesForAddress: 5,
  getHealth: 1,
  getSlot: 1,
  getLatestBlockhash: 1,
  getProgramAccounts: 5,
  simulateTransaction: 5,
};

describe("credit costs", () => {
  test("each method of the specification costs what the specification says", () => {
    for (const [method, credits] of Object.entries(specified))
      expect([method, creditCost(method)]).toEqual([method, credits]);
  });

  test("the heavy class costs 5, submissions 10, assets as in the enhanced API", () => {
    for (const method of ["getTokenAccountsByOwner", "getTokenAccountsByDelegate", "getTokenLargestAccounts"]) {
      expect(creditCost(method)).toBe(5);
    }
    for (const method of ["getLargestAccounts", "getSupply", "getInflationReward", "getLeaderSchedule"]) {
      expect(creditCost(method)).toBe(5);
    }
    for (const method of ["getBlockProduction", "getVoteAccounts"]) expect(creditCost(method)).toBe(5);
    expect(creditCost("requestAirdrop")).toBe(10);
    expect(creditCost("getAsset")).toBe(10);
    expect(creditCost("searchAssets")).toBe(15);
  });

  test("an unknown method costs the standard price, whatever it is called", () => {
    fc.assert(
      fc.property(fc.string(), (method) => {
        fc.pre(!hasOwnPrice(method));
        return creditCost(method) === 1;
      }),
    );
    for (const method of ["__proto__", "constructor", "toString", ""]) expect(creditCost(method)).toBe(1);
  });

  test("a price is a positive whole number for any count of items", () => {
    fc.assert(
      fc.property(fc.constantFrom("getAssetBatch", "getSlot"), fc.double(), (method, items) => {
        fc.pre(!(items > Number.MAX_SAFE_INTEGER / 5));
        const credits = creditCost(method, items);
        return Number.isSafeInteger(credits) && credits >= 1;
      }),
    );
    expect(creditCost("getAssetBatch", 100)).toBe(500);
    expect(creditCost("getAssetBatch")).toBe(5);
    expect(creditCost("getMultipleAccounts", 100)).toBe(3);
    expect(creditCost("simulateBundle", 5)).toBe(25);
  });

  test("items are counted wherever a call may have its list, and only for methods that are priced by item", () => {
    const ids = ["a", "b", "c"];
    for (const params of [{ ids }, [{ ids }], [ids], [ids, { ids: ["one"] }]]) {
      expect(itemsOf("getAssetBatch", params)).toBe(3);
      expect(itemsOf("getAssetProofBatch", params)).toBe(3);
      expect(itemsOf("getAsset", params)).toBe(1);
    }
    expect(itemsOf("simulateBundle", [{ encodedTransactions: ids, ids: ["one"] }])).toBe(3);
    for (const params of [null, undefined, 5, "abc", {}, [], [null], { ids: "abc" }, { __proto__: null }]) {
      expect(itemsOf("getAssetBatch", params)).toBe(1);
    }
  });

  test("history, parsing and analytics cost what the specification says", () => {
    expect(serviceCredits).toMatchObject({
      historyLookup: 5,
      historyList: 10,
      historySearch: 25,
      sqlQuery: 50,
      parseOneTransaction: 10,
      parseBatchTransaction: 5,
      tokenMetadata: 5,
      nftMetadata: 10,
      walletAnalytics: 25,
      walletHistory: 15,
    });
  });
});
