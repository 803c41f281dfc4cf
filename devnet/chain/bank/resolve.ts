import { createPublicKey, verify } from "node:crypto";
import { encodeBase58, type Message, programs, type Transaction } from "@sluice/wire";
import { writableKeys } from "../encode/account-keys.ts";
import type { TransactionErrorJson } from "../model.ts";
import { keyBytes } from "../svm/key-bytes.ts";
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

/** Lifetimes whose text is kept; more begin anew. */
const LIFETIMES_MAX = 512;

/** Texts of blockhashes: nearly all transactions carry one of a few, and a text is long to make. */
class LifetimeNames {
  readonly #names = new Map<string, string>();

  name(bytes: Uint8Array): string {
    const key = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
    const known = this.#names.get(key);
    if (known !== undefined) return known;
    if (this.#names.size >= LIFETIMES_MAX) this.#names.clear();
    const name = encodeBase58(bytes);
    this.#names.set(key, name);
    return name;
  }
}

const lifetimes = new LifetimeNames();

export type Resolution =
  | { readonly ok: true; readonly resolved: ResolvedTransaction }
  | { readonly ok: false; readonly error: TransactionErrorJson };

/** Resolves lookups and checks what needs no more than them: the number of locks, and keys that come twice. */
export function resolveTransaction(transaction: Transaction, signature: string, bank: LookupBank): Resolution {
  const { message } = transaction;
  const addresses = loadAddresses(message, bank);
  if (!addresses.ok) return addresses;
  const keys = [...message.staticAddresses, ...addresses.loaded.writable, ...addresses.loaded.readonly];
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
      lifetime: lifetimes.name(message.blockhashBytes),
      keys,
      writable: writableKeys(message, keys),
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

/** A System transfer's number among the program's instructions, and the bytes of one. */
const TRANSFER = 2;
const TRANSFER_BYTES = 12;

/** Whether a message does nothing but System transfers within a compute budget: it changes lamports and nothing else. */
function movesLamportsOnly(message: Message): boolean {
  return message.instructions.every(({ programIndex, data }) => {
    const program = message.address(programIndex);
    if (program === programs.computeBudget) return true;
    if (program !== programs.system || data.length !== TRANSFER_BYTES) return false;
    return data[0] === TRANSFER && data[1] === 0 && data[2] === 0 && data[3] === 0;
  });
}

/** What the virtual machine is told of a transaction. */
export function svmTransaction(
  resolved: ResolvedTransaction,
  nonceAddress: string | null,
  verify: boolean,
): SvmTransaction {
  const { message, keys, writable } = resolved;
  const writableNames: string[] = [];
  const writableBytes: Uint8Array[] = [];
  for (const [index, key] of keys.entries()) {
    if (!writable[index]) continue;
    writableNames.push(key);
    writableBytes.push(index < message.staticKeyCount ? message.keyBytes(index) : keyBytes(key));
  }
  return {
    bytes: resolved.transaction.bytes,
    version: message.version,
    payer: message.feePayer,
    fee: resolved.fees.base + resolved.fees.priority,
    writable: writableNames,
    writableKeys: writableBytes,
    lifetime: message.blockhashBytes,
    nonceAddress,
    verify,
    movesLamportsOnly: nonceAddress === null && movesLamportsOnly(message),
  };
}
