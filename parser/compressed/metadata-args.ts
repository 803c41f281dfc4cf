import { keccak_256 } from "@noble/hashes/sha3";
import { type ByteReader, ByteWriter, MalformedBytes } from "@sluice/wire/bytes";
import { addressOfBytes } from "@sluice/wire/identifiers";

/** Metadata of a compressed NFT as instructions of Bubblegum state them. Source: mpl-bubblegum, MetadataArgs. */

/** What form the metadata have: of trees of the first version, or of the second. */
export type MetadataForm = "V1" | "V2";

const tokenStandards = ["NonFungible", "FungibleAsset", "Fungible", "NonFungibleEdition"] as const;
type LeafTokenStandard = (typeof tokenStandards)[number];

export interface LeafCreator {
  readonly address: string;
  readonly verified: boolean;
  /** Per cent. */
  readonly share: number;
}

interface Uses {
  readonly method: number;
  readonly remaining: bigint;
  readonly total: bigint;
}

/** Metadata of a leaf. Of the second version collections are always verified, and some members are not stated. */
export interface LeafMetadata {
  readonly form: MetadataForm;
  readonly name: string;
  readonly symbol: string;
  readonly uri: string;
  readonly sellerFeeBasisPoints: number;
  readonly primarySaleHappened: boolean;
  readonly isMutable: boolean;
  readonly editionNonce: number | null;
  readonly tokenStandard: LeafTokenStandard | null;
  readonly collection: { readonly key: string; readonly verified: boolean } | null;
  readonly uses: Uses | null;
  readonly tokenProgramVersion: number;
  readonly creators: readonly LeafCreator[];
}

/** What an update changes; null leaves a member as it is. */
export interface MetadataUpdate {
  readonly name: string | null;
  readonly symbol: string | null;
  readonly uri: string | null;
  readonly creators: readonly LeafCreator[] | null;
  readonly sellerFeeBasisPoints: number | null;
  readonly primarySaleHappened: boolean | null;
  readonly isMutable: boolean | null;
}

const creatorBytes = 34;

function creatorsOf(reader: ByteReader): LeafCreator[] {
  return reader.list(reader.u32(), creatorBytes, () => ({
    address: reader.address(),
    verified: reader.flag(),
    share: reader.u8(),
  }));
}

function standardOf(reader: ByteReader): LeafTokenStandard | null {
  const number = reader.optional(() => reader.u8());
  if (number === null) return null;
  const standard = tokenStandards[number];
  if (standard === undefined) throw new MalformedBytes(`the token standard is ${number}`);
  return standard;
}

/** Reads metadata from an instruction. @throws {MalformedBytes} where the bytes are none */
export function readMetadata(reader: ByteReader, form: MetadataForm): LeafMetadata {
  const head = {
    form,
    name: reader.sizedText(),
    symbol: reader.sizedText(),
    uri: reader.sizedText(),
    sellerFeeBasisPoints: reader.u16(),
    primarySaleHappened: reader.flag(),
    isMutable: reader.flag(),
  };
  if (form === "V2") {
    const tokenStandard = standardOf(reader);
    const creators = creatorsOf(reader);
    const key = reader.optional(() => reader.address());
    const collection = key === null ? null : { key, verified: true };
    return { ...head, editionNonce: null, tokenStandard, collection, uses: null, tokenProgramVersion: 0, creators };
  }
  const editionNonce = reader.optional(() => reader.u8());
  const tokenStandard = standardOf(reader);
  const collection = reader.optional(() => {
    const verified = reader.flag();
    return { key: reader.address(), verified };
  });
  const uses = reader.optional(() => ({ method: reader.u8(), remaining: reader.u64(), total: reader.u64() }));
  const tokenProgramVersion = reader.u8();
  return { ...head, editionNonce, tokenStandard, collection, uses, tokenProgramVersion, creators: creatorsOf(reader) };
}

/** Reads an update. @throws {MalformedBytes} where the bytes are none */
export function readUpdate(reader: ByteReader): MetadataUpdate {
  return {
    name: reader.optional(() => reader.sizedText()),
    symbol: reader.optional(() => reader.sizedText()),
    uri: reader.optional(() => reader.sizedText()),
    creators: reader.optional(() => creatorsOf(reader)),
    sellerFeeBasisPoints: reader.optional(() => reader.u16()),
    primarySaleHappened: reader.optional(() => reader.flag()),
    isMutable: reader.optional(() => reader.flag()),
  };
}

/** Metadata with the changes of an update. */
export function updated(metadata: LeafMetadata, update: MetadataUpdate): LeafMetadata {
  const changes = Object.entries(update).filter(([, value]) => value !== null);
  return { ...metadata, ...Object.fromEntries(changes) };
}

function writeCreators(writer: ByteWriter, creators: readonly LeafCreator[]): void {
  for (const { address, verified, share } of creators) {
    writer.address(address).u8(Number(verified)).u8(share);
  }
}

/** Metadata in the bytes that an instruction carries. */
export function writeMetadata(metadata: LeafMetadata): Uint8Array {
  const { editionNonce, tokenStandard, collection, uses, creators, form } = metadata;
  const writer = new ByteWriter(512);
  for (const text of [metadata.name, metadata.symbol, metadata.uri]) writer.sizedText(text);
  writer.u16(metadata.sellerFeeBasisPoints).u8(Number(metadata.primarySaleHappened)).u8(Number(metadata.isMutable));
  if (form === "V1") writer.option(editionNonce, (nonce) => writer.u8(nonce));
  writer.option(tokenStandard, (standard) => writer.u8(tokenStandards.indexOf(standard)));
  if (form === "V2") {
    writeCreators(writer.u32(creators.length), creators);
    return writer.option(collection, ({ key }) => writer.address(key)).finish();
  }
  writer.option(collection, ({ key, verified }) => writer.u8(Number(verified)).address(key));
  writer.option(uses, ({ method, remaining, total }) => writer.u8(method).u64(remaining).u64(total));
  writeCreators(writer.u8(metadata.tokenProgramVersion).u32(creators.length), creators);
  return writer.finish();
}

/** The hash of metadata that a leaf has, in base58: of the hash of their bytes and of the royalty. */
export function dataHashOf(metadata: LeafMetadata): string {
  const writer = new ByteWriter(34).bytes(keccak_256(writeMetadata(metadata))).u16(metadata.sellerFeeBasisPoints);
  return addressOfBytes(keccak_256(writer.finish()));
}
