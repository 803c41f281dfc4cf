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
  readonly editionNonce: number | null;
  readonly uses: MetaplexUses | null;
  /** Whether it is a collection of others. */
  readonly isCollection: boolean;
  /** The rules of a programmable NFT. */
  readonly ruleSet: Address | null;
}

/** How often an NFT may be used. */
export interface MetaplexUses {
  readonly method: "Burn" | "Multiple" | "Single";
  readonly remaining: bigint;
  readonly total: bigint;
}

const useMethods = ["Burn", "Multiple", "Single"] as const;

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

type Tail = Pick<
  MetaplexMetadata,
  "editionNonce" | "tokenStandard" | "collection" | "uses" | "isCollection" | "ruleSet"
>;

/** What came with later versions of the program: as far as the bytes have it, which were zeros before. */
function tailOf(reader: ByteReader): Tail {
  const none = { editionNonce: null, tokenStandard: null, collection: null };
  const tail: { -readonly [Member in keyof Tail]: Tail[Member] } = {
    ...none,
    ...{ uses: null, isCollection: false, ruleSet: null },
  };
  orNull(() => {
    tail.editionNonce = reader.optional(() => reader.u8());
    tail.tokenStandard = reader.optional(() => tokenStandards[reader.u8()] ?? null);
    tail.collection = reader.optional(() => ({ isVerified: reader.flag(), key: reader.address() }));
    tail.uses = reader.optional(() => usesOf(reader));
    tail.isCollection = reader.flag();
    // A variant of one byte, and eight bytes of each of the two variants.
    if (tail.isCollection) reader.skip(9);
    if (reader.flag() && reader.u8() === 0) tail.ruleSet = reader.optional(() => reader.address());
  });
  return tail;
}

function usesOf(reader: ByteReader): MetaplexUses | null {
  const method = useMethods[reader.u8()];
  const counts = { remaining: reader.u64(), total: reader.u64() };
  return method === undefined ? null : { method, ...counts };
}
