import { addressAt, ByteReader, ByteWriter, isZero, orNull } from "../bytes.ts";
import { type Address, addressOfBytes } from "../identifiers.ts";
import { findProgramAddress, type Sha256 } from "../program-address.ts";

/**
 * Name registries of the SPL Name Service (SNS, X1NS) and handle accounts: how their addresses are derived and how they
 * are laid out. A registry lies at an address that follows from its name, its class and its parent's address.
 */

/** Header of a registry: parent, owner, class; what follows is free. */
const nameRegistryHeaderSize = 96;

/** A registry: its header and what follows it. Source: spl-name-service, `NameRecordHeader`. */
export interface NameRegistry {
  /** Null for a root. */
  readonly parent: Address | null;
  /** Null while the registry is uninitialised or after it was deleted. */
  readonly owner: Address | null;
  readonly class: Address | null;
  /** What follows the header. */
  readonly data: Uint8Array;
}

const addressOrNull = (data: Uint8Array, at: number): Address | null =>
  isZero(data, at, at + 32) ? null : addressAt(data, at);

/**
 * Decodes a registry: parent at 0, owner at 32, class at 64, free data from 96 on.
 *
 * @returns null when the data is shorter than the header
 */
export function decodeNameRegistry(data: Uint8Array): NameRegistry | null {
  if (data.length < nameRegistryHeaderSize) return null;
  return {
    parent: addressOrNull(data, 0),
    owner: addressOrNull(data, 32),
    class: addressOrNull(data, 64),
    data: data.subarray(nameRegistryHeaderSize),
  };
}

const utf8 = new TextEncoder();
const noKey = new Uint8Array(32);

/** Where in the tree of names a registry hangs; 32 bytes each, none means zeros. */
export interface NamePosition {
  readonly parent?: Uint8Array;
  readonly class?: Uint8Array;
}

/**
 * The address (32 bytes) of the registry of `name` under `program`: seeds are SHA-256("SPL Name Service" + name), class
 * and parent. The name of a sub-domain begins with `subdomainPrefix`, which the caller writes.
 *
 * @throws {RangeError} when no bump gives an address, and as `findProgramAddress`
 */
export function nameRegistryAddress(
  name: string,
  position: NamePosition,
  program: Uint8Array,
  sha256: Sha256,
): Uint8Array {
  const hash = sha256(utf8.encode(`SPL Name Service${name}`));
  const found = findProgramAddress([hash, position.class ?? noKey, position.parent ?? noKey], program, sha256);
  if (found === null) throw new RangeError("no bump gives an address off the curve");
  return found.bytes;
}

/** What stands before the label of a sub-domain in the hashed name. */
export const subdomainPrefix = "\0";

/**
 * The address (32 bytes) of the registry that holds the text of another registry's name: its name is the base58 text of
 * that registry, in the service's reverse class. For a sub-domain `parent` is the domain above it.
 */
export function reverseRegistryAddress(
  registry: Uint8Array,
  position: { readonly reverseClass: Uint8Array; readonly parent?: Uint8Array },
  program: Uint8Array,
  sha256: Sha256,
): Uint8Array {
  const place = { class: position.reverseClass, ...(position.parent === undefined ? {} : { parent: position.parent }) };
  return nameRegistryAddress(addressOfBytes(registry), place, program, sha256);
}

/**
 * The label in a reverse registry's data (u32 length, then UTF-8), without a sub-domain's prefix; null when malformed.
 */
export function decodeReverseName(registry: NameRegistry): string | null {
  const text = orNull(() => new ByteReader(registry.data).sizedText());
  return text?.startsWith(subdomainPrefix) ? text.slice(subdomainPrefix.length) : text;
}

/** Tag 8, version 1, owner 32, name length 1, name 32. */
export const handleAccountSize = 74;
/** Longest name of a handle, in bytes. */
const handleNameSize = 32;
const handleVersion = 1;

/** A handle and who owns it. */
export interface HandleAccount {
  /** Null in an account that was closed: its owner is zero, or its tag is all ones. */
  readonly owner: Address | null;
  readonly name: string;
}

/**
 * The address (32 bytes) of a handle's account: seeds "handle" and the name padded with zeros to 32 bytes.
 *
 * @throws {RangeError} when the name has more than 32 bytes or no bump gives an address
 */
export function handleAddress(name: string, program: Uint8Array, sha256: Sha256): Uint8Array {
  const found = findProgramAddress([utf8.encode("handle"), paddedHandle(name)], program, sha256);
  if (found === null) throw new RangeError("no bump gives an address off the curve");
  return found.bytes;
}

function paddedHandle(name: string): Uint8Array {
  const text = utf8.encode(name);
  if (text.length > handleNameSize) throw new RangeError(`a handle has at most ${handleNameSize} bytes`);
  const padded = new Uint8Array(handleNameSize);
  padded.set(text);
  return padded;
}

/**
 * Decodes a handle account: tag at 0, version 1 at 8, owner at 9, length of the name at 41, name padded with zeros at
 * 42. The tag is not checked; the name inside ties an account to its handle.
 *
 * @returns null for fewer than 74 bytes, another version, or a name that is empty, not padded or not printable ASCII
 */
export function decodeHandleAccount(data: Uint8Array): HandleAccount | null {
  if (data.length < handleAccountSize) return null;
  const owner = addressOrNull(data, 9);
  const closed = data.subarray(0, 8).every((byte) => byte === 0xff);
  if (owner === null || closed) return { owner: null, name: "" };
  const length = data[41] ?? 0;
  const nameEnd = 42 + length;
  if (data[8] !== handleVersion || length === 0 || length > handleNameSize) return null;
  if (!isZero(data, nameEnd, handleAccountSize)) return null;
  const name = data.subarray(42, nameEnd);
  if (name.some((byte) => byte <= 0x20 || byte >= 0x7f)) return null;
  return { owner, name: String.fromCharCode(...name) };
}

/** The bytes of a handle account, for chains that carry handles from their first slot. */
export function encodeHandleAccount(account: { tag: Uint8Array; owner: Uint8Array; name: string }): Uint8Array {
  const data = new Uint8Array(handleAccountSize);
  data.set(account.tag.subarray(0, 8), 0);
  data[8] = handleVersion;
  data.set(account.owner.subarray(0, 32), 9);
  data[41] = utf8.encode(account.name).length;
  data.set(paddedHandle(account.name), 42);
  return data;
}

/** The bytes of a registry: header, then `data`. */
export function encodeNameRegistry(
  registry: NamePosition & { readonly owner: Uint8Array; readonly data?: Uint8Array },
): Uint8Array {
  const bytes = new Uint8Array(nameRegistryHeaderSize + (registry.data?.length ?? 0));
  bytes.set((registry.parent ?? noKey).subarray(0, 32), 0);
  bytes.set(registry.owner.subarray(0, 32), 32);
  bytes.set((registry.class ?? noKey).subarray(0, 32), 64);
  if (registry.data !== undefined) bytes.set(registry.data, nameRegistryHeaderSize);
  return bytes;
}

/** The data of a reverse registry behind its header. */
export function encodeReverseName(label: string): Uint8Array {
  return new ByteWriter().sizedText(label).finish();
}
