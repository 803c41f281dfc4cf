import { beforeEach, expect, test } from "bun:test";
import { ManualClock } from "@sluice/lib";
import { editionAddress } from "@sluice/wire/accounts/metaplex-editions";
import type { SignaturePage } from "../../ledger/index.ts";
import { RpcStand } from "../../rpc/testing/rpc-stand.ts";
import { readingRow } from "../asset-index/rows.ts";
import { AssetReader } from "../assets/asset-reader.ts";
import { sha256 } from "../node-accounts.ts";
import { showAccounts } from "../testing/account-node.ts";
import { type Accounts, addNft, addressOf } from "../testing/asset-accounts.ts";
import { IndexModel } from "../testing/index-model.ts";
import { AssetLists } from "./asset-lists.ts";
import { DasInput } from "./das-input.ts";

const asking = { network: "devnet", keyId: "key", nowMs: 0 } as const;
const master = addressOf(1);
const account = editionAddress(master, sha256) ?? "";

let stand: RpcStand;
let accounts: Accounts;
let model: IndexModel;
let pages: SignaturePage[];
let lists: AssetLists;
beforeEach(() => {
  [stand, accounts, model, pages] = [new RpcStand(), new Map(), new IndexModel(), []];
  showAccounts(stand, accounts);
  const { rpc } = stand;
  const reads = {
    ...model.reads,
    signaturePlaces: async (_network: string, _asset: string, signatures: readonly string[]) =>
      new Map(signatures.filter((each) => each.startsWith("s")).map((each) => [each, placeOf(each)])),
    signatures: async (_network: string, _asset: string, page: SignaturePage) => {
      pages.push(page);
      return [{ signature: "s5", operation: "transfer", slot: 5n }];
    },
  };
  const assets = new AssetReader({ rpc, compressed: null });
  lists = new AssetLists({ ...model, rpc, reads, assets, identityOf: () => null, clock: new ManualClock() });
});

const placeOf = (signature: string) => ({ slot: BigInt(signature.slice(1)), index: 0 });
const ask = (method: string, members: Record<string, string | number>) =>
  lists.answer(method, asking, new DasInput(members));

/** Reads an asset into the index. */
async function index(id: string): Promise<void> {
  const read = await new AssetReader({ rpc: stand.rpc, compressed: null }).read(asking, [id]);
  const asset = read.ok ? (read.assets.get(id) ?? null) : null;
  model.rows.push(readingRow(id, asset, { slot: 77n, isFinal: false, changedSlot: 0n, known: undefined }));
}

test("the prints of a master are those of its account, with their numbers and whether they are burnt", async () => {
  addNft(accounts, { mint: master });
  const [print, burnt, stranger] = [addressOf(10), addressOf(11), addressOf(12)];
  for (const mint of [print, burnt]) addNft(accounts, { mint, standard: 3, edition: "print", printOf: account });
  addNft(accounts, { mint: burnt, standard: 3, edition: "print", printOf: account, supply: 0n });
  addNft(accounts, { mint: stranger, standard: 3, edition: "print" });
  for (const id of [master, print, burnt, stranger]) await index(id);
  const edition = (mint: string, isBurnt: boolean) => {
    return { mint, edition_address: editionAddress(mint, sha256), edition: 3n, burnt: isBurnt };
  };
  expect(await ask("getNftEditions", { mint: master, page: 1, limit: 100 })).toMatchObject({
    ...{ total: 2, limit: 100, page: 1, supply: 2n, max_supply: 10n },
    master_edition_address: account,
    editions: [edition(print, false), edition(burnt, true)],
  });
});

test("what is no master edition has no prints to tell, and other members are refused", async () => {
  addNft(accounts, { mint: master, edition: "print", standard: 3 });
  await expect(ask("getNftEditions", { mint: master })).rejects.toThrow("must be a master edition");
  await expect(ask("getNftEditions", { mint: addressOf(9) })).rejects.toThrow("must be a master edition");
  await expect(ask("getNftEditions", { mint: master, sortBy: "x" })).rejects.toThrow("sortBy is no parameter");
  await expect(ask("getNftEditions", {})).rejects.toThrow("mint is missing");
});

test("signatures of an asset are asked for between two of them, and an edge that is none is refused", async () => {
  const id = addressOf(7);
  expect(await ask("getSignaturesForAsset", { id, page: 2, limit: 10 })).toMatchObject({ page: 2, total: 1 });
  const paged = await ask("getSignaturesForAsset", { id, page: 1, limit: 10, before: "s9", after: "s2" });
  expect(paged).toMatchObject({ before: "s9", after: "s2", items: [["s5", "Transfer"]] });
  expect(pages).toEqual([
    { limit: 10, skip: 10, before: null, after: null },
    { limit: 10, skip: 0, before: placeOf("s9"), after: placeOf("s2") },
  ]);
  await expect(ask("getSignaturesForAsset", { id, before: "x" })).rejects.toThrow("signatures of this asset");
  await expect(ask("getSignaturesForAsset", { id, page: 2, after: "s2" })).rejects.toThrow("page does not go with");
});
