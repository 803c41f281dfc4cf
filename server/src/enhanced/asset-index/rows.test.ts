import { expect, test } from "bun:test";
import type { IndexedAsset } from "../../ledger/index.ts";
import { type Asset, assetWithout } from "../assets/asset.ts";
import { readingRow } from "./rows.ts";

const place = { slot: 7n, isFinal: true, changedSlot: 5n };
const indexed = (kind: string) => ({ description: { interface: kind } }) as IndexedAsset;
/** A mint that nothing describes and of which there is no unit. */
const bareMint = (supply: bigint): Asset => ({
  ...assetWithout,
  ...{ id: "mint", interface: "FungibleToken", source: "none", isMutable: false, isBurnt: false },
  ownership: { model: "token", owner: null, delegate: null, isFrozen: false, tokenAccount: null },
  token: { program: "program", decimals: 0, supply, mintAuthority: null, freezeAuthority: null, extensions: [] },
});

test("a mint that is left of an NFT is a burnt NFT, one of a token without units is a token", () => {
  const isBurnt = (asset: Asset, known: IndexedAsset | undefined): boolean =>
    readingRow("mint", asset, { ...place, known }).holding.burnt;
  for (const kind of ["V1_NFT", "ProgrammableNFT", "V1_PRINT"]) {
    expect([kind, isBurnt(bareMint(0n), indexed(kind))]).toEqual([kind, true]);
    expect([kind, isBurnt(bareMint(1n), indexed(kind))]).toEqual([kind, false]);
  }
  for (const known of [indexed("FungibleToken"), indexed("FungibleAsset"), undefined]) {
    expect(isBurnt(bareMint(0n), known)).toBe(false);
  }
});
