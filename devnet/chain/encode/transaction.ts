import type { ExecutedTransaction } from "../model.ts";
import { accountKeyJson, accountKeys } from "./account-keys.ts";
import { encodeBase58 } from "./base58.ts";
import { compiledInstruction, namedInstruction } from "./instruction.ts";
import type { JsonObject, JsonValue } from "./json.ts";
import { accountsMeta, transactionMeta } from "./meta.ts";
import { type TransactionView, viewTransaction } from "./transaction-view.ts";

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
        readonly meta: JsonObject;
        readonly version?: "legacy" | number;
      };
    }
  | { readonly ok: false; readonly version: number };

function lookupsJson(view: TransactionView): JsonValue {
  return view.lookups.map(({ accountKey, writableIndexes, readonlyIndexes }) => ({
    accountKey,
    writableIndexes,
    readonlyIndexes,
  }));
}

function compiledMessage(view: TransactionView): JsonObject {
  return {
    header: { ...view.header },
    accountKeys: view.staticKeys,
    recentBlockhash: view.recentBlockhash,
    instructions: view.instructions.map((instruction) => compiledInstruction({ ...instruction, stackHeight: 1 })),
    ...(view.version !== "legacy" && { addressTableLookups: lookupsJson(view) }),
  };
}

function namedMessage(view: TransactionView, executed: ExecutedTransaction): JsonObject {
  const keys = accountKeys(view, executed.loadedAddresses);
  const names = keys.map((key) => key.pubkey);
  return {
    accountKeys: keys.map(accountKeyJson),
    recentBlockhash: view.recentBlockhash,
    instructions: view.instructions.map((instruction) => namedInstruction({ ...instruction, stackHeight: 1 }, names)),
    ...(view.version !== "legacy" && { addressTableLookups: lookupsJson(view) }),
  };
}

function allKeys(view: TransactionView, executed: ExecutedTransaction): string[] {
  return [...view.staticKeys, ...executed.loadedAddresses.writable, ...executed.loadedAddresses.readonly];
}

function encodeBody(
  view: TransactionView,
  executed: ExecutedTransaction,
  encoding: TransactionEncodingName,
): JsonValue {
  switch (encoding) {
    case "binary":
      return encodeBase58(executed.bytes);
    case "base58":
      return [encodeBase58(executed.bytes), "base58"];
    case "base64":
      return [Buffer.from(executed.bytes).toString("base64"), "base64"];
    case "json":
      return { signatures: view.signatures, message: compiledMessage(view) };
    case "jsonParsed":
      return { signatures: view.signatures, message: namedMessage(view, executed) };
  }
}

/**
 * Presents an executed transaction as getTransaction and getBlock do. The members that are present depend on encoding,
 * details and version. Source: Solana JSON-RPC, block and transaction shapes.
 */
export function encodeTransaction(executed: ExecutedTransaction, options: TransactionOptions): EncodedTransaction {
  const view = viewTransaction(executed.bytes);
  const maximum = options.maxSupportedTransactionVersion;
  if (view.version !== "legacy" && (maximum === undefined || view.version > maximum)) {
    return { ok: false, version: view.version };
  }
  const showRewards = options.showRewards ?? true;
  const version = maximum === undefined ? {} : { version: view.version };
  if (options.transactionDetails === "accounts") {
    const keys = accountKeys(view, executed.loadedAddresses).map(accountKeyJson);
    const transaction = { signatures: view.signatures, accountKeys: keys };
    return { ok: true, value: { transaction, meta: accountsMeta(executed, showRewards), ...version } };
  }
  const transaction = encodeBody(view, executed, options.encoding);
  const keys = options.encoding === "jsonParsed" ? allKeys(view, executed) : null;
  return { ok: true, value: { transaction, meta: transactionMeta(executed, keys, showRewards), ...version } };
}
