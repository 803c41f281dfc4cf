import { ByteWriter } from "@sluice/wire/bytes";
import { bytesOf, type DerivedAddress, derive } from "../../model/index.ts";

/** Accounts of the Token Metadata program as it writes them: texts padded to their longest, options borsh. */

export const metadataProgramAddress = "metaqbxxUerdq28cj1RbAWkYQm3ybzjb6a8bt518x1s";
export const metadataBytes = 607;
export const masterEditionBytes = 20;
/** Longest texts in bytes, and what creators there may be. */
export const nameBytes = 32;
export const symbolBytes = 10;
export const uriBytes = 200;
export const creatorsMax = 5;

export const metadataKey = 4;
export const masterEditionKey = 6;
export const tokenStandard = { nonFungible: 0, fungibleAsset: 1, fungible: 2 } as const;

/** First byte of each instruction of the stand-in; data with any other is invalid. */
export const metadataTags = {
  createMasterEdition: 17,
  verifyCollection: 18,
  burnNft: 29,
  createMetadata: 33,
} as const;

/** Errors of the stand-in. The real program knows many more, and may number them otherwise. */
export const metadataErrors = {
  invalidMintAuthority: 10n,
  updateAuthorityIncorrect: 7n,
  mintMismatch: 15n,
  textTooLong: 11n,
  editionsMustHaveExactlyOneToken: 16n,
  invalidBasisPoints: 35n,
  creatorsTooLong: 36n,
  shareTotal: 39n,
  cannotVerifyAnotherCreator: 54n,
  collectionNotFound: 80n,
  collectionCannotBeVerified: 81n,
} as const;

interface Creator {
  readonly address: Uint8Array;
  readonly verified: boolean;
  /** Percent. */
  readonly share: number;
}

export interface MetadataParts {
  readonly updateAuthority: Uint8Array;
  readonly mint: Uint8Array;
  readonly name: string;
  readonly symbol: string;
  readonly uri: string;
  readonly sellerFeeBasisPoints: number;
  readonly creators: readonly Creator[];
  readonly editionBump: number | null;
  readonly tokenStandard: number;
  readonly collection: { readonly mint: Uint8Array; readonly verified: boolean } | null;
  /** How many items a collection has; null for what is none. */
  readonly collectionSize: bigint | null;
}

const utf8 = new TextEncoder();
const programBytes = bytesOf(metadataProgramAddress);

/** The address of a mint's metadata. */
export function metadataAddress(mint: Uint8Array): DerivedAddress {
  return derive([utf8.encode("metadata"), programBytes, mint], metadataProgramAddress);
}

/** The address of a mint's master edition, which is also its mint authority. */
export function editionAddress(mint: Uint8Array): DerivedAddress {
  return derive([utf8.encode("metadata"), programBytes, mint, utf8.encode("edition")], metadataProgramAddress);
}

function padded(writer: ByteWriter, text: string, bytes: number): void {
  const encoded = utf8.encode(text);
  if (encoded.length > bytes) throw new RangeError(`"${text}" has more than ${bytes} bytes`);
  writer
    .u32(bytes)
    .bytes(encoded)
    .bytes(new Uint8Array(bytes - encoded.length));
}

export function encodeMetadata(parts: MetadataParts): Uint8Array {
  const writer = new ByteWriter().u8(metadataKey).bytes(parts.updateAuthority).bytes(parts.mint);
  padded(writer, parts.name, nameBytes);
  padded(writer, parts.symbol, symbolBytes);
  padded(writer, parts.uri, uriBytes);
  writer.u16(parts.sellerFeeBasisPoints).u8(parts.creators.length > 0 ? 1 : 0);
  if (parts.creators.length > 0) writer.u32(parts.creators.length);
  for (const { address, verified, share } of parts.creators) {
    writer
      .bytes(address)
      .u8(verified ? 1 : 0)
      .u8(share);
  }
  // Not sold yet, and mutable.
  writer.u8(0).u8(1);
  if (parts.editionBump === null) writer.u8(0);
  else writer.u8(1).u8(parts.editionBump);
  writer.u8(1).u8(parts.tokenStandard);
  if (parts.collection === null) writer.u8(0);
  else
    writer
      .u8(1)
      .u8(parts.collection.verified ? 1 : 0)
      .bytes(parts.collection.mint);
  // No uses.
  writer.u8(0);
  if (parts.collectionSize === null) writer.u8(0);
  else writer.u8(1).u8(0).u64(parts.collectionSize);
  return writer.finish(metadataBytes);
}

/** A master edition of which no prints may be made. */
export function encodeMasterEdition(): Uint8Array {
  return new ByteWriter().u8(masterEditionKey).u64(0n).u8(1).u64(0n).finish(masterEditionBytes);
}
