import { beforeEach, describe, expect, test } from "bun:test";
import { programs } from "@sluice/wire/programs";
import { RpcStand } from "../../rpc/testing/rpc-stand.ts";
import { nodeSlot, showAccounts } from "../testing/account-node.ts";
import {
  type Accounts,
  addCoreAsset,
  addNft,
  addressOf,
  addSelfDescribed,
  mintBytes,
} from "../testing/asset-accounts.ts";
import { type Asset, isNft } from "./asset.ts";
import { AssetReader, type AssetsRead } from "./asset-reader.ts";

let stand: RpcStand;
let accounts: Accounts;
beforeEach(() => {
  stand = new RpcStand();
  accounts = new Map();
  showAccounts(stand, accounts);
});

const [mint, owner, other] = [addressOf(1), addressOf(2), addressOf(3)];
const asking = { network: "devnet", keyId: "key", nowMs: 0 } as const;

const readAll = (ids: readonly string[], compressed: ReadonlyMap<string, Asset> | null = null): Promise<AssetsRead> =>
  new AssetReader({
    rpc: stand.rpc,
    compressed: compressed === null ? null : { find: async () => compressed },
  }).read(asking, ids);

async function readOne(id: string): Promise<Asset | null> {
  const read = await readAll([id]);
  if (!read.ok) throw new Error(read.code);
  expect(read.slot).toBe(BigInt(nodeSlot));
  return read.assets.get(id) ?? null;
}

describe("an NFT of Token Metadata", () => {
  test("has the facts of its metadata, edition and holder", async () => {
    const collection = { address: other, isVerified: true };
    const holder = addNft(accounts, { mint, owner, collection });
    const asset = await readOne(mint);
    expect(asset).toEqual({
      id: mint,
      interface: "V1_NFT",
      source: "token_metadata",
      name: "Ape 1",
      symbol: "APE",
      uri: "https://meta.example/1.json",
      tokenStandard: "NonFungible",
      updateAuthority: addressOf(90),
      creators: [
        { address: addressOf(91), isVerified: true, share: 75 },
        { address: addressOf(92), isVerified: false, share: 25 },
      ],
      collection,
      royalty: { basisPoints: 550, primarySaleHappened: true },
      ownership: { model: "single", owner, delegate: null, isFrozen: false, tokenAccount: holder },
      compression: null,
      edition: { kind: "master", supply: 2n, maxSupply: 10n },
      editionNonce: 255,
      uses: null,
      isMutable: true,
      isBurnt: false,
      token: {
        program: programs.token,
        decimals: 0,
        supply: 1n,
        mintAuthority: null,
        freezeAuthority: null,
        extensions: [],
      },
      attributes: [],
      plugins: [],
      passedOn: null,
    });
  });

  test("that is a print names its master and its number", async () => {
    addNft(accounts, { mint, standard: 3, edition: "print" });
    expect(await readOne(mint)).toMatchObject({
      interface: "V1_PRINT",
      edition: { kind: "print", parent: addressOf(93), number: 3n },
    });
  });

  test("that is programmable is frozen and delegated by its record, not by its account", async () => {
    addNft(accounts, { mint, owner, standard: 4, isFrozen: true, record: { state: 0, delegate: other } });
    const { interface: kind, ownership } = (await readOne(mint)) ?? {};
    expect([kind, ownership?.isFrozen, ownership?.delegate, ownership?.owner]).toEqual([
      "ProgrammableNFT",
      false,
      other,
      owner,
    ]);
    addNft(accounts, { mint, owner, standard: 4, isFrozen: true, record: { state: 1, delegate: other } });
    stand.slotsMoved();
    expect((await readOne(mint))?.ownership.isFrozen).toBe(true);
  });

  test("that is delegated and frozen is told so by its account", async () => {
    addNft(accounts, { mint, owner, delegate: other, isFrozen: true });
    expect((await readOne(mint))?.ownership).toMatchObject({ owner, delegate: other, isFrozen: true });
  });

  test("without a standard is told by its edition", async () => {
    addNft(accounts, { mint, standard: null });
    expect((await readOne(mint))?.interface).toBe("V1_NFT");
    addNft(accounts, { mint: other, standard: null, edition: "print" });
    expect((await readOne(other))?.interface).toBe("V1_PRINT");
  });

  test("whose only unit was burned has nobody and is burnt", async () => {
    addNft(accounts, { mint, supply: 0n });
    expect(await readOne(mint)).toMatchObject({ isBurnt: true, ownership: { owner: null, tokenAccount: null } });
  });

  test("that is sent elsewhere between two calls has no owner, and no wrong one", async () => {
    const holder = addNft(accounts, { mint, owner });
    const { respond } = stand;
    stand.respond = (call) => {
      if (call.method === "getMultipleAccounts" && call.params?.includes(holder)) {
        const account = accounts.get(holder);
        account?.data.fill(0, 64, 72);
      }
      return respond(call);
    };
    expect((await readOne(mint))?.ownership.owner).toBeNull();
  });

  test("is not what another program says at the address of its metadata", async () => {
    addNft(accounts, { mint });
    for (const [address, { program, data }] of accounts) {
      if (program !== programs.token) accounts.set(address, { program: programs.system, data });
    }
    expect(await readOne(mint)).toMatchObject({ source: "none", name: "", interface: "FungibleToken" });
  });
});

