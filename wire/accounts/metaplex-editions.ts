import { decodeAddress } from "../base58.ts";
import { addressAt, ByteReader, orNull, readU64 } from "../bytes.ts";
import { type Address, addressOfBytes } from "../identifiers.ts";
import { findProgramAddress, type Sha256 } from "../program-address.ts";
import { tokenMetadataProgram } from "./metaplex.ts";

/**
 * What Token Metadata keeps beside metadata: editions, and the records of accounts that hold programmable NFTs. Source:
 * mpl-token-metadata, program/src/state.
 */

const utf8 = new TextEncoder();
const [metadataSeed, editionSeed, recordSeed] = [
  utf8.encode("metadata"),
  utf8.encode("edition"),
  utf8.encode("token_record"),
];

/** The first bytes of the accounts here. */
const keys = { edition: 1, masterEditionV1: 2, masterEditionV2: 6, tokenRecord: 11 } as const;

/** The original of which prints are made. */
export interface MasterEdition {
  readonly kind: "master";
  /** Prints so far. */
  readonly supply: bigint;
  /** Prints that there may be; null is without bound. */
  readonly maxSupply: bigint | null;
}

/** A print. */
export interface PrintEdition {
  readonly kind: "print";
  /** The master edition's account. */
  readonly parent: Address;
  readonly number: bigint;
}

/** What a token account that holds a programmable NFT may do. */
export interface TokenRecord {
  readonly state: "unlocked" | "locked" | "listed";
  readonly delegate: Address | null;
}

const recordStates = ["unlocked", "locked", "listed"] as const;

/** Where the edition of a mint lies, a master's or a print's; null for a mint that is no address. */
export function editionAddress(mint: string, sha256: Sha256): Address | null {
  return derived([mint], sha256, (program, [mintBytes]) => [metadataSeed, program, mintBytes, editionSeed]);
}

/** Where the record of a token account of a programmable NFT lies; null for what is no address. */
export function tokenRecordAddress(mint: string, tokenAccount: string, sha256: Sha256): Address | null {
  return derived([mint, tokenAccount], sha256, (program, [mintBytes, accountBytes]) => [
    metadataSeed,
    program,
    mintBytes,
    recordSeed,
    accountBytes ?? mintBytes,
  ]);
}

function derived(
  addresses: readonly [string, ...string[]],
  sha256: Sha256,
  seeds: (program: Uint8Array, bytes: readonly [Uint8Array, ...Uint8Array[]]) => readonly Uint8Array[],
): Address | null {
  const program = decodeAddress(tokenMetadataProgram);
  const [first, ...others] = addresses.map(decodeAddress);
  if (program === null || first === null || first === undefined) return null;
  const rest = others.filter((bytes) => bytes !== null);
  if (rest.length < others.length) return null;
  const found = findProgramAddress(seeds(program, [first, ...rest]), program, sha256);
  return found === null ? null : addressOfBytes(found.bytes);
}

/**
 * Decodes a master edition (key 2 or 6: supply at 1, optional largest supply at 9) or a print (key 1: its master at 1,
 * its number at 33).
 *
 * @returns null when it is neither
 */
export function decodeEdition(data: Uint8Array): MasterEdition | PrintEdition | null {
  if (data[0] === keys.edition) {
    return data.length < 41 ? null : { kind: "print", parent: addressAt(data, 1), number: readU64(data, 33) };
  }
  if (data[0] !== keys.masterEditionV1 && data[0] !== keys.masterEditionV2) return null;
  return orNull(() => {
    const reader = new ByteReader(data, 1);
    return { kind: "master", supply: reader.u64(), maxSupply: reader.optional(() => reader.u64()) };
  });
}

/**
 * Decodes the record of a token account: bump at 1, state at 2, then Borsh options of a revision, a delegate and more.
 *
 * @returns null when it is none
 */
export function decodeTokenRecord(data: Uint8Array): TokenRecord | null {
  if (data[0] !== keys.tokenRecord) return null;
  return orNull(() => {
    const reader = new ByteReader(data, 2);
    const state = recordStates[reader.u8()];
    reader.optional(() => reader.u64());
    const delegate = reader.optional(() => reader.address());
    return state === undefined ? null : { state, delegate };
  });
}
