import { beforeEach, describe, expect, test } from "bun:test";
import { editionAddress } from "@sluice/wire/accounts/metaplex-editions";
import { programs } from "@sluice/wire/programs";
import { readingRow } from "../asset-index/rows.ts";
import { AssetReader } from "../assets/asset-reader.ts";
import { sha256 } from "../node-accounts.ts";
import { showAccounts } from "../testing/account-node.ts";
import {
  type Accounts,
  addCoreAsset,
  addNft,
  addressOf,
  addSelfDescribed,
  tokenAccountBytes,
} from "../testing/asset-accounts.ts";
import { EnhancedStand } from "../testing/stand.ts";

let stand: EnhancedStand;
let accounts: Accounts;
beforeEach(() => {
  stand = new EnhancedStand({ ask: () => Promise.reject(new Error("no chain is asked")) });
  accounts = new Map();
  showAccounts(stand.rpc, accounts);
});

const asking = { network: "devnet", keyId: "key", nowMs: 0 } as const;
const [mint, owner, other] = [addressOf(1), addressOf(2), addressOf(3)];

describe("getAsset", () => {
  test("tells an NFT in the shape of DAS, exact to the unit", async () => {
    addNft(accounts, { mint, owner, collection: { address: other, isVerified: true } });
    const { result } = await stand.call("getAsset", { id: mint });
    expect(result).toEqual({
      last_indexed_slot: 77,
      interface: "V1_NFT",
      id: mint,
      content: {
        $schema: "https://schema.metaplex.com/nft1.0.json",
        json_uri: "https://meta.example/1.json",
        files: [],
        metadata: { attributes: [], description: "", name: "Ape 1", symbol: "APE", token_standard: "NonFungible" },
        links: {},
        off_chain: "off",
      },
      authorities: [{ address: addressOf(90), scopes: ["full"] }],
      compression: {
        eligible: false,
        compressed: false,
        data_hash: "",
        creator_hash: "",
        asset_hash: "",
        tree: "",
        seq: 0,
        leaf_id: 0,
      },
      grouping: [{ group_key: "collection", group_value: other }],
      royalty: {
        royalty_model: "creators",
        target: null,
        percent: 0.055,
        basis_points: 550,
        primary_sale_happened: true,
        locked: false,
      },
      creators: [
        { address: addressOf(91), share: 75, verified: true },
        { address: addressOf(92), share: 25, verified: false },
      ],
      ownership: { frozen: false, delegated: false, delegate: null, ownership_model: "single", owner },
      supply: { print_max_supply: 10, print_current_supply: 2, edition_nonce: 255 },
      mutable: true,
      burnt: false,
      token_info: {
        symbol: "APE",
        supply: 1,
        decimals: 0,
        token_program: programs.token,
      },
    });
  });

  test("tells the mint of a print's master where the index has it, and believes no mint of another account", async () => {
    const [master, wrong] = [addressOf(4), addressOf(5)];
    const account = editionAddress(master, sha256) ?? "";
    addNft(accounts, { mint, owner, standard: 3, edition: "print", printOf: account });
    addNft(accounts, { mint: master, owner });
    const supply = async () => (await stand.call("getAsset", { id: mint })).result.supply;
    const unnamed = { edition_number: 3, edition_nonce: 255 };
    expect(await supply()).toEqual(unnamed);
    const row = async (id: string) => {
      const read = await new AssetReader({ rpc: stand.rpc.rpc, compressed: null }).read(asking, [id]);
      const asset = read.ok ? (read.assets.get(id) ?? null) : null;
      return readingRow(id, asset, { slot: 77n, isFinal: false, changedSlot: 0n, known: undefined });
    };
    const told = await row(master);
    stand.index.rows.push({ ...told, asset: wrong });
    expect(await supply()).toEqual(unnamed);
    stand.index.rows.push(told);
    expect(await supply()).toEqual({ ...unnamed, master_edition_mint: master });
  });

  test("tells of a collection that has not agreed, and of what a collection says, only where it is asked to", async () => {
    addNft(accounts, { mint, owner, collection: { address: other, isVerified: false } });
    addNft(accounts, { mint: other, owner });
    const grouping = async (options: object) => (await stand.call("getAsset", { id: mint, options })).result.grouping;
    expect(await grouping({})).toEqual([]);
    const [group] = await grouping({ showUnverifiedCollections: true, showCollectionMetadata: true });
    expect(group).toMatchObject({
      group_value: other,
      verified: false,
      collection_metadata: { name: "Ape 1", symbol: "APE", image: "" },
    });
  });

  test("tells extensions of a mint, and plugins of MPL Core", async () => {
    addSelfDescribed(accounts, mint, owner);
    addCoreAsset(accounts, addressOf(7), owner, other);
    expect((await stand.call("getAsset", { id: mint })).result).toMatchObject({
      mint_extensions: {
        metadata_pointer: { authority: null, metadata_address: mint },
        metadata: { name: "Self", additionalMetadata: [{ key: "hat", value: "red" }] },
      },
      content: { metadata: { attributes: [{ trait_type: "hat", value: "red" }] } },
    });
    const { result: collection } = await stand.call("getAsset", { id: other });
    expect([collection.interface, collection.plugins, "token_info" in collection]).toEqual([
      "MplCoreCollection",
      ["royalties"],
      false,
    ]);
  });

  test("writes amounts beyond 2^53 in full", async () => {
    addNft(accounts, { mint, standard: 2, decimals: 9, supply: 18_446_744_073_709_551_615n, edition: null });
    const text = await stand.callText("getAsset", { id: mint });
    expect(text).toContain("18446744073709551615");
  });

  test("of nothing is an error that says so, and of failing nodes none at all", async () => {
    expect((await stand.call("getAsset", { id: mint })).error).toEqual({
      code: -32000,
      message: `Asset not found: ${mint}`,
    });
    stand.rpc.respond = () => ({ ok: false, refused: "NETWORK_UNAVAILABLE", label: "", repeatable: false });
    expect((await stand.call("getAsset", { id: addressOf(9) })).refused).toBe("NETWORK_UNAVAILABLE");
  });
});

