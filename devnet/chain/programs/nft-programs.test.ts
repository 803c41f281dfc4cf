import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  createAssociatedTokenAccountInstruction,
  createInitializeMint2Instruction,
  createMintToInstruction,
  getAssociatedTokenAddressSync,
  MINT_SIZE,
  TOKEN_PROGRAM_ID,
} from "@solana/spl-token";
import { Keypair, PublicKey, SystemProgram, type TransactionInstruction } from "@solana/web3.js";
import type { ChainAccount, ExecutedTransaction } from "../model/records.ts";
import { tokenAmount } from "../model/token-state.ts";
import { type ManualChain, signedBy, startManualChain } from "../testing/chain.ts";
import { walletKeypair } from "../testing/wallets.ts";
import { marketplaceErrors } from "./marketplace/layout.ts";
import { metadataErrors } from "./metaplex/layout.ts";
import {
  burnNft,
  buyNft,
  createMasterEdition,
  createMetadata,
  createMetadataData,
  type DataV2,
  delistNft,
  editionOf,
  listingOf,
  listNft,
  metadataOf,
  verifyCollection,
} from "./testing/nft-instructions.ts";

const artist = walletKeypair("artist");
const alice = walletKeypair("alice");
const bob = walletKeypair("bob");
let manual: ManualChain;
beforeAll(async () => {
  manual = await startManualChain();
});
afterAll(() => manual[Symbol.asyncDispose]());

const accountAt = (key: PublicKey): ChainAccount | null => manual.chain.accounts.newest(key.toBase58());
const dataAt = (key: PublicKey) => Buffer.from(accountAt(key)?.data ?? new Uint8Array());
const lamportsAt = (key: PublicKey) => accountAt(key)?.lamports ?? 0n;
const unitsOf = (mint: PublicKey, owner: PublicKey) => {
  const account = accountAt(getAssociatedTokenAddressSync(mint, owner, true));
  return account === null ? null : tokenAmount(account);
};
const mintNamed = (name: string) => new PublicKey(manual.chain.genesis.description.mints.get(name) ?? "");
const custom = (index: number, code: bigint) => ({ InstructionError: [index, { Custom: Number(code) }] });

async function run(
  signers: readonly [Keypair, ...Keypair[]],
  ...instructions: TransactionInstruction[]
): Promise<ExecutedTransaction> {
  const transaction = signedBy(signers, manual.chain.at("processed").blockhash, ...instructions);
  manual.chain.submit(transaction);
  await manual.closeSlots(1);
  const executed = manual.chain.history.transaction(transaction.id)?.executed;
  if (executed === undefined) throw new Error("it did not land");
  return executed;
}

function mintOne(mint: PublicKey, owner: PublicKey, freeze = true): TransactionInstruction[] {
  const at = getAssociatedTokenAddressSync(mint, owner);
  return [
    SystemProgram.createAccount({
      fromPubkey: owner,
      newAccountPubkey: mint,
      lamports: 1_461_600,
      space: MINT_SIZE,
      programId: TOKEN_PROGRAM_ID,
    }),
    createInitializeMint2Instruction(mint, 0, owner, freeze ? owner : null),
    createAssociatedTokenAccountInstruction(owner, at, owner, mint),
    createMintToInstruction(mint, at, owner, 1),
  ];
}

const plain: DataV2 = {
  name: "Cat of the day",
  symbol: "CAT",
  uri: "https://devnet.invalid/cat.json",
  sellerFeeBasisPoints: 250,
  creators: [{ address: artist.publicKey, verified: 1, share: 100 }],
  collection: null,
};

/** A token of one unit, with its metadata and its edition. */
async function mintNft(data: DataV2 = plain, maxSupply: bigint | null = 0n): Promise<PublicKey> {
  const mint = Keypair.generate();
  const minted = await run(
    [artist, mint],
    ...mintOne(mint.publicKey, artist.publicKey),
    createMetadata(mint.publicKey, artist.publicKey, createMetadataData(data)),
    createMasterEdition(mint.publicKey, artist.publicKey, maxSupply),
  );
  expect(minted.error).toBeNull();
  return mint.publicKey;
}

