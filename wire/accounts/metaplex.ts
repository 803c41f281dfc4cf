import { decodeAddress } from "../base58.ts";
import { addressAt, ByteReader, orNull, readU16 } from "../bytes.ts";
import { type Address, addressOfBytes } from "../identifiers.ts";
import { findProgramAddress, type Sha256 } from "../program-address.ts";

/** Metadata accounts of Metaplex's Token Metadata. Source: mpl-token-metadata, program/src/state. */

/** The program that owns metadata and editions. */
export const tokenMetadataProgram = "metaqbxxUerdq28cj1RbAWkYQm3ybzjb6a8bt518x1s" as Address;

/** The first byte of a metadata account. */
const metadataKey = 4;
const creatorBytes = 34;
const seed = new TextEncoder().encode("metadata");

/** What kind of token the metadata are of, by its number. */
const tokenStandards = [
  "NonFungible",
  "FungibleAsset",
  "Fungible",
  "NonFungibleEdition",
  "ProgrammableNonFungible",
  "ProgrammableNonFungibleEdition",
] as const;

/** What kind of token metadata are of. */
export type TokenStandard = (typeof tokenStandards)[number];

/** Who made an NFT, and what part of its royalties is his. */
export interface MetaplexCreator {
  readonly address: Address;
  readonly isVerified: boolean;
  /** Per cent. */
  readonly share: number;
}

/** What a metadata account says. Null is what it does not say. */
export interface MetaplexMetadata {
  readonly updateAuthority: Address;
  readonly mint: Address;
  readonly name: string;
  readonly symbol: string;
  readonly uri: string;
  readonly sellerFeeBasisPoints: number;
  readonly creators: readonly MetaplexCreator[];
  readonly primarySaleHappened: boolean;
  readonly isMutable: boolean;
  readonly tokenStandard: TokenStandard | null;
  readonly collection: { readonly key: Address; readonly isVerified: boolean } | null;
}

/** Where the metadata of a mint lie; null for a mint that is no address. */
export function metaplexMetadataAddress(mint: string, sha256: Sha256): Address | null {
  const [mintBytes, program] = [decodeAddress(mint), decodeAddress(tokenMetadataProgram)];
  if (mintBytes === null || program === null) return null;
  const found = findProgramAddress([seed, program, mintBytes], program, sha256);
  return found === null ? null : addressOfBytes(found.bytes);
}

/** Texts are padded with zeros to the length that they may have. */
const text = (reader: ByteReader): string => reader.sizedText().replace(/\0+$/, "");

/**
 * Decodes a metadata account: its key at 0, update authority at 1, mint at 33, then Borsh. What comes after the flag of
 * being mutable may be missing in old accounts.
 *
 * @returns null when it is none
 */
export function decodeMetaplexMetadata(data: Uint8Array): MetaplexMetadata | null {
  if (data.length < 65 || data[0] !== metadataKey) return null;
  return orNull(() => {
    const reader = new ByteReader(data, 65);
    const texts = { name: text(reader), symbol: text(reader), uri: text(reader) };
    const sellerFeeBasisPoints = readU16(reader.bytes(2), 0);
    const creators = reader.flag() ? reader.list(reader.u32(), creatorBytes, () => creatorOf(reader)) : [];
    const [primarySaleHappened, isMutable] = [reader.flag(), reader.flag()];
    const head = { updateAuthority: addressAt(data, 1), mint: addressAt(data, 33), ...texts, sellerFeeBasisPoints };
    return { ...head, creators, primarySaleHappened, isMutable, ...tailOf(reader) };
  });
}

function creatorOf(reader: ByteReader): MetaplexCreator {
  const address = addressOfBytes(reader.bytes(32));
  return { address, isVerified: reader.flag(), share: reader.u8() };
}

function tailOf(reader: ByteReader): Pick<MetaplexMetadata, "tokenStandard" | "collection"> {
  const tail = orNull(() => {
    if (reader.flag()) reader.skip(1);
    const tokenStandard = reader.flag() ? (tokenStandards[reader.u8()] ?? null) : null;
    if (!reader.flag()) return { tokenStandard, collection: null };
    const isVerified = reader.flag();
    return { tokenStandard, collection: { key: addressOfBytes(reader.bytes(32)), isVerified } };
  });
  return tail ?? { tokenStandard: null, collection: null };
}
