import { createPublicKey, verify } from "node:crypto";
import { keyBytes } from "@sluice/svm";
import type { SvmTransaction } from "@sluice/svm/bank";
import { programs } from "@sluice/wire/programs";
import type { Message, Transaction } from "@sluice/wire/transaction";
import { writableKeys } from "../encode/index.ts";
import type { TransactionErrorJson } from "../model/index.ts";
import { AddressNames } from "./address-names.ts";
import { messageFees, type TransactionFees } from "./fees.ts";
import { type LoadedAddresses, type LookupBank, loadAddresses } from "./lookup-tables.ts";

/** Most accounts that one transaction may lock. Source: MAX_TX_ACCOUNT_LOCKS with its feature active. */
const ACCOUNT_LOCKS_MAX = 128;
const KEY_BYTES = 32;

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
    keys.push(names.at(buffer, keysStart + index * KEY_BYTES));
  }
  keys.push(...addresses.loaded.writable, ...addresses.loaded.readonly);
  if (keys.length > ACCOUNT_LOCKS_MAX) return { ok: false, error: "TooManyAccountLocks" };
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
const SPKI_PREFIX = Buffer.from("302a300506032b6570032100", "hex");

/** Whether every signature of the message is its signer's. About 55 µs for each on one core of the build machine. */
export function signaturesValid(transaction: Transaction): boolean {
  const { message } = transaction;
  for (let index = 0; index < transaction.signatureCount; index += 1) {
    try {
      const der = Buffer.concat([SPKI_PREFIX, message.keyBytes(index)]);
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
const TRANSFER = 2;
const TRANSFER_BYTES = 12;

/** Whether a transaction does nothing but System transfers within a compute budget: only lamports can change. */
function movesLamportsOnly({ message, keys }: ResolvedTransaction): boolean {
  for (const { programIndex, data } of message.instructions) {
    const program = keys[programIndex];
    if (program === programs.computeBudget) continue;
    if (program !== programs.system || data.length !== TRANSFER_BYTES) return false;
    if (data[0] !== TRANSFER || data[1] !== 0 || data[2] !== 0 || data[3] !== 0) return false;
  }
  return true;
}

/** What the virtual machine is told of a transaction. */
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
    else loadedWritable.push(keyBytes(key));
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
