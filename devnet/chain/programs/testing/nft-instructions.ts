import { encodeBase58 } from "@sluice/wire/base58";
import { ASSOCIATED_TOKEN_PROGRAM_ID, getAssociatedTokenAddressSync, TOKEN_PROGRAM_ID } from "@solana/spl-token";
import { type AccountMeta, PublicKey, SystemProgram, TransactionInstruction } from "@solana/web3.js";
import { listingAddress, marketplaceProgram } from "../marketplace/layout.ts";
import { editionAddress, metadataAddress, metadataProgramAddress } from "../metaplex/layout.ts";
import { instructionTag } from "../runtime.ts";

const meta = (pubkey: PublicKey, isSigner: boolean, isWritable: boolean): AccountMeta => ({
  pubkey,
  isSigner,
  isWritable,
});
const read = (key: PublicKey, signs = false) => meta(key, signs, false);
const write = (key: PublicKey, signs = false) => meta(key, signs, true);

const metadataProgram = new PublicKey(metadataProgramAddress);
const marketplace = new PublicKey(marketplaceProgram);
const address = (found: { readonly bytes: Uint8Array }) => new PublicKey(encodeBase58(found.bytes));

export const metadataOf = (mint: PublicKey) => address(metadataAddress(mint.toBytes()));
export const editionOf = (mint: PublicKey) => address(editionAddress(mint.toBytes()));
export const listingOf = (mint: PublicKey) => address(listingAddress(mint.toBytes()));

export interface DataV2 {
  readonly name: string;
  readonly symbol: string;
  readonly uri: string;
  readonly sellerFeeBasisPoints: number;
  readonly creators:
    | readonly { readonly address: PublicKey; readonly verified: number; readonly share: number }[]
    | null;
  readonly collection: { readonly verified: number; readonly key: PublicKey } | null;
  /** Whether the account is a collection itself. */
  readonly sized?: boolean;
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value);
  const length = Buffer.alloc(4);
  length.writeUInt32LE(bytes.length);
  return Buffer.concat([length, bytes]);
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

/** The arguments as the real program's clients serialise them: borsh. */
export function createMetadataData(data: DataV2): Buffer {
  const fee = Buffer.alloc(2);
  fee.writeUInt16LE(data.sellerFeeBasisPoints);
  const creators = data.creators?.map(({ address: key, verified, share }) =>
    Buffer.concat([key.toBuffer(), Buffer.of(verified, share)]),
  );
  return Buffer.concat([
    Buffer.of(33),
    text(data.name),
    text(data.symbol),
    text(data.uri),
    fee,
    creators === undefined ? Buffer.of(0) : Buffer.concat([Buffer.of(1), u32(creators.length), ...creators]),
    data.collection === null
      ? Buffer.of(0)
      : Buffer.concat([Buffer.of(1, data.collection.verified), data.collection.key.toBuffer()]),
    Buffer.of(0, 1),
    data.sized === true ? Buffer.concat([Buffer.of(1, 0), Buffer.alloc(8)]) : Buffer.of(0),
  ]);
}

export function createMetadata(mint: PublicKey, payer: PublicKey, data: Buffer): TransactionInstruction {
  const keys = [
    write(metadataOf(mint)),
    read(mint),
    read(payer, true),
    write(payer, true),
    read(payer),
    read(SystemProgram.programId),
  ];
  return new TransactionInstruction({ programId: metadataProgram, keys, data });
}

export function createMasterEdition(
  mint: PublicKey,
  payer: PublicKey,
  maxSupply: bigint | null,
): TransactionInstruction {
  const keys = [
    write(editionOf(mint)),
    write(mint),
    read(payer, true),
    read(payer, true),
    write(payer, true),
    write(metadataOf(mint)),
    read(TOKEN_PROGRAM_ID),
    read(SystemProgram.programId),
  ];
  const most = Buffer.alloc(8);
  most.writeBigUInt64LE(maxSupply ?? 0n);
  const data = Buffer.concat([Buffer.of(17), maxSupply === null ? Buffer.of(0) : Buffer.concat([Buffer.of(1), most])]);
  return new TransactionInstruction({ programId: metadataProgram, keys, data });
}

export function verifyCollection(mint: PublicKey, collection: PublicKey, authority: PublicKey): TransactionInstruction {
  const keys = [
    write(metadataOf(mint)),
    read(authority, true),
    write(authority, true),
    read(collection),
    read(metadataOf(collection)),
    read(editionOf(collection)),
  ];
  return new TransactionInstruction({ programId: metadataProgram, keys, data: Buffer.of(18) });
}

export function burnNft(mint: PublicKey, owner: PublicKey): TransactionInstruction {
  const keys = [
    write(metadataOf(mint)),
    write(owner, true),
    write(mint),
    write(getAssociatedTokenAddressSync(mint, owner)),
    write(editionOf(mint)),
    read(TOKEN_PROGRAM_ID),
  ];
  return new TransactionInstruction({ programId: metadataProgram, keys, data: Buffer.of(29) });
}

function priced(name: string, price: bigint): Buffer {
  const amount = Buffer.alloc(8);
  amount.writeBigUInt64LE(price);
  return Buffer.concat([instructionTag(name), amount]);
}

const escrowOf = (mint: PublicKey) => getAssociatedTokenAddressSync(mint, listingOf(mint), true);

export function listNft(mint: PublicKey, owner: PublicKey, price: bigint): TransactionInstruction {
  const keys = [
    read(owner, true),
    write(getAssociatedTokenAddressSync(mint, owner)),
    write(listingOf(mint)),
    write(escrowOf(mint)),
    read(mint),
    write(owner, true),
    read(TOKEN_PROGRAM_ID),
    read(ASSOCIATED_TOKEN_PROGRAM_ID),
    read(marketplace),
    read(SystemProgram.programId),
  ];
  return new TransactionInstruction({ programId: marketplace, keys, data: priced("list_legacy", price) });
}

export function delistNft(mint: PublicKey, owner: PublicKey): TransactionInstruction {
  const keys = [
    write(owner, true),
    write(getAssociatedTokenAddressSync(mint, owner)),
    write(listingOf(mint)),
    write(escrowOf(mint)),
    read(mint),
    write(owner),
    read(TOKEN_PROGRAM_ID),
    read(ASSOCIATED_TOKEN_PROGRAM_ID),
    read(SystemProgram.programId),
    read(marketplace),
  ];
  return new TransactionInstruction({
    programId: marketplace,
    keys,
    data: Buffer.from(instructionTag("delist_legacy")),
  });
}

export function buyNft(mint: PublicKey, buyer: PublicKey, owner: PublicKey, most: bigint): TransactionInstruction {
  const keys = [
    read(buyer),
    read(buyer, true),
    write(getAssociatedTokenAddressSync(mint, buyer)),
    write(listingOf(mint)),
    write(escrowOf(mint)),
    read(mint),
    write(owner),
    write(buyer, true),
    read(marketplace),
    write(owner),
    read(TOKEN_PROGRAM_ID),
    read(ASSOCIATED_TOKEN_PROGRAM_ID),
    read(marketplace),
    read(SystemProgram.programId),
  ];
  return new TransactionInstruction({ programId: marketplace, keys, data: priced("buy_legacy", most) });
}
