import { addressBytes } from "@sluice/wire/base58";
import { programs, sysvars } from "@sluice/wire/programs";
import { Account, LiteSvm } from "litesvm/dist/internal.js";
import { type AccountBytes, rentExemptEpoch } from "../account.ts";

export const systemProgram = addressBytes(programs.system);
const nativeLoader = addressBytes(programs.nativeLoader);
const loaders = [
  programs.bpfLoaderUpgradeable,
  programs.bpfLoader,
  programs.bpfLoaderDeprecated,
  programs.loaderV4,
].map(addressBytes);
const sysvarKeys = Object.values(sysvars).map(addressBytes);
const keyLength = 32;
const noData = new Uint8Array();

/** Written in place of an account that no longer exists: LiteSVM forgets an account without lamports. */
export const closedAccount = new Account(0n, noData, systemProgram, false, 0n);

/** Creates a machine with what LiteSVM brings, and without the checks that its user makes. */
export function freshMachine(): LiteSvm {
  const native = new LiteSvm();
  native.setSigverify(false);
  native.setBlockhashCheck(false);
  native.setTransactionHistory(0n);
  return native;
}

/** An account of LiteSVM's own kind. The bytes are copied. */
export function nativeAccount({ lamports, owner, data, executable, rentEpoch }: AccountBytes): Account {
  return new Account(lamports, data, owner, executable, rentEpoch ?? rentExemptEpoch);
}

/** The parts of an account of LiteSVM's own kind. Each costs a call of 0.3 to 1.5 µs. */
export function accountBytes(account: Account): AccountBytes {
  return {
    lamports: account.lamports(),
    owner: account.owner(),
    executable: account.executable(),
    data: account.data(),
  };
}

/**
 * Whether two keys are the same. Most differ in their first byte, and a call that finds it costs more than this loop.
 */
export function sameKey(one: Uint8Array, other: Uint8Array): boolean {
  for (let index = 0; index < keyLength; index += 1) if (one[index] !== other[index]) return false;
  return true;
}

/** Whether two accounts are the same but for their lamports. */
export function sameCode(one: Account, other: Account): boolean {
  return (
    one.executable() === other.executable() &&
    sameKey(one.owner(), other.owner()) &&
    Buffer.compare(one.data(), other.data()) === 0
  );
}

/** Whether two accounts are the same; null is one that does not exist. */
export function sameAccount(one: Account | null, other: Account | null): boolean {
  if (one === null || other === null) return one === other;
  return one.lamports() === other.lamports() && sameCode(one, other);
}

/** Whether an account of this owner is code or becomes some. */
export const isLoader = (owner: Uint8Array): boolean => loaders.some((loader) => sameKey(loader, owner));

/** Whether an account of this owner is a program that LiteSVM implements itself. */
export const isNativeLoader = (owner: Uint8Array): boolean => sameKey(owner, nativeLoader);

export const isSysvar = (key: Uint8Array): boolean => sysvarKeys.some((sysvar) => sameKey(sysvar, key));
