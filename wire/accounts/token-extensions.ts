import { addressAt, ByteReader, nonZeroAddressAt, orNull, readI64, readU16, readU64 } from "../bytes.ts";
import type { Address } from "../identifiers.ts";
import { accountTypeOffset, extensionsOffset, mintSize, multisigSize, tokenAccountSize } from "./token.ts";

/** Token-2022's extension types by their u16; null is a type without a fixed length. */
const extensionTypes = [
  ["uninitialized", 0],
  ["transferFeeConfig", 108],
  ["transferFeeAmount", 8],
  ["mintCloseAuthority", 32],
  ["confidentialTransferMint", 65],
  ["confidentialTransferAccount", 295],
  ["defaultAccountState", 1],
  ["immutableOwner", 0],
  ["memoTransfer", 1],
  ["nonTransferable", 0],
  ["interestBearingConfig", 52],
  ["cpiGuard", 1],
  ["permanentDelegate", 32],
  ["nonTransferableAccount", 0],
  ["transferHook", 64],
  ["transferHookAccount", 1],
  ["confidentialTransferFeeConfig", 129],
  ["confidentialTransferFeeAmount", 64],
  ["metadataPointer", 64],
  ["tokenMetadata", null],
  ["groupPointer", 64],
  ["tokenGroup", 80],
  ["groupMemberPointer", 64],
  ["tokenGroupMember", 72],
  ["confidentialMintBurn", 196],
  ["scaledUiAmountConfig", 56],
  ["pausableConfig", 33],
  ["pausableAccount", 0],
  ["permissionedBurn", 32],
] as const;

/** The name of an extension type; `unknown` for a number that is not in the table. */
export type TokenExtensionName = (typeof extensionTypes)[number][0] | "unknown";

/** One entry of the list; `value` is a view of the account's bytes. */
export interface TokenExtension {
  readonly type: number;
  readonly name: TokenExtensionName;
  readonly value: Uint8Array;
}

/**
 * Decodes the extensions of a Token-2022 mint or account: from offset 166 on, entries of a u16 type, a u16 length and
 * the value. The list ends at type 0 or when fewer than four bytes are left. Source: spl-token-2022, `extension`.
 *
 * @returns the entries in their order, none for a base without extensions; null for data that is no such account, an
 * entry that ends beyond the data, or a known type with another length
 */
export function decodeTokenExtensions(data: Uint8Array): readonly TokenExtension[] | null {
  if (data.length === mintSize || data.length === tokenAccountSize) return [];
  const kind = data[accountTypeOffset];
  if (data.length === multisigSize || (kind !== 1 && kind !== 2)) return null;
  const extensions: TokenExtension[] = [];
  let at = extensionsOffset;
  while (data.length - at >= 4) {
    const type = readU16(data, at);
    if (type === 0) break;
    const length = readU16(data, at + 2);
    at += 4;
    if (length > data.length - at) return null;
    const [name, expected] = extensionTypes[type] ?? ["unknown", null];
    if (expected !== null && expected !== length) return null;
    extensions.push({ type, name, value: data.subarray(at, at + length) });
    at += length;
  }
  return extensions;
}

/** One rate of the transfer fee extension. */
export interface TransferFee {
  readonly epoch: bigint;
  readonly maximumFee: bigint;
  readonly basisPoints: number;
}

/** The extension `transferFeeConfig` of a mint. Amounts are in the token's smallest unit. */
export interface TransferFeeConfig {
  readonly configAuthority: Address | null;
  readonly withdrawWithheldAuthority: Address | null;
  readonly withheldAmount: bigint;
  readonly older: TransferFee;
  readonly newer: TransferFee;
}

function transferFeeAt(value: Uint8Array, offset: number): TransferFee {
  return {
    epoch: readU64(value, offset),
    maximumFee: readU64(value, offset + 8),
    basisPoints: readU16(value, offset + 16),
  };
}

