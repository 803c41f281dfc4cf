import { encodeBase58 } from "@sluice/wire/base58";
import type { Message, Transaction } from "@sluice/wire/transaction";
import type { ExecutedTransaction } from "../model/index.ts";
import { accountKeyJson, accountKeys, keyNames } from "./account-keys.ts";
import { compiledInstruction, namedInstruction } from "./instruction.ts";
import type { JsonObject, JsonValue } from "./json.ts";
import { accountsMeta, transactionMeta } from "./meta.ts";
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
        readonly meta: JsonObject;
        readonly version?: "legacy" | number;
      };
    }
  | { readonly ok: false; readonly version: number };

function compiledMessage(message: Message): JsonObject {
  return {
    header: headerJson(message),
    accountKeys: message.staticAddresses,
    recentBlockhash: message.blockhash,
    instructions: outerInstructions(message).map(compiledInstruction),
    ...versionMembers(message),
  };
}

function namedMessage(message: Message, executed: ExecutedTransaction): JsonObject {
  const keys = accountKeys(message, executed.loadedAddresses);
  const names = keys.map((key) => key.pubkey);
  return {
    accountKeys: keys.map(accountKeyJson),
    recentBlockhash: message.blockhash,
    instructions: outerInstructions(message).map((instruction) => namedInstruction(instruction, names)),
    ...versionMembers(message),
  };
}

function encodeBody(
  transaction: Transaction,
  executed: ExecutedTransaction,
  encoding: TransactionEncodingName,
): JsonValue {
  const { signatures, message } = transaction;
  switch (encoding) {
    case "binary":
      return encodeBase58(executed.bytes);
    case "base58":
      return [encodeBase58(executed.bytes), "base58"];
    case "base64":
      return [Buffer.from(executed.bytes).toString("base64"), "base64"];
    case "json":
      return { signatures, message: compiledMessage(message) };
    case "jsonParsed":
      return { signatures, message: namedMessage(message, executed) };
  }
}

/**
 * Presents an executed transaction as getTransaction and getBlock do. The members that are present depend on encoding,
 * details and version. Source: Solana JSON-RPC, block and transaction shapes.
 */
export function encodeTransaction(executed: ExecutedTransaction, options: TransactionOptions): EncodedTransaction {
  const parsed = readTransaction(executed.bytes);
  const { message, signatures } = parsed;
  const maximum = options.maxSupportedTransactionVersion;
  if (message.version !== "legacy" && (maximum === undefined || message.version > maximum)) {
    return { ok: false, version: message.version };
  }
  const showRewards = options.showRewards ?? true;
  const version = maximum === undefined ? {} : { version: message.version };
  if (options.transactionDetails === "accounts") {
    const keys = accountKeys(message, executed.loadedAddresses).map(accountKeyJson);
    const transaction = { signatures, accountKeys: keys };
    return { ok: true, value: { transaction, meta: accountsMeta(executed, showRewards), ...version } };
  }
  const transaction = encodeBody(parsed, executed, options.encoding);
  const names = options.encoding === "jsonParsed" ? keyNames(message, executed.loadedAddresses) : null;
  return { ok: true, value: { transaction, meta: transactionMeta(executed, names, showRewards), ...version } };
}