test("a token of many units has no owner, and is no NFT", async () => {
  addNft(accounts, { mint, standard: 2, decimals: 6, supply: 5_000_000n, edition: null });
  addNft(accounts, { mint: other, standard: 1, supply: 40n, edition: null });
  for (const [id, kind] of [
    [mint, "FungibleToken"],
    [other, "FungibleAsset"],
  ] as const) {
    const asset = await readOne(id);
    expect([asset?.interface, asset?.ownership.model, asset?.ownership.owner]).toEqual([kind, "token", null]);
    expect(asset === null || isNft(asset)).toBe(false);
  }
});

test("a mint of Token-2022 of one unit that describes itself is an NFT, with its group and its pairs", async () => {
  addSelfDescribed(accounts, mint, owner);
  expect(await readOne(mint)).toMatchObject({
    interface: "V1_NFT",
    source: "token_2022",
    name: "Self",
    collection: { address: addressOf(94), isVerified: true },
    attributes: [{ key: "hat", value: "red" }],
    ownership: { owner },
  });
});

test("an asset of MPL Core has its owner, and the royalties and authority of its collection", async () => {
  addCoreAsset(accounts, mint, owner, other);
  expect(await readOne(mint)).toMatchObject({
    interface: "MplCoreAsset",
    source: "mpl_core",
    name: "Core 1",
    collection: { address: other, isVerified: true },
    updateAuthority: addressOf(95),
    royalty: { basisPoints: 250 },
    creators: [{ address: addressOf(95), share: 100, isVerified: false }],
    ownership: { owner, model: "single" },
    token: null,
  });
  const collection = await readOne(other);
  expect([collection?.interface, collection?.ownership.owner]).toEqual(["MplCoreCollection", addressOf(95)]);
  expect(collection === null || isNft(collection)).toBe(false);
});

test("a mint that nothing describes is a token, and an address that is no mint is nothing", async () => {
  accounts.set(mint, { program: programs.token, data: mintBytes(7n, 0) });
  accounts.set(other, { program: programs.system, data: new Uint8Array(0) });
  expect((await readOne(mint))?.interface).toBe("FungibleToken");
  expect([await readOne(other), await readOne(owner)]).toEqual([null, null]);
});

test("a thousand ids are read in few calls, and what no account has is looked for among the leaves", async () => {
  const ids = Array.from({ length: 1_000 }, (_, at) => addressOf(1_000 + at));
  for (const id of ids.slice(0, 300)) addNft(accounts, { mint: id, owner });
  const leaf = { ...(await readOne(ids[0] ?? "")), id: ids[999] } as Asset;
  stand.slotsMoved();
  stand.calls.length = 0;
  const read = await readAll([...ids, ...ids], new Map([[leaf.id, leaf]]));
  expect(read.ok && read.assets.size).toBe(301);
  const called = (name: string) => stand.calls.filter(({ method }) => method === name).length;
  expect([called("getMultipleAccounts"), called("getTokenLargestAccounts")]).toEqual([31 + 3, 300]);
});

test("a node's failure is told with its code, and an answer with too few accounts is none", async () => {
  stand.respond = () => ({ ok: false, refused: "NETWORK_UNAVAILABLE", label: "", repeatable: false });
  expect(await readAll([mint])).toEqual({ ok: false, code: "NETWORK_UNAVAILABLE" });
  const { respond } = new RpcStand();
  stand.respond = respond;
  expect(await readAll([mint])).toEqual({ ok: false, code: "UPSTREAM_INVALID" });
});