/**
 * Decodes the value of `transferFeeConfig`: config authority at 0, withdraw authority at 32, withheld amount at 64,
 * older rate at 72, newer rate at 90; 108 bytes.
 *
 * @returns null when the value has another length
 */
export function decodeTransferFeeConfig(value: Uint8Array): TransferFeeConfig | null {
  if (value.length !== 108) return null;
  return {
    configAuthority: nonZeroAddressAt(value, 0),
    withdrawWithheldAuthority: nonZeroAddressAt(value, 32),
    withheldAmount: readU64(value, 64),
    older: transferFeeAt(value, 72),
    newer: transferFeeAt(value, 90),
  };
}

/** The fee in the token's smallest unit that a transfer of `amount` pays in `epoch`; rounded up, then capped. */
export function transferFeeFor(config: TransferFeeConfig, epoch: bigint, amount: bigint): bigint {
  const { basisPoints, maximumFee } = epoch >= config.newer.epoch ? config.newer : config.older;
  const fee = (amount * BigInt(basisPoints) + 9_999n) / 10_000n;
  return fee < maximumFee ? fee : maximumFee;
}

/** The extension `interestBearingConfig` of a mint. */
export interface InterestBearingConfig {
  readonly rateAuthority: Address | null;
  /** Unix seconds. */
  readonly initializedAt: bigint;
  readonly preUpdateAverageRate: number;
  /** Unix seconds. */
  readonly lastUpdatedAt: bigint;
  /** Basis points a year, compounded continuously; may be negative. */
  readonly currentRate: number;
}

/**
 * Decodes the value of `interestBearingConfig`: rate authority at 0, initialisation time at 32, average rate at 40,
 * last update at 42, current rate at 50; 52 bytes.
 *
 * @returns null when the value has another length
 */
export function decodeInterestBearingConfig(value: Uint8Array): InterestBearingConfig | null {
  if (value.length !== 52) return null;
  const i16At = (offset: number): number => (readU16(value, offset) << 16) >> 16;
  return {
    rateAuthority: nonZeroAddressAt(value, 0),
    initializedAt: readI64(value, 32),
    preUpdateAverageRate: i16At(40),
    lastUpdatedAt: readI64(value, 42),
    currentRate: i16At(50),
  };
}

/** Two optional addresses: who may change the pointer, and where it points. */
export interface AddressPointer {
  readonly authority: Address | null;
  readonly address: Address | null;
}

/**
 * Decodes the value of `metadataPointer`, and of `groupPointer`, `groupMemberPointer` and `transferHook`, whose address
 * is the hook's program: authority at 0, address at 32; 64 bytes.
 *
 * @returns null when the value has another length
 */
export function decodeMetadataPointer(value: Uint8Array): AddressPointer | null {
  if (value.length !== 64) return null;
  return { authority: nonZeroAddressAt(value, 0), address: nonZeroAddressAt(value, 32) };
}

/** The extension `tokenMetadata` of a mint. Source: spl-token-metadata-interface. */
export interface TokenMetadata {
  readonly updateAuthority: Address | null;
  readonly mint: Address;
  readonly name: string;
  readonly symbol: string;
  readonly uri: string;
  readonly additional: readonly (readonly [key: string, value: string])[];
}

/**
 * Decodes the metadata that a mint carries itself: update authority at 0, mint at 32, then Borsh strings for name,
 * symbol and URI, then a list of pairs. It counts only when the mint's metadataPointer names the mint.
 *
 * @returns null when a string or the list ends beyond the value, or a string is not UTF-8
 */
export function decodeTokenMetadata(value: Uint8Array): TokenMetadata | null {
  if (value.length < 64) return null;
  return orNull(() => {
    const reader = new ByteReader(value, 64);
    return {
      updateAuthority: nonZeroAddressAt(value, 0),
      mint: addressAt(value, 32),
      name: reader.sizedText(),
      symbol: reader.sizedText(),
      uri: reader.sizedText(),
      // Each pair takes at least its two lengths.
      additional: reader.list(reader.u32(), 8, () => [reader.sizedText(), reader.sizedText()] as const),
    };
  });
}
