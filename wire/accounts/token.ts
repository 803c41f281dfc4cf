import { addressAt, boolAt, isZero, optionAddressAt, optionU64At, readU64 } from "../bytes.ts";
import type { Address } from "../identifiers.ts";

/**
 * Layouts of the token programs: Token and Token-2022 share the bases; Token-2022 may add a type byte at offset 165 and
 * extensions after it (token-extensions.ts).
 */

/** Bytes of a mint without extensions. */
export const mintSize = 82;

/** Bytes of a token account without extensions. */
export const tokenAccountSize = 165;

/** Bytes of a multisig. No account with extensions has this length. */
export const multisigSize = 355;

/** Where the account type lies, for mints too: their bytes 82..164 are zero then. */
export const accountTypeOffset = 165;

/** Where the extensions begin, behind the account type. */
export const extensionsOffset = 166;
const mintType = 1;
const accountType = 2;

/** A mint. `supply` is in the token's smallest unit. */
export interface Mint {
  readonly mintAuthority: Address | null;
  readonly supply: bigint;
  readonly decimals: number;
  readonly isInitialized: boolean;
  readonly freezeAuthority: Address | null;
}

/** Whether a token account may be used. */
export type TokenAccountState = "uninitialized" | "initialized" | "frozen";
const tokenAccountStates: readonly TokenAccountState[] = ["uninitialized", "initialized", "frozen"];

/** A token account. Amounts are in the token's smallest unit. */
export interface TokenAccount {
  readonly mint: Address;
  readonly owner: Address;
  readonly amount: bigint;
  readonly delegate: Address | null;
  readonly state: TokenAccountState;
  /** The rent reserve in lamports when this is wrapped native currency, else null. */
  readonly nativeReserve: bigint | null;
  readonly delegatedAmount: bigint;
  readonly closeAuthority: Address | null;
}

/** An authority of up to 11 signers, of which `required` must sign. */
export interface Multisig {
  readonly required: number;
  readonly isInitialized: boolean;
  readonly signers: readonly Address[];
}

/** Whether the length and type byte say so; the multisig's length never occurs with extensions. */
function hasKind(data: Uint8Array, baseSize: number, type: number): boolean {
  if (data.length === baseSize) return true;
  if (data.length <= accountTypeOffset || data.length === multisigSize) return false;
  return data[accountTypeOffset] === type && isZero(data, baseSize, accountTypeOffset);
}

/**
 * Decodes a mint of Token or Token-2022: optional authority at 0, supply at 36, decimals at 44, initialised at 45,
 * optional freeze authority at 46. Source: spl-token, `state.rs`.
 *
 * @returns null for another length or account type, or a tag that is neither 0 nor 1
 */
export function decodeMint(data: Uint8Array): Mint | null {
  if (!hasKind(data, mintSize, mintType)) return null;
  const mintAuthority = optionAddressAt(data, 0);
  const freezeAuthority = optionAddressAt(data, 46);
  const isInitialized = boolAt(data, 45);
  if (mintAuthority === undefined || freezeAuthority === undefined || isInitialized === undefined) return null;
  return { mintAuthority, supply: readU64(data, 36), decimals: data[44] ?? 0, isInitialized, freezeAuthority };
}

/**
 * Decodes a token account of Token or Token-2022: mint at 0, owner at 32, amount at 64, optional delegate at 72, state
 * at 108, optional native reserve at 109, delegated amount at 121, optional close authority at 129. Source: spl-token,
 * `state.rs`.
 *
 * @returns null for another length or account type, an unknown state, or a tag that is neither 0 nor 1
 */
export function decodeTokenAccount(data: Uint8Array): TokenAccount | null {
  if (!hasKind(data, tokenAccountSize, accountType)) return null;
  const delegate = optionAddressAt(data, 72);
  const state = tokenAccountStates[data[108] ?? 255];
  const nativeReserve = optionU64At(data, 109);
  const closeAuthority = optionAddressAt(data, 129);
  if (delegate === undefined || state === undefined || nativeReserve === undefined || closeAuthority === undefined) {
    return null;
  }
  return {
    mint: addressAt(data, 0),
    owner: addressAt(data, 32),
    amount: readU64(data, 64),
    delegate,
    state,
    nativeReserve,
    delegatedAmount: readU64(data, 121),
    closeAuthority,
  };
}

/**
 * Whether `length` bytes from `start` on are a token account that is initialised or frozen, of either token program:
 * the filters for the state of token accounts ask no more, so that any owner will do.
 */
export function isTokenAccountAt(bytes: Uint8Array, start: number, length: number): boolean {
  if (length < tokenAccountSize || length === multisigSize) return false;
  if (length > tokenAccountSize && bytes[start + accountTypeOffset] !== accountType) return false;
  return bytes[start + 108] === 1 || bytes[start + 108] === 2;
}

/**
 * Decodes a multisig: required at 0, count at 1, initialised at 2, signers from 3 on. Source: spl-token, `state.rs`.
 *
 * @returns null unless there are exactly 355 bytes, at most 11 signers and no more required than there are
 */
export function decodeMultisig(data: Uint8Array): Multisig | null {
  if (data.length !== multisigSize) return null;
  const required = data[0] ?? 0;
  const count = data[1] ?? 0;
  const isInitialized = boolAt(data, 2);
  if (isInitialized === undefined || count > 11 || required > count) return null;
  return {
    required,
    isInitialized,
    signers: Array.from({ length: count }, (_, index) => addressAt(data, 3 + index * 32)),
  };
}
