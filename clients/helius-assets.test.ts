import { afterAll, beforeAll, expect, test } from "bun:test";
import { eventually } from "@sluice/lib/testing";
import {
  createAssociatedTokenAccountInstruction,
  createInitializeMint2Instruction,
  createMintToInstruction,
  createTransferInstruction,
  getAssociatedTokenAddressSync,
  MINT_SIZE,
  TOKEN_PROGRAM_ID,
} from "@solana/spl-token";
import {
  Connection,
  Keypair,
  LAMPORTS_PER_SOL,
  type PublicKey,
  SystemProgram,
  Transaction,
  type TransactionInstruction,
} from "@solana/web3.js";
import { createHelius } from "helius-sdk";
import {
  burnNft,
  createMasterEdition,
  createMetadata,
  createMetadataData,
  verifyCollection,
} from "../devnet/chain/programs/testing/nft-instructions.ts";
import { type Network, startNetwork } from "../server/test/testing/network.ts";

/** The index follows the ledger, which on a busy machine is slow. */
const indexedMs = 60_000;

let network: Network;
let connection: Connection;
beforeAll(async () => {
  network = await startNetwork({ args: ["--oracle", "off"] });
  connection = new Connection(network.rpcUrl, { commitment: "confirmed", wsEndpoint: network.webSocketUrl });
}, 60_000);
afterAll(async () => {
  await network?.[Symbol.asyncDispose]();
}, 30_000);

async function landed(signature: string): Promise<void> {
  await eventually("the transaction is confirmed", async () => {
    const { value } = await connection.getSignatureStatuses([signature]);
    const status = value[0]?.confirmationStatus;
    return status === "confirmed" || status === "finalized";
  });
}

async function send(
  signers: readonly [Keypair, ...Keypair[]],
  ...instructions: TransactionInstruction[]
): Promise<void> {
  const { blockhash } = await connection.getLatestBlockhash();
  const transaction = new Transaction({ feePayer: signers[0].publicKey, recentBlockhash: blockhash });
  transaction.add(...instructions).sign(...signers);
  await landed(await connection.sendRawTransaction(transaction.serialize()));
}

async function funded(): Promise<Keypair> {
  const keypair = Keypair.generate();
  await landed(await connection.requestAirdrop(keypair.publicKey, 5 * LAMPORTS_PER_SOL));
  return keypair;
}

/** An NFT with metadata and its edition; of a collection, where one is named, that is not verified yet. */
async function mintNft(owner: Keypair, name: string, collection: PublicKey | null): Promise<PublicKey> {
  const mint = Keypair.generate();
  const holder = getAssociatedTokenAddressSync(mint.publicKey, owner.publicKey);
  const data = createMetadataData({
    ...{ name, symbol: "DAY", uri: `https://devnet.invalid/${name}.json`, sellerFeeBasisPoints: 250 },
    creators: [{ address: owner.publicKey, verified: 1, share: 100 }],
    collection: collection === null ? null : { verified: 0, key: collection },
    sized: collection === null,
  });
  await send(
    [owner, mint],
    SystemProgram.createAccount({
      ...{ fromPubkey: owner.publicKey, newAccountPubkey: mint.publicKey, lamports: 1_461_600, space: MINT_SIZE },
      programId: TOKEN_PROGRAM_ID,
    }),
    createInitializeMint2Instruction(mint.publicKey, 0, owner.publicKey, owner.publicKey),
    createAssociatedTokenAccountInstruction(owner.publicKey, holder, owner.publicKey, mint.publicKey),
    createMintToInstruction(mint.publicKey, holder, owner.publicKey, 1),
    createMetadata(mint.publicKey, owner.publicKey, data),
    createMasterEdition(mint.publicKey, owner.publicKey, 0n),
  );
  return mint.publicKey;
}

