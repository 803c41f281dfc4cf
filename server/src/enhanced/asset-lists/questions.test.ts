import { expect, test } from "bun:test";
import type { JsonObject } from "@sluice/encode";
import fc from "fast-check";
import { DasInput, InvalidInput } from "./das-input.ts";
import { type ListQuestion, listMethods } from "./questions.ts";

const [owner, other] = ["So11111111111111111111111111111111111111112", "11111111111111111111111111111111"];

function ask(method: string, members: JsonObject): ListQuestion {
  const read = listMethods.get(method);
  if (read === undefined) throw new Error("no method");
  return read(new DasInput(members));
}

const refusal = (method: string, members: JsonObject): string => {
  try {
    ask(method, members);
    return "";
  } catch (error) {
    if (error instanceof InvalidInput) return error.message;
    throw error;
  }
};

test("a list without a page is the first of a thousand, the newest first, of assets that are not burnt", () => {
  const { page, filter } = ask("getAssetsByOwner", { ownerAddress: owner });
  expect(page).toEqual({ limit: 1_000, page: 1, sort: "created", order: "desc", after: null, before: null });
  expect(filter).toMatchObject({ owner, burnt: false, withoutInterfaces: ["FungibleToken", "FungibleAsset"] });
});

test("sorting, cursors and assets as edges are read, and pages do not go with them", () => {
  const sortBy = { sortBy: "recent_action", sortDirection: "asc" };
  const of = (more: JsonObject) => ask("getAssetsByAuthority", { authorityAddress: owner, ...more }).page;
  expect(of({ sortBy, limit: 7, cursor: `15.${other}` })).toMatchObject({
    ...{ sort: "updated", order: "asc", limit: 7, page: null },
    after: { slot: 15n, asset: other },
  });
  expect(of({ before: other })).toMatchObject({ page: null, before: { slot: null, asset: other } });
  expect(of({ sortBy: { sortBy: "none" } })).toMatchObject({ sort: "id", order: "asc" });
  // The last page of the smallest pages is the furthest that a page can be.
  expect(of({ page: 100_001, limit: 1 })).toMatchObject({ page: 100_001, limit: 1 });
  const refused: [JsonObject, string][] = [
    [{ page: 100_002, limit: 1 }, "page must be"],
    [{ page: 2, after: other }, "page does not go"],
    [{ cursor: other, after: other }, "cursor does not go"],
    [{ cursor: "x.y" }, "cursor must be"],
    [{ cursor: `99999999999999999999.${other}` }, "cursor must be"],
    [{ limit: 1_001 }, "limit must be"],
    [{ limit: 0 }, "limit must be"],
    [{ page: 102, limit: 1_000 }, "pass over"],
    [{ sortBy: { sortBy: "price" } }, "sortBy.sortBy must be"],
    [{ options: { showAll: true } }, "options.showAll is no parameter"],
    [{ burnt: true }, "burnt is no parameter"],
  ];
  for (const [members, text] of refused) {
    expect(refusal("getAssetsByAuthority", { authorityAddress: owner, ...members })).toContain(text);
  }
});

test("a search reads every filter that the index has, and refuses the one that it has not", () => {
  const { filter } = ask("searchAssets", {
    ...{ ownerAddress: owner, creatorAddress: other, creatorVerified: true, authorityAddress: other, tree: other },
    ...{ grouping: ["collection", other], jsonUri: "https://a.example", delegate: other, supply: 1, frozen: true },
    ...{ burnt: false, royaltyAmount: 500, interface: "V1_NFT", compressed: false },
  });
  expect(filter).toMatchObject({
    ...{ owner, creator: other, creatorVerified: true, authority: other, tree: other, collection: other },
    ...{ uri: "https://a.example", delegate: other, supply: 1n, frozen: true, burnt: false, royalty: 500 },
    ...{ interfaces: ["V1_NFT"], compressed: false },
  });
  expect(ask("searchAssets", { tokenType: "fungible" }).filter.interfaces).toEqual(["FungibleToken", "FungibleAsset"]);
  expect(ask("searchAssets", { tokenType: "compressedNft" }).filter.compressed).toBe(true);
  expect(ask("searchAssets", { tokenType: "regularNft" }).filter.compressed).toBe(false);
  expect(ask("searchAssets", { tokenType: "all" }).filter.withoutInterfaces).toEqual([]);
  expect(ask("searchAssets", { compressible: true }).filter.interfaces).toEqual(["none"]);
  expect(ask("searchAssets", { royaltyTargetType: "fanout" }).filter.interfaces).toEqual(["none"]);
  expect(refusal("searchAssets", { supplyMint: other })).toContain("supplyMint is not indexed");
  expect(refusal("searchAssets", { negate: true })).toContain("negate is no parameter");
  expect(refusal("searchAssets", { grouping: ["creator", other] })).toContain("must be collection");
  expect(refusal("searchAssets", { grouping: ["collection", "x"] })).toContain("must be an address");
});

test("whatever is asked, it is a question or a refusal that names a parameter", () => {
  const value = fc.oneof(
    ...[fc.constantFrom(owner, other, "collection", "id", ""), fc.integer(), fc.boolean(), fc.constant(null)],
    fc.array(fc.constantFrom(owner, "collection"), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom("sortBy", "showFungible", "x"), fc.constantFrom("id", true, 1)),
  );
  const names = [
    "ownerAddress",
    "page",
    "limit",
    "cursor",
    "sortBy",
    "options",
    "grouping",
    "supply",
    "tokenType",
    "x",
  ];
  fc.assert(
    fc.property(
      fc.dictionary(fc.constantFrom(...names), value),
      fc.constantFrom(...listMethods.keys()),
      (members, method) => {
        expect(refusal(method, members as JsonObject)).toBeString();
      },
    ),
    { numRuns: 1_000 },
  );
});
