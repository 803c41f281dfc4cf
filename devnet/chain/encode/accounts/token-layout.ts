import { ByteCursor, Unparsable } from "../byte-cursor.ts";

const MINT_LENGTH = 82;
const ACCOUNT_LENGTH = 165;
const MULTISIG_LENGTH = 355;
const EXTENSIONS_START = 166;
/** The greatest extension number that has a name. */
const EXTENSION_TYPE_MAX = 28;

export const ACCOUNT_STATES = ["uninitialized", "initialized", "frozen"] as const;

/** One entry of a Token-2022 account's extension list. */
export interface TokenExtension {
  readonly type: number;
  readonly value: Uint8Array;
}

export interface MintLayout {
  readonly mintAuthority: string | null;
  readonly supply: bigint;
  readonly decimals: number;
  readonly freezeAuthority: string | null;
  readonly extensions: readonly TokenExtension[];
}

export interface TokenAccountLayout {
  readonly mint: string;
  readonly owner: string;
  readonly amount: bigint;
  readonly delegate: string | null;
  readonly state: (typeof ACCOUNT_STATES)[number];
  /** The rent that a native account keeps back, in lamports; null when the account is not native. */
  readonly nativeReserve: bigint | null;
  readonly delegatedAmount: bigint;
  readonly closeAuthority: string | null;
  readonly extensions: readonly TokenExtension[];
}

/** Account type bytes, which stand at 165 wherever extensions may follow. */
type Base = "mint" | "account";
const BASE_TYPE: Record<Base, number> = { mint: 1, account: 2 };

/**
 * Refuses lengths and padding that the base does not allow, and lists the extensions. A list that is cut short counts as
 * empty, as does one with an unknown type.
 */
function extensionsOf(data: Uint8Array, base: Base): TokenExtension[] {
  const baseLength = base === "mint" ? MINT_LENGTH : ACCOUNT_LENGTH;
  if (data.length === baseLength) return [];
  const fits = data.length >= EXTENSIONS_START && data.length !== MULTISIG_LENGTH;
  if (!fits || data[ACCOUNT_LENGTH] !== BASE_TYPE[base]) throw new Unparsable("The length or type does not fit.");
  if (base === "mint" && data.subarray(MINT_LENGTH, ACCOUNT_LENGTH).some((byte) => byte !== 0)) {
    throw new Unparsable("The padding of a mint is not zero.");
  }
  const cursor = new ByteCursor(data, EXTENSIONS_START);
  const extensions: TokenExtension[] = [];
  while (cursor.remaining >= 2) {
    const type = cursor.u16();
    if (type === 0) break;
    if (type > EXTENSION_TYPE_MAX || cursor.remaining < 2) return [];
    const length = cursor.u16();
    if (length > cursor.remaining) return [];
    extensions.push({ type, value: cursor.bytes(length) });
  }
  return extensions;
}

/** Reads an initialised mint of either token program; throws `Unparsable` on any other data. */
export function readMint(data: Uint8Array): MintLayout {
  const cursor = new ByteCursor(data);
  const mintAuthority = cursor.fixedOptionalAddress();
  const supply = cursor.u64();
  const decimals = cursor.u8();
  if (!cursor.flag()) throw new Unparsable("The mint is not initialised.");
  const freezeAuthority = cursor.fixedOptionalAddress();
  const extensions = extensionsOf(data, "mint");
  return { mintAuthority, supply, decimals, freezeAuthority, extensions };
}

/** Reads an initialised or frozen token account of either token program; throws `Unparsable` on any other data. */
export function readTokenAccount(data: Uint8Array): TokenAccountLayout {
  const cursor = new ByteCursor(data);
  const mint = cursor.address();
  const owner = cursor.address();
  const amount = cursor.u64();
  const delegate = cursor.fixedOptionalAddress();
  const state = ACCOUNT_STATES[cursor.u8()];
  if (state === undefined || state === "uninitialized") throw new Unparsable("The account is not initialised.");
  const native = cursor.u32();
  if (native > 1) throw new Unparsable("An option's tag is neither 0 nor 1.");
  const reserve = cursor.u64();
  const delegatedAmount = cursor.u64();
  const closeAuthority = cursor.fixedOptionalAddress();
  const extensions = extensionsOf(data, "account");
  const nativeReserve = native === 1 ? reserve : null;
  return { mint, owner, amount, delegate, state, nativeReserve, delegatedAmount, closeAuthority, extensions };
}

export interface MultisigLayout {
  readonly required: number;
  readonly valid: number;
  readonly signers: readonly string[];
}

/** Reads an initialised multisig; empty places among the signers are left out. */
export function readMultisig(data: Uint8Array): MultisigLayout {
  if (data.length !== MULTISIG_LENGTH) throw new Unparsable("The length is not a multisig's.");
  const cursor = new ByteCursor(data);
  const required = cursor.u8();
  const valid = cursor.u8();
  if (!cursor.flag()) throw new Unparsable("The multisig is not initialised.");
  const places = cursor.list(11, 32, () => cursor.addressOrZeros());
  return { required, valid, signers: places.filter((signer) => signer !== null) };
}