test("an unmodified helius-sdk 3 lists assets by owner, group, creator, authority and search, as they are minted, sent and burnt", async () => {
  const client = createHelius({ apiKey: network.dev.key, baseUrl: String(network.dev.doors["rpc"]) });
  const [artist, buyer] = [await funded(), await funded()];
  const collection = await mintNft(artist, "All days", null);
  const first = await mintNft(artist, "Day one", collection);
  const second = await mintNft(artist, "Day two", collection);
  for (const mint of [first, second]) await send([artist], verifyCollection(mint, collection, artist.publicKey));
  const group = { groupKey: "collection", groupValue: collection.toBase58() };
  const [ownerAddress, creatorAddress] = [artist.publicKey.toBase58(), artist.publicKey.toBase58()];

  const listed = await eventually(
    "both are in their collection",
    async () => {
      const list = await client.getAssetsByGroup({
        ...group,
        page: 1,
        limit: 10,
        sortBy: { sortBy: "id", sortDirection: "asc" },
      });
      return list.total === 2 ? list : null;
    },
    indexedMs,
  );
  expect(listed).toMatchObject({ limit: 10, page: 1 });
  expect(listed.items.map(({ id }) => id)).toEqual([first, second].map((mint) => mint.toBase58()).toSorted());
  expect(listed.items.find(({ id }) => id === first.toBase58())).toMatchObject({
    interface: "V1_NFT",
    content: { json_uri: "https://devnet.invalid/Day one.json", metadata: { name: "Day one", symbol: "DAY" } },
    grouping: [{ group_key: "collection", group_value: collection.toBase58() }],
    creators: [{ address: creatorAddress, share: 100, verified: true }],
    royalty: { basis_points: 250, percent: 0.025 },
    ownership: { owner: ownerAddress, frozen: false, delegated: false, ownership_model: "single" },
    compression: { compressed: false },
    burnt: false,
  });
  const ids = (list: { items: readonly { id: string }[] }): string[] => list.items.map(({ id }) => id).toSorted();
  const all = [collection, first, second].map((mint) => mint.toBase58()).toSorted();
  const owned = await client.getAssetsByOwner({
    ...{ ownerAddress, page: 1, limit: 1000 },
    displayOptions: { showNativeBalance: true, showGrandTotal: true, showCollectionMetadata: true },
  });
  expect(ids(owned)).toEqual(all);
  expect(owned).toMatchObject({ total: 3, grand_total: 3, nativeBalance: { lamports: expect.any(Number) } });
  expect(owned.items.find(({ id }) => id === first.toBase58())?.grouping?.[0]?.collection_metadata).toMatchObject({
    name: "All days",
  });
  expect(ids(await client.getAssetsByCreator({ creatorAddress, onlyVerified: true }))).toEqual(all);
  expect(ids(await client.getAssetsByAuthority({ authorityAddress: ownerAddress }))).toEqual(all);
  const searched = await client.searchAssets({
    ownerAddress,
    tokenType: "regularNft",
    grouping: ["collection", group.groupValue],
  });
  expect(ids(searched)).toEqual([first, second].map((mint) => mint.toBase58()).toSorted());

  const pageOf = (more: object) =>
    client.getAssetsByOwner({ ownerAddress, limit: 2, sortBy: { sortBy: "created", sortDirection: "asc" }, ...more });
  const opening = await pageOf({});
  expect(opening.items.map(({ id }) => id)).toEqual([collection, first].map((mint) => mint.toBase58()));
  const rest = await pageOf({ after: opening.cursor });
  expect(rest.items.map(({ id }) => id)).toEqual([second.toBase58()]);
  expect((await pageOf({ page: 2 })).items.map(({ id }) => id)).toEqual([second.toBase58()]);
  expect((await pageOf({ before: second.toBase58() })).items.map(({ id }) => id)).toEqual(
    [collection, first].map((mint) => mint.toBase58()),
  );

  const [from, to] = [artist, buyer].map(({ publicKey }) => getAssociatedTokenAddressSync(first, publicKey));
  if (from === undefined || to === undefined) throw new Error("no token account");
  await send(
    [artist],
    createAssociatedTokenAccountInstruction(artist.publicKey, to, buyer.publicKey, first),
    createTransferInstruction(from, to, artist.publicKey, 1),
  );
  const bought = await client.getAssetsByOwner({ ownerAddress: buyer.publicKey.toBase58() });
  expect(ids(bought)).toEqual([first.toBase58()]);
  expect(ids(await client.getAssetsByOwner({ ownerAddress }))).toEqual(
    [collection, second].map((mint) => mint.toBase58()).toSorted(),
  );
  await eventually(
    "the index has the new owner",
    async () => {
      const list = await client.getAssetsByGroup(group);
      const owner = list.items.find(({ id }) => id === first.toBase58())?.ownership.owner;
      return owner === buyer.publicKey.toBase58();
    },
    indexedMs,
  );

  await send([buyer], burnNft(first, buyer.publicKey));
  const burnt = await eventually(
    "the index has it as burnt",
    async () => {
      const list = await client.searchAssets({ grouping: ["collection", group.groupValue], burnt: true });
      return list.total === 1 ? list : null;
    },
    indexedMs,
  );
  expect(burnt.items[0]).toMatchObject({ id: first.toBase58(), burnt: true });
  expect(ids(await client.getAssetsByGroup(group))).toEqual([second.toBase58()]);
  expect(ids(await client.getAssetsByOwner({ ownerAddress: buyer.publicKey.toBase58() }))).toEqual([]);
}, 240_000);

test("what cannot be answered is refused by name", async () => {
  const client = createHelius({ apiKey: network.dev.key, baseUrl: String(network.dev.doors["rpc"]) });
  const owner = Keypair.generate().publicKey.toBase58();
  const said = async (call: Promise<unknown>): Promise<string> => String(await call.catch((error: unknown) => error));
  expect(await said(client.getAssetsByOwner({ ownerAddress: owner, limit: 1001 }))).toContain("limit");
  expect(await said(client.getAssetsByOwner({ ownerAddress: owner, page: 1, after: owner }))).toContain("page");
  expect(await said(client.getAssetsByOwner({ ownerAddress: "nobody" }))).toContain("ownerAddress");
  expect(await said(client.getAssetsByGroup({ groupKey: "creator", groupValue: owner }))).toContain("collection");
  expect(await said(client.getAssetProof({ id: owner }))).toContain("does not have the asset");
  expect(await client.getSignaturesForAsset({ id: owner, page: 1 })).toMatchObject({ total: 0, items: [] });
}, 30_000);