describe("token metadata", () => {
  test("metadata has the real layout, field by field at its offset", async () => {
    const mint = await mintNft({ ...plain, collection: { verified: 0, key: mintNamed("cats") } });
    const data = dataAt(metadataOf(mint));
    const key = (offset: number) => new PublicKey(data.subarray(offset, offset + 32)).toBase58();
    expect(data.length).toBe(607);
    expect(data[0]).toBe(4);
    expect(key(1)).toBe(artist.publicKey.toBase58());
    expect(key(33)).toBe(mint.toBase58());
    expect([data.readUInt32LE(65), data.readUInt32LE(101), data.readUInt32LE(115)]).toEqual([32, 10, 200]);
    expect(data.subarray(69, 101).toString()).toBe(plain.name.padEnd(32, "\0"));
    expect(data.subarray(105, 115).toString()).toBe(plain.symbol.padEnd(10, "\0"));
    expect(data.subarray(119, 319).toString()).toBe(plain.uri.padEnd(200, "\0"));
    expect(data.readUInt16LE(319)).toBe(250);
    expect([data[321], data.readUInt32LE(322)]).toEqual([1, 1]);
    expect(key(326)).toBe(artist.publicKey.toBase58());
    // Verified, the whole share; not sold, mutable; edition nonce; of the standard of single tokens.
    expect([...data.subarray(358, 362)]).toEqual([1, 100, 0, 1]);
    const [edition, bump] = PublicKey.findProgramAddressSync(
      [Buffer.from("metadata"), accountOwner(metadataOf(mint)), mint.toBuffer(), Buffer.from("edition")],
      new PublicKey(accountOwner(metadataOf(mint))),
    );
    expect(edition.equals(editionOf(mint))).toBe(true);
    expect([...data.subarray(362, 366)]).toEqual([1, bump, 1, 0]);
    expect([...data.subarray(366, 368)]).toEqual([1, 0]);
    expect(key(368)).toBe(mintNamed("cats").toBase58());
    expect(data.subarray(400).every((byte) => byte === 0)).toBe(true);
  });

  const accountOwner = (key: PublicKey) => new PublicKey(accountAt(key)?.owner ?? "").toBuffer();

  test("the master edition takes over the mint, so that a second unit cannot be made", async () => {
    const mint = await mintNft();
    expect([...dataAt(editionOf(mint)).subarray(0, 18)]).toEqual([
      6,
      ...new Array(8).fill(0),
      1,
      ...new Array(8).fill(0),
    ]);
    const data = dataAt(mint);
    for (const offset of [4, 50]) {
      expect(new PublicKey(data.subarray(offset, offset + 32)).equals(editionOf(mint))).toBe(true);
    }
    const at = getAssociatedTokenAddressSync(mint, artist.publicKey);
    const again = await run([artist], createMintToInstruction(mint, at, artist.publicKey, 1));
    expect(again.error).toEqual(custom(0, 4n));
    expect(dataAt(editionOf(await mintNft(plain, null)))[9]).toBe(0);
  });

  test("a collection's authority alone verifies an item", async () => {
    const mint = await mintNft({ ...plain, collection: { verified: 0, key: mintNamed("cats") } });
    const foreign = await run([alice], verifyCollection(mint, mintNamed("cats"), alice.publicKey));
    expect(foreign.error).toEqual(custom(0, metadataErrors.updateAuthorityIncorrect));
    expect(dataAt(metadataOf(mint))[367]).toBe(0);
    expect((await run([artist], verifyCollection(mint, mintNamed("cats"), artist.publicKey))).error).toBeNull();
    expect(dataAt(metadataOf(mint))[367]).toBe(1);
    const other = await mintNft({ ...plain, creators: null });
    const refused = await run([artist], verifyCollection(other, mintNamed("cats"), artist.publicKey));
    expect(refused.error).toEqual(custom(0, metadataErrors.collectionNotFound));
  });

  test("the program reads accounts of the genesis file as its own", async () => {
    const holder = mintNamed("cat-2");
    const burned = await run([alice], burnNft(holder, alice.publicKey));
    expect(burned.error).toBeNull();
    for (const key of [metadataOf(holder), editionOf(holder), getAssociatedTokenAddressSync(holder, alice.publicKey)]) {
      expect(accountAt(key)).toBeNull();
    }
    expect(dataAt(holder).readBigUInt64LE(36)).toBe(0n);
  });

  test("data with a fault in any place makes nothing", async () => {
    const mint = Keypair.generate();
    expect((await run([artist, mint], ...mintOne(mint.publicKey, artist.publicKey))).error).toBeNull();
    const attempt = async (data: Buffer) => {
      const { error } = await run([artist], createMetadata(mint.publicKey, artist.publicKey, data));
      expect(accountAt(metadataOf(mint.publicKey))).toBeNull();
      return error;
    };
    const creator = { address: artist.publicKey, verified: 0, share: 100 };
    const faulty: readonly (readonly [DataV2, bigint])[] = [
      [{ ...plain, name: "n".repeat(33) }, metadataErrors.textTooLong],
      [{ ...plain, symbol: "s".repeat(11) }, metadataErrors.textTooLong],
      [{ ...plain, uri: "u".repeat(201) }, metadataErrors.textTooLong],
      [{ ...plain, sellerFeeBasisPoints: 10_001 }, metadataErrors.invalidBasisPoints],
      [{ ...plain, creators: [] }, metadataErrors.creatorsTooLong],
      [{ ...plain, creators: new Array(6).fill(creator) }, metadataErrors.creatorsTooLong],
      [{ ...plain, creators: [{ ...creator, share: 99 }] }, metadataErrors.shareTotal],
      [
        { ...plain, creators: [{ address: bob.publicKey, verified: 1, share: 100 }] },
        metadataErrors.cannotVerifyAnotherCreator,
      ],
      [{ ...plain, collection: { verified: 1, key: mintNamed("cats") } }, metadataErrors.collectionCannotBeVerified],
    ];
    for (const [data, code] of faulty) expect(await attempt(createMetadataData(data))).toEqual(custom(0, code));
    const whole = createMetadataData({ ...plain, collection: { verified: 0, key: mintNamed("cats") } });
    for (let length = 0; length < whole.length; length += 7) {
      expect(await attempt(whole.subarray(0, length))).toEqual({ InstructionError: [0, "InvalidInstructionData"] });
    }
  }, 60_000);

  test("another's mint gets no metadata from a stranger, and none twice", async () => {
    const mint = Keypair.generate();
    await run([artist, mint], ...mintOne(mint.publicKey, artist.publicKey));
    const data = createMetadataData({ ...plain, creators: null });
    const strange = await run([bob], createMetadata(mint.publicKey, bob.publicKey, data));
    expect(strange.error).toEqual(custom(0, metadataErrors.invalidMintAuthority));
    // Lamports that were sent to the address before do not prevent it.
    const sent = SystemProgram.transfer({
      fromPubkey: bob.publicKey,
      toPubkey: metadataOf(mint.publicKey),
      lamports: 1_000_000,
    });
    expect((await run([bob], sent)).error).toBeNull();
    expect((await run([artist], createMetadata(mint.publicKey, artist.publicKey, data))).error).toBeNull();
    const twice = await run([artist], createMetadata(mint.publicKey, artist.publicKey, data));
    expect(twice.error).toEqual({ InstructionError: [0, "AccountAlreadyInitialized"] });
  });
});

