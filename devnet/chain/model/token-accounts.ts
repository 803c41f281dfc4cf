import { createHash } from "node:crypto";
import { decodeAddress, encodeBase58 } from "@sluice/wire/base58";
import { ByteWriter } from "@sluice/wire/bytes";
import { findProgramAddress } from "@sluice/wire/program-address";
import { programs } from "@sluice/wire/programs";

/** Mints and token accounts as their programs write them. */

const mintBytes = 82;
const accountBytes = 165;
const multisigBytes = 355;
/** Token-2022: what kind of account carries extensions, and the extensions used here. */
const typeMint = 1;
const typeAccount = 2;
const extensionTypes = { immutableOwner: 7, metadataPointer: 18, tokenMetadata: 19 } as const;

const utf8 = new TextEncoder();
const sha256 = (bytes: Uint8Array): Uint8Array => new Uint8Array(createHash("sha256").update(bytes).digest());

export function bytesOf(address: string): Uint8Array {
  const bytes = decodeAddress(address);
  if (bytes === null) throw new RangeError(`${address} is no address`);
  return bytes;
}

/** An address that a program derives, with the bump of its seeds. */
export interface DerivedAddress {
  readonly address: string;
  readonly bytes: Uint8Array;
  readonly bump: number;
}

/** The address of seeds under a program, with its bump. */
export function derive(seeds: readonly Uint8Array[], program: string): DerivedAddress {
  const found = findProgramAddress(seeds, bytesOf(program), sha256);
  if (found === null) throw new RangeError("no bump gives an address off the curve");
  return { address: encodeBase58(found.bytes), ...found };
}

/** Where an owner's units of a mint lie unless he wants otherwise. */
export function associatedTokenAddress(owner: Uint8Array, tokenProgram: string, mint: Uint8Array): string {
  return derive([owner, bytesOf(tokenProgram), mint], programs.associatedToken).address;
}

function optionKey(writer: ByteWriter, key: Uint8Array | null): ByteWriter {
  return writer.u32(key === null ? 0 : 1).bytes(key ?? new Uint8Array(32));
}

interface TokenMetadataParts {
  readonly authority: Uint8Array | null;
  readonly name: string;
  readonly symbol: string;
  readonly uri: string;
  readonly additional: ReadonlyMap<string, string>;
}

interface MintParts {
  readonly mint: Uint8Array;
  readonly authority: Uint8Array | null;
  readonly freezeAuthority: Uint8Array | null;
  readonly supply: bigint;
  readonly decimals: number;
  /** Only of Token-2022, in the mint itself. */
  readonly metadata: TokenMetadataParts | null;
}

function borshText(writer: ByteWriter, text: string): void {
  const bytes = utf8.encode(text);
  writer.u32(bytes.length).bytes(bytes);
}

function extension(writer: ByteWriter, type: number, value: Uint8Array): void {
  writer.u16(type).u16(value.length).bytes(value);
}

function metadataExtension(mint: Uint8Array, metadata: TokenMetadataParts): Uint8Array {
  const writer = new ByteWriter().bytes(metadata.authority ?? new Uint8Array(32)).bytes(mint);
  for (const text of [metadata.name, metadata.symbol, metadata.uri]) borshText(writer, text);
  writer.u32(metadata.additional.size);
  for (const pair of metadata.additional) for (const text of pair) borshText(writer, text);
  return writer.finish();
}

/**
 * Extensions behind a base that is padded to an account's length; never as long as a multisig, as the program demands.
 */
function withExtensions(base: Uint8Array, type: number, extensions: Uint8Array): Uint8Array {
  const padding = new Uint8Array(accountBytes - base.length);
  const writer = new ByteWriter().bytes(base).bytes(padding).u8(type).bytes(extensions);
  const whole = writer.finish();
  return whole.length === multisigBytes ? writer.finish(multisigBytes + 2) : whole;
}

export function encodeMint(parts: MintParts): Uint8Array {
  const writer = optionKey(new ByteWriter(), parts.authority).u64(parts.supply).u8(parts.decimals).u8(1);
  const base = optionKey(writer, parts.freezeAuthority).finish(mintBytes);
  if (parts.metadata === null) return base;
  const pointer = new ByteWriter()
    .bytes(parts.metadata.authority ?? new Uint8Array(32))
    .bytes(parts.mint)
    .finish();
  const extensions = new ByteWriter();
  extension(extensions, extensionTypes.metadataPointer, pointer);
  extension(extensions, extensionTypes.tokenMetadata, metadataExtension(parts.mint, parts.metadata));
  return withExtensions(base, typeMint, extensions.finish());
}

interface TokenAccountParts {
  readonly mint: Uint8Array;
  readonly owner: Uint8Array;
  readonly amount: bigint;
  /** Lamports of rent beside the amount, for the native mint's accounts; null for all others. */
  readonly nativeReserve: bigint | null;
  /** As the associated token program makes accounts of Token-2022. */
  readonly immutableOwner: boolean;
}

export function encodeTokenAccount(parts: TokenAccountParts): Uint8Array {
  const writer = new ByteWriter().bytes(parts.mint).bytes(parts.owner).u64(parts.amount);
  optionKey(writer, null).u8(1);
  writer
    .u32(parts.nativeReserve === null ? 0 : 1)
    .u64(parts.nativeReserve ?? 0n)
    .u64(0n);
  const base = optionKey(writer, null).finish(accountBytes);
  if (!parts.immutableOwner) return base;
  const extensions = new ByteWriter();
  extension(extensions, extensionTypes.immutableOwner, new Uint8Array());
  return withExtensions(base, typeAccount, extensions.finish());
}
