import { programs, sysvars } from "@sluice/wire/programs";
import { Account, LiteSvm } from "litesvm/dist/internal.js";
import { keyOf } from "../accounts/key-name.ts";

export const system = keyOf(programs.system);
const nativeLoader = keyOf(programs.nativeLoader);
const loaders = [
  programs.bpfLoaderUpgradeable,
  programs.bpfLoader,
  programs.bpfLoaderDeprecated,
  programs.loaderV4,
].map(keyOf);
const KEY_BYTES = 32;
const NO_DATA = new Uint8Array();
/** LiteSVM forgets an account without lamports. */
export const gone = new Account(0n, NO_DATA, system, false, 0n);

/** Whether two keys are the same; most differ in their first byte, and a call that finds it costs more than that. */
export function sameKey(one: Uint8Array, other: Uint8Array): boolean {
  for (let index = 0; index < KEY_BYTES; index += 1) if (one[index] !== other[index]) return false;
  return true;
}

const sameBytes = (one: Uint8Array, other: Uint8Array): boolean => Buffer.compare(one, other) === 0;
/** Whether an account belongs to a loader, and so is code or becomes some. */
export const isLoader = (owner: Uint8Array): boolean => loaders.some((loader) => sameKey(loader, owner));

/** Whether an account is a program that LiteSVM itself is. */
export function isBuiltIn(account: Account | null): boolean {
  return account !== null && sameKey(account.owner(), nativeLoader);
}

const rentExemptEpoch = 0xffff_ffff_ffff_ffffn;

/** An account of LiteSVM's with what is asked of it often: each question costs a call. */
export interface WrittenAccount {
  readonly native: Account;
  readonly dataBytes: number;
  readonly executable: boolean;
  /** Whether it is no program and no code: its owner is neither a loader nor the native one. */
  readonly isPlain: boolean;
}

/** An account of its four parts; the bytes are copied. */
export function writtenAccount(
  lamports: bigint,
  owner: Uint8Array,
  data: Uint8Array,
  executable: boolean,
): WrittenAccount {
  const native = new Account(lamports, data, owner, executable, rentExemptEpoch);
  const isPlain = !isLoader(owner) && !sameKey(owner, nativeLoader);
  return { native, dataBytes: data.length, executable, isPlain };
}

/** Whether two accounts are the same but for their lamports. */
export function sameCode(one: Account, other: Account): boolean {
  return (
    one.executable() === other.executable() &&
    sameKey(one.owner(), other.owner()) &&
    sameBytes(one.data(), other.data())
  );
}

const sysvarKeys = Object.values(sysvars).map(keyOf);

export function isSysvar(key: Uint8Array): boolean {
  return sysvarKeys.some((sysvar) => sameKey(sysvar, key));
}

/** A machine with what LiteSVM brings, and without the checks that are made elsewhere. */
export function freshMachine(): LiteSvm {
  const native = new LiteSvm();
  native.setSigverify(false);
  native.setBlockhashCheck(false);
  native.setTransactionHistory(0n);
  return native;
}
