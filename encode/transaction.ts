import { encodeBase58 } from "@sluice/wire/base58";
import type { Message, Transaction } from "@sluice/wire/transaction";
import { accountKeyJson, accountKeys, keyNames } from "./account-keys.ts";
import { compiledInstruction, namedInstruction } from "./instruction.ts";
import type { JsonObject, JsonValue } from "./json.ts";
import { accountsMeta, transactionMeta } from "./meta.ts";
import type { ConfirmedTransaction, LoadedAddresses } from "./model.ts";
import { headerJson, outerInstructions, readTransaction, versionMembers } from "./transaction-view.ts";

export type TransactionEncodingName = "binary" | "base58" | "base64" | "json" | "jsonParsed";

export interface TransactionOptions {
  readonly encoding: TransactionEncodingName;
  /** "accounts" lists keys and balances only; `encoding` does not matter then. */
  readonly transactionDetails?: "full" | "accounts" | undefined;
  /** Absent: legacy transactions without `version`, and a fault for any other. */
  readonly maxSupportedTransactionVersion?: number | undefined;
  /** Whether `meta.rewards` is a list. getTransaction shows it, getBlock by its option; true when absent. */
  readonly showRewards?: boolean | undefined;
}

/** `version` in a fault is the one that the caller does not support: the node answers -32015. */
export type EncodedTransaction =
  | {
      readonly ok: true;
      readonly value: {
        readonly transaction: JsonValue;
        readonly meta: JsonObject | null;
        readonly version?: "legacy" | number;
      };
    }
  | { readonly ok: false; readonly version: number };

const noneLoaded: LoadedAddresses = { writable: [], readonly: [] };

function compiledMessage(message: Message): JsonObject {
  return {
    header: headerJson(message),
    accountKeys: message.staticAddresses,
    recentBlockhash: message.blockhash,
    instructions: outerInstructions(message).map(compiledInstruction),
    ...versionMembers(message),
  };
}

function namedMessage(message: Message, loaded: LoadedAddresses): JsonObject {
  const keys = accountKeys(message, loaded);
  const names = keys.map((key) => key.pubkey);
  return {
    accountKeys: keys.map(accountKeyJson),
    recentBlockhash: message.blockhash,
    instructions: outerInstructions(message).map((instruction) => namedInstruction(instruction, names)),
    ...versionMembers(message),
  };
}

function encodeBody(
  { signatures, message }: Transaction,
  { bytes, meta }: Pick<ConfirmedTransaction, "bytes" | "meta">,
  encoding: TransactionEncodingName,
): JsonValue {
  switch (encoding) {
    case "binary":
      return encodeBase58(bytes);
    case "base58":
      return [encodeBase58(bytes), "base58"];
    case "base64":
      return [bytes.toBase64(), "base64"];
    case "json":
      return { signatures, message: compiledMessage(message) };
    case "jsonParsed":
      return { signatures, message: namedMessage(message, meta?.loadedAddresses ?? noneLoaded) };
  }
}

/**
 * Presents a transaction as getTransaction and getBlock do. The members that are present depend on encoding, details
 * and version. Source: Solana JSON-RPC, block and transaction shapes.
 */
export function encodeTransaction(
  { bytes, meta }: Pick<ConfirmedTransaction, "bytes" | "meta">,
  options: TransactionOptions,
): EncodedTransaction {
  const parsed = readTransaction(bytes);
  const { message, signatures } = parsed;
  const maximum = options.maxSupportedTransactionVersion;
  if (message.version !== "legacy" && (maximum === undefined || message.version > maximum)) {
    return { ok: false, version: message.version };
  }
  const loaded = meta?.loadedAddresses ?? noneLoaded;
  const showRewards = options.showRewards ?? true;
  const version = maximum === undefined ? {} : { version: message.version };
  if (options.transactionDetails === "accounts") {
    const keys = accountKeys(message, loaded).map(accountKeyJson);
    const transaction = { signatures, accountKeys: keys };
    const short = meta === null ? null : accountsMeta(meta, showRewards);
    return { ok: true, value: { transaction, meta: short, ...version } };
  }
  const transaction = encodeBody(parsed, { bytes, meta }, options.encoding);
  const names = options.encoding === "jsonParsed" ? keyNames(message, loaded) : null;
  const whole = meta === null ? null : transactionMeta(meta, names, showRewards);
  return { ok: true, value: { transaction, meta: whole, ...version } };
}
