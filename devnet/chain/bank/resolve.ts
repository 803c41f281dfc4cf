import { createPublicKey, verify } from "node:crypto";
import type { Message, Transaction } from "@sluice/wire";
import { accountKeys } from "../encode/account-keys.ts";
import type { TransactionErrorJson } from "../model.ts";
import type { SvmTransaction } from "../svm/svm.ts";
import { messageFees, type TransactionFees } from "./fees.ts";
import { type LoadedAddresses, type LookupBank, loadAddresses } from "./lookup-tables.ts";

/** Most accounts that one transaction may lock. Source: MAX_TX_ACCOUNT_LOCKS with its feature active. */
const ACCOUNT_LOCKS_MAX = 128;

/** A transaction whose every key is known, ready to be checked against a bank and run. */
export interface ResolvedTransaction {
  readonly transaction: Transaction;
  readonly message: Message;
  /** The first signature: the transaction's name. */
  readonly signature: string;
  /** Base58 of the blockhash or nonce. */
  readonly lifetime: string;
  /** Static keys, then loaded writable, then loaded readonly. */
  readonly keys: readonly string[];
  readonly writable: readonly boolean[];
  readonly loaded: LoadedAddresses;
  readonly fees: TransactionFees;
}

export type Resolution =
  | { readonly ok: true; readonly resolved: ResolvedTransaction }
  | { readonly ok: false; readonly error: TransactionErrorJson };

/** Resolves lookups and checks what needs no more than them: the number of locks, and keys that come twice. */
export function resolveTransaction(transaction: Transaction, bank: LookupBank): Resolution {
  const { message } = transaction;
  const addresses = loadAddresses(message, bank);
  if (!addresses.ok) return addresses;
  const keys = [...message.staticAddresses, ...addresses.loaded.writable, ...addresses.loaded.readonly];
  if (keys.length > ACCOUNT_LOCKS_MAX) return { ok: false, error: "TooManyAccountLocks" };
  if (new Set(keys).size !== keys.length) return { ok: false, error: "AccountLoadedTwice" };
  return {
    ok: true,
    resolved: {
      transaction,
      message,
      signature: transaction.id,
      lifetime: message.blockhash,
      keys,
      writable: accountKeys(message, addresses.loaded).map((key) => key.writable),
      loaded: addresses.loaded,
      fees: messageFees(message),
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

/** What the virtual machine is told of a transaction. */
export function svmTransaction(resolved: ResolvedTransaction, nonceAddress: string | null): SvmTransaction {
  return {
    bytes: resolved.transaction.bytes,
    version: resolved.message.version,
    payer: resolved.message.feePayer,
    fee: resolved.fees.base + resolved.fees.priority,
    writable: resolved.keys.filter((_, index) => resolved.writable[index]),
    lifetime: resolved.message.blockhashBytes,
    nonceAddress,
  };
}
