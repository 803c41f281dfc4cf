import { programs, sysvars } from "@sluice/wire";
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
const NO_DATA = new Uint8Array();
/** LiteSVM forgets an account without lamports. */
export const gone = new Account(0n, NO_DATA, system, false, 0n);

export const sameBytes = (one: Uint8Array, other: Uint8Array): boolean => Buffer.compare(one, other) === 0;
/** Whether an account belongs to a loader, and so is code or becomes some. */
export const isLoader = (owner: Uint8Array): boolean => loaders.some((loader) => sameBytes(loader, owner));

/** Whether an account is a program that LiteSVM itself is. */
export function isBuiltIn(account: Account | null): boolean {
  return account !== null && sameBytes(account.owner(), nativeLoader);
}

/** Whether two accounts are the same but for their lamports. */
export function sameCode(one: Account, other: Account): boolean {
  return (
    one.executable() === other.executable() &&
    sameBytes(one.owner(), other.owner()) &&
    sameBytes(one.data(), other.data())
  );
}

const sysvarKeys = Object.values(sysvars).map(keyOf);

export function isSysvar(key: Uint8Array): boolean {
  return sysvarKeys.some((sysvar) => sameBytes(sysvar, key));
}

/** A machine with what LiteSVM brings, and without the checks that are made elsewhere. */
export function freshMachine(): LiteSvm {
  const native = new LiteSvm();
  native.setSigverify(false);
  native.setBlockhashCheck(false);
  native.setTransactionHistory(0n);
  return native;
}
