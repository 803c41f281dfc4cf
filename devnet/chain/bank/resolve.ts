import { createPublicKey, verify } from "node:crypto";
import { writableKeys } from "@sluice/encode";
import type { SvmTransaction } from "@sluice/svm/bank";
import { addressBytes, encodeBase58 } from "@sluice/wire/base58";
import { programs } from "@sluice/wire/programs";
import type { Message, Transaction } from "@sluice/wire/transaction";
import type { ChainAccount, TransactionErrorJson } from "../model/index.ts";
import { messageFees, type TransactionFees } from "./costs.ts";

/** Names that are kept; more begin anew. */
const namesMax = 65_536;
const keyLength = 32;

/**
 * Texts of addresses and blockhashes by their bytes. Most transactions name the same few: finding a text takes a sixth
 * of the time of making one (0.09 against 0.5 µs).
 */
class AddressNames {
  readonly #names = new Map<string, string>();

  /** The text of the 32 bytes at a place. */
  at(bytes: Buffer, start: number): string {
    const key = bytes.toString("latin1", start, start + keyLength);
    const known = this.#names.get(key);
    if (known !== undefined) return known;
    if (this.#names.size >= namesMax) this.#names.clear();
    const name = encodeBase58(bytes.subarray(start, start + keyLength));
    this.#names.set(key, name);
    return name;
  }
}

interface LoadedAddresses {
  readonly writable: readonly string[];
  readonly readonly: readonly string[];
}

/** The part of the bank that address resolution needs. */
export interface LookupBank {
  readonly slot: bigint;
  read(address: string): ChainAccount | null;
  /** Whether a slot is among the last 512 that the SlotHashes sysvar names: a table deactivated then still works. */
  isRecentSlot(slot: bigint): boolean;
}

type Resolved =
  | { readonly ok: true; readonly loaded: LoadedAddresses }
  | { readonly ok: false; readonly error: TransactionErrorJson };

const headerBytes = 56;
const tableDiscriminator = 1;
const never = 0xffff_ffff_ffff_ffffn;

function refuse(error: string): Resolved {
  return { ok: false, error };
}

/** How many of a table's addresses can be used in this slot; null when the table is no longer active. */
function usableLength(data: Uint8Array, bank: LookupBank): number | null {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  const deactivatedAt = view.getBigUint64(4, true);
  if (deactivatedAt !== never && deactivatedAt !== bank.slot && !bank.isRecentSlot(deactivatedAt)) return null;
  const extendedAt = view.getBigUint64(12, true);
  return bank.slot > extendedAt ? (data.length - headerBytes) / 32 : (data[20] ?? 0);
}

/**
 * Resolves the address table lookups of a v0 message. Addresses that a table gained in this very slot are not usable
 * yet. Source: the address lookup table program's state, get_active_addresses_len.
 */
function loadAddresses(message: Message, bank: LookupBank): Resolved {
  const writable: string[] = [];
  const readonly: string[] = [];
  for (const lookup of message.lookups) {
    const table = bank.read(lookup.table);
    if (table === null) return refuse("AddressLookupTableNotFound");
    if (table.owner !== programs.addressLookupTable) return refuse("InvalidAddressLookupTableOwner");
    const { data } = table;
    if (data.length < headerBytes || data[0] !== tableDiscriminator || (data.length - headerBytes) % 32 !== 0) {
      return refuse("InvalidAddressLookupTableData");
    }
    const length = usableLength(data, bank);
    if (length === null) return refuse("AddressLookupTableNotFound");
    for (const [indexes, into] of [
      [lookup.writableIndexes, writable],
      [lookup.readonlyIndexes, readonly],
    ] as const) {
      for (const index of indexes) {
        if (index >= length) return refuse("InvalidAddressLookupTableIndex");
        const at = headerBytes + index * 32;
        into.push(encodeBase58(data.subarray(at, at + 32)));
      }
    }
  }
  return { ok: true, loaded: { writable, readonly } };
}

const advanceNonce = 4;
const nonceBytes = 80;
const stateInitialized = 1;

function sameBytes(left: Uint8Array, right: Uint8Array): boolean {
  return Buffer.compare(left, right) === 0;
}

/** Whether a message begins as a durable transaction does, so that it may carry a nonce in place of a blockhash. */
export function advancesNonce(message: Message): boolean {
  const first = message.instructions[0];
  if (first === undefined || first.programIndex >= message.staticKeyCount) return false;
  const { data } = first;
  if (data.length < 4 || new DataView(data.buffer, data.byteOffset).getUint32(0, true) !== advanceNonce) return false;
  return message.address(first.programIndex) === programs.system;
}

/**
 * The nonce account whose value the transaction carries in place of a blockhash, or null when it is no durable
 * transaction that could run now: its first instruction advances a writable nonce account that holds the carried value,
 * signed by the account's authority, and the nonce was not advanced by this very bank.
 */
export function durableNonceAccount(
  message: Message,
  keys: readonly string[],
  isWritable: (index: number) => boolean,
  read: (address: string) => ChainAccount | null,
  nextNonce: Uint8Array,
): string | null {
  const first = message.instructions[0];
  if (first === undefined || !advancesNonce(message)) return null;
  const index = first.accountIndexes[0];
  if (index === undefined || !isWritable(index) || sameBytes(message.blockhashBytes, nextNonce)) return null;
  const address = keys[index];
  const account = address === undefined ? null : read(address);
  if (address === undefined || account === null || account.owner !== programs.system) return null;
  const state = account.data;
  if (state.length !== nonceBytes || state[0] !== 1 || state[4] !== stateInitialized) return null;
  if (!sameBytes(state.subarray(40, 72), message.blockhashBytes)) return null;
  const authority = encodeBase58(state.subarray(8, 40));
  const signed = first.accountIndexes.some((account) => message.isSigner(account) && keys[account] === authority);
  return signed ? address : null;
}

/** Most accounts that one transaction may lock. Source: MAX_TX_ACCOUNT_LOCKS with its feature active. */
const accountLocksMax = 128;

/** A transaction whose every key is known, ready to be checked against a bank and run. */
export interface ResolvedTransaction {
  readonly transaction: Transaction;
  readonly message: Message;
  /** The first signature: the transaction's name. */
  readonly signature: string;
  /** Base58 of the blockhash or nonce, and where it stands in the transaction's bytes. */
  readonly lifetime: string;
  readonly lifetimeStart: number;
  /** Where the static keys stand. */
  readonly keysStart: number;
  /** Static keys, then loaded writable, then loaded readonly. */
  readonly keys: readonly string[];
  readonly writable: readonly boolean[];
  readonly loaded: LoadedAddresses;
  readonly fees: TransactionFees;
}

export type Resolution =
  | { readonly ok: true; readonly resolved: ResolvedTransaction }
  | { readonly ok: false; readonly error: TransactionErrorJson };

const names = new AddressNames();

/** Resolves lookups and checks what needs no more than them: the number of locks, and keys that come twice. */
export function resolveTransaction(transaction: Transaction, signature: string, bank: LookupBank): Resolution {
  const { message, bytes } = transaction;
  const addresses = loadAddresses(message, bank);
  if (!addresses.ok) return addresses;
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const keysStart = message.keyBytes(0).byteOffset - bytes.byteOffset;
  const lifetimeStart = message.blockhashBytes.byteOffset - bytes.byteOffset;
  const keys: string[] = [];
  for (let index = 0; index < message.staticKeyCount; index += 1) {
    keys.push(names.at(buffer, keysStart + index * keyLength));
  }
  keys.push(...addresses.loaded.writable, ...addresses.loaded.readonly);
  if (keys.length > accountLocksMax) return { ok: false, error: "TooManyAccountLocks" };
  // The parser has refused static keys that come twice.
  const loads = keys.length > message.staticKeyCount;
  if (loads && new Set(keys).size !== keys.length) return { ok: false, error: "AccountLoadedTwice" };
  return {
    ok: true,
    resolved: {
      transaction,
      message,
      signature,
      keysStart,
      lifetimeStart,
      lifetime: names.at(buffer, lifetimeStart),
      keys,
      writable: writableKeys(message, keys),
      loaded: addresses.loaded,
      fees: messageFees(message, keys),
    },
  };
}

/** DER of an Ed25519 public key up to the 32 bytes of the key itself. Source: RFC 8410. */
const spkiPrefix = Buffer.from("302a300506032b6570032100", "hex");

/** Whether every signature of the message is its signer's. About 55 µs for each on one core of the build machine. */
export function signaturesValid(transaction: Transaction): boolean {
  const { message } = transaction;
  for (let index = 0; index < transaction.signatureCount; index += 1) {
    try {
      const der = Buffer.concat([spkiPrefix, message.keyBytes(index)]);
      const key = createPublicKey({ key: der, format: "der", type: "spki" });
      if (!verify(null, message.bytes, key, transaction.signatureBytes(index))) return false;
    } catch {
      // A key that is no point of the curve signs nothing.
      return false;
    }
  }
  return true;
}

/** A System transfer's number among the program's instructions, and the bytes of one. */
const transfer = 2;
const transferBytes = 12;

/** Whether a transaction does nothing but System transfers within a compute budget: only lamports can change. */
function movesLamportsOnly({ message, keys }: ResolvedTransaction): boolean {
  for (const { programIndex, data } of message.instructions) {
    const program = keys[programIndex];
    if (program === programs.computeBudget) continue;
    if (program !== programs.system || data.length !== transferBytes) return false;
    if (data[0] !== transfer || data[1] !== 0 || data[2] !== 0 || data[3] !== 0) return false;
  }
  return true;
}

/** The form of a transaction for the virtual machine. */
export function svmTransaction(
  resolved: ResolvedTransaction,
  nonceAddress: string | null,
  verify: boolean,
): SvmTransaction {
  const { message, keys, keysStart, lifetimeStart } = resolved;
  const writable: string[] = [];
  const writablePositions: number[] = [];
  const loadedWritable: Uint8Array[] = [];
  for (let index = 0; index < keys.length; index += 1) {
    const key = keys[index];
    if (key === undefined || !resolved.writable[index]) continue;
    writable.push(key);
    if (index < message.staticKeyCount) writablePositions.push(index);
    else loadedWritable.push(addressBytes(key));
  }
  return {
    bytes: resolved.transaction.bytes,
    version: message.version,
    payer: keys[0] ?? message.feePayer,
    fee: resolved.fees.base + resolved.fees.priority,
    writable,
    keysStart,
    writablePositions,
    loadedWritable,
    lifetimeStart,
    nonceAddress,
    verify,
    movesLamportsOnly: nonceAddress === null && movesLamportsOnly(resolved),
  };
}