test("a call without its ids is refused", async () => {
  const refused = await Promise.all([stand.call("getAsset", {}), stand.call("getAssetBatch", {})]);
  expect(refused.map(({ refused: code }) => code)).toEqual(["INVALID_PARAMS", "INVALID_PARAMS"]);
});

test("getAssetBatch keeps the order of ids, with null in the place of what there is not", async () => {
  addNft(accounts, { mint, owner });
  addCoreAsset(accounts, addressOf(7), owner, other);
  const { result } = await stand.call("getAssetBatch", { ids: [addressOf(7), addressOf(9), mint, mint] });
  expect(result.map((asset: { id: string } | null) => asset?.id ?? null)).toEqual([addressOf(7), null, mint, mint]);
});

describe("getTokenAccounts", () => {
  const hold = (address: string, amount: bigint, changes: object = {}) =>
    accounts.set(address, { program: programs.token, data: tokenAccountBytes(mint, owner, amount, changes) });

  test("tells what an owner holds of both programs, and empty accounts only where it is asked to", async () => {
    const [one, none] = [addressOf(20), addressOf(21)];
    hold(one, 5n, { delegate: other, isFrozen: true });
    hold(none, 0n);
    addSelfDescribed(accounts, addressOf(30), owner);
    const { result } = await stand.call("getTokenAccounts", { owner });
    expect([result.total, result.limit, result.last_indexed_slot]).toEqual([2, 1_000, 77]);
    const told = result.token_accounts.find(({ address }: { address: string }) => address === one);
    expect(told).toEqual({
      ...{ address: one, mint, owner, amount: 5, delegated_amount: 5, delegate: other },
      ...{ frozen: true, burnt: false, token_extensions: [] },
    });
    const all = await stand.call("getTokenAccounts", { owner, options: { showZeroBalance: true } });
    expect(all.result.total).toBe(3);
    expect((await stand.call("getTokenAccounts", { owner, mint })).result.total).toBe(1);
  });

  test("pages by number and by cursor tell every account once, in the order of addresses", async () => {
    const addresses = Array.from({ length: 25 }, (_, at) => addressOf(100 + at)).toSorted();
    for (const address of addresses) hold(address, 1n);
    const byNumber: string[] = [];
    const byCursor: string[] = [];
    const listed = (result: { token_accounts: { address: string }[] }) =>
      result.token_accounts.map(({ address }) => address);
    for (let page = 1; page <= 4; page += 1) {
      const { result } = await stand.call("getTokenAccounts", { owner, page, limit: 10 });
      expect(result.page).toBe(page);
      byNumber.push(...listed(result));
    }
    let cursor: string | undefined;
    do {
      const { result } = await stand.call("getTokenAccounts", {
        owner,
        limit: 10,
        ...(cursor === undefined ? {} : { cursor }),
      });
      byCursor.push(...listed(result));
      cursor = result.cursor;
    } while (cursor !== undefined);
    expect([byNumber, byCursor]).toEqual([addresses, addresses]);
    const before = await stand.call("getTokenAccounts", { owner, limit: 3, before: addresses[10] });
    expect(listed(before.result)).toEqual(addresses.slice(7, 10));
    const [after, until] = [addresses[2], addresses[5]];
    const between = await stand.call("getTokenAccounts", { owner, after, before: until });
    expect(listed(between.result)).toEqual(addresses.slice(3, 5));
  });

  test("of a mint are those of every owner", async () => {
    hold(addressOf(20), 5n);
    accounts.set(addressOf(21), { program: programs.token, data: tokenAccountBytes(mint, other, 6n) });
    const { result } = await stand.call("getTokenAccounts", { mint });
    expect(result.token_accounts.map(({ owner: each }: { owner: string }) => each).toSorted()).toEqual(
      [owner, other].toSorted(),
    );
  });

  test("without owner and mint, or with two ways to page, is refused", async () => {
    const refused = [{}, { owner, page: 1, cursor: other }].map((params) => stand.call("getTokenAccounts", params));
    expect((await Promise.all(refused)).map(({ refused: code }) => code)).toEqual(["INVALID_PARAMS", "INVALID_PARAMS"]);
  });
});