test("a program that only pretends to be the Token program is refused by every instruction that would call it", async () => {
  const mint = await mintNft();
  const listed = await mintNft();
  expect((await run([artist], listNft(listed, artist.publicKey, 5n))).error).toBeNull();
  const calls = [
    burnNft(mint, artist.publicKey),
    listNft(mint, artist.publicKey, 1n),
    delistNft(listed, artist.publicKey),
    buyNft(listed, bob.publicKey, artist.publicKey, 5n),
    createMasterEdition(mint, artist.publicKey, 0n),
  ];
  const pretender = new PublicKey("MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr");
  for (const call of calls) {
    call.keys = call.keys.map((key) => (key.pubkey.equals(TOKEN_PROGRAM_ID) ? { ...key, pubkey: pretender } : key));
    const signer = call.keys.some(({ pubkey }) => pubkey.equals(bob.publicKey)) ? bob : artist;
    expect((await run([signer], call)).error).toEqual({ InstructionError: [0, "IncorrectProgramId"] });
  }
  expect(accountAt(metadataOf(mint))).not.toBeNull();
});

describe("the marketplace", () => {
  test("a listed token lies in escrow; the buyer gets it, the seller what he asked and his rent", async () => {
    const mint = await mintNft();
    const rich = lamportsAt(artist.publicKey);
    const listed = await run([artist], listNft(mint, artist.publicKey, 2_000_000_000n));
    expect(listed.error).toBeNull();
    const data = dataAt(listingOf(mint));
    expect(new PublicKey(data.subarray(10, 42)).equals(artist.publicKey)).toBe(true);
    expect(new PublicKey(data.subarray(42, 74)).equals(mint)).toBe(true);
    expect(data.readBigUInt64LE(74)).toBe(2_000_000_000n);
    expect(unitsOf(mint, artist.publicKey)).toBe(0n);
    expect(unitsOf(mint, listingOf(mint))).toBe(1n);
    const cheap = await run([bob], buyNft(mint, bob.publicKey, artist.publicKey, 1_999_999_999n));
    expect(cheap.error).toEqual(custom(0, marketplaceErrors.priceMismatch));
    const bought = await run([bob], buyNft(mint, bob.publicKey, artist.publicKey, 2_000_000_000n));
    expect(bought.error).toBeNull();
    expect(unitsOf(mint, bob.publicKey)).toBe(1n);
    expect([accountAt(listingOf(mint)), unitsOf(mint, listingOf(mint))]).toEqual([null, null]);
    expect(lamportsAt(artist.publicKey)).toBe(rich - listed.fee + 2_000_000_000n);
    const again = await run([bob], buyNft(mint, bob.publicKey, artist.publicKey, 2_000_000_000n));
    expect(again.error).not.toBeNull();
  });

  test("listings of genesis can be bought and taken back", async () => {
    const [cat, loner] = [mintNamed("cat-3"), mintNamed("loner")];
    const dave = walletKeypair("dave");
    expect((await run([alice], buyNft(cat, alice.publicKey, bob.publicKey, 1_500_000_000n))).error).toBeNull();
    expect(unitsOf(cat, alice.publicKey)).toBe(1n);
    const open = createAssociatedTokenAccountInstruction(
      dave.publicKey,
      getAssociatedTokenAddressSync(loner, dave.publicKey),
      dave.publicKey,
      loner,
    );
    expect((await run([dave], open, delistNft(loner, dave.publicKey))).error).toBeNull();
    expect(unitsOf(loner, dave.publicKey)).toBe(1n);
    expect(accountAt(listingOf(loner))).toBeNull();
  });

  test("delisting, relisting and buying need their own signer", async () => {
    const mint = await mintNft();
    expect((await run([artist], listNft(mint, artist.publicKey, 1_000n))).error).toBeNull();
    const other = createAssociatedTokenAccountInstruction(
      bob.publicKey,
      getAssociatedTokenAddressSync(mint, bob.publicKey),
      bob.publicKey,
      mint,
    );
    expect((await run([bob], other)).error).toBeNull();
    expect((await run([bob], delistNft(mint, bob.publicKey))).error).toEqual(custom(0, marketplaceErrors.wrongListing));
    // Not even when he names the seller as who paid the rent, nor does the seller's price go to himself.
    for (const [call, rent] of [
      [delistNft(mint, bob.publicKey), 5],
      [buyNft(mint, bob.publicKey, bob.publicKey, 1_000n), 9],
    ] as const) {
      call.keys[rent] = { pubkey: artist.publicKey, isSigner: false, isWritable: true };
      expect((await run([bob], call)).error).toEqual(custom(0, marketplaceErrors.wrongListing));
    }
    expect((await run([artist], listNft(mint, artist.publicKey, 1n))).error).toEqual({
      InstructionError: [0, "AccountAlreadyInitialized"],
    });
    // The seller's lamports cannot go to the buyer himself.
    const diverted = await run([bob], buyNft(mint, bob.publicKey, bob.publicKey, 1_000n));
    expect(diverted.error).toEqual(custom(0, marketplaceErrors.wrongListing));
    const foreign = await mintNft();
    expect((await run([bob], listNft(foreign, bob.publicKey, 1n))).error).not.toBeNull();
    expect(unitsOf(foreign, artist.publicKey)).toBe(1n);
  });
});
