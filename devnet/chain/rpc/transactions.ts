import { encodeTransaction, type JsonObject, type JsonValue, transactionMemo } from "@sluice/encode";
import { parseTransaction } from "@sluice/wire/transaction";
import type { RecordedTransaction } from "../history/index.ts";
import { filterTransactionNotFound, invalidParams, unsupportedVersion } from "./errors.ts";
import { abandonedForkAt, type MethodTable, type RpcNode, reached, withContext } from "./method.ts";
import {
  addressValue,
  booleanMember,
  configAt,
  ledgerCommitment,
  listValue,
  signatureValue,
  u64Member,
  variantMember,
  variantValue,
} from "./params.ts";

export const transactionEncodings = ["binary", "base64", "base58", "json", "jsonParsed"] as const;
const statusesMax = 256;
const signaturesMax = 1_000n;

/** A config object, or the bare encoding that older callers give in its place. */
export function encodingConfigAt(params: readonly JsonValue[], position: number): JsonObject | null {
  const value = params[position];
  if (typeof value === "string") return { encoding: variantValue(value, transactionEncodings) };
  return configAt(params, position);
}

/** The highest version that the caller can read; undefined means legacy only. */
export function maxVersion(config: JsonObject | null): number | undefined {
  const requested = u64Member(config, "maxSupportedTransactionVersion");
  if (requested !== undefined && requested > 255n) {
    throw invalidParams(`Invalid params: invalid value: integer \`${requested}\`, expected u8.`);
  }
  return requested === undefined ? undefined : Number(requested);
}

/** The memos of a transaction that has some. */
function memoOf({ executed }: RecordedTransaction): string | null {
  const parsed = parseTransaction(executed.bytes);
  return parsed.ok ? transactionMemo(parsed.transaction.message) : null;
}

function blockTime(node: RpcNode, slot: bigint): bigint | null {
  return (node.chain.history.block(slot) ?? node.chain.abandonedFork?.block(slot))?.blockTime ?? null;
}

/** Without a search of history only the last 300 blocks are known, as on a node. */
function statusOf(node: RpcNode, signature: string, searchHistory: boolean): JsonValue {
  if (!searchHistory && node.chain.statuses.slotOf(signature) === null) return null;
  const recorded = node.chain.history.transaction(signature);
  if (recorded === null) return null;
  const { slot, error } = recorded.executed;
  const err = error as JsonValue;
  const finalized = slot <= node.chain.at("finalized").slot;
  const confirmed = slot <= node.chain.at("confirmed").slot;
  return {
    slot,
    confirmations: finalized ? null : node.chain.at("processed").slot - slot,
    status: err === null ? { Ok: null } : { Err: err },
    err,
    confirmationStatus: finalized ? "finalized" : confirmed ? "confirmed" : "processed",
  };
}

function signaturesForAddress(params: readonly JsonValue[], node: RpcNode): JsonValue {
  const address = addressValue(params[0]);
  const config = configAt(params, 1, "struct RpcSignaturesForAddressConfig");
  const before = config?.["before"] ?? null;
  const until = config?.["until"] ?? null;
  const limit = u64Member(config, "limit") ?? signaturesMax;
  if (limit === 0n || limit > signaturesMax) throw invalidParams(`Invalid limit; max ${signaturesMax}`);
  const bank = reached(node.chain.at(ledgerCommitment(config)), config);
  const { history } = node.chain;
  for (const bound of [before, until]) {
    if (bound === null) continue;
    const signature = signatureValue(bound);
    if (history.transaction(signature) === null) throw filterTransactionNotFound(signature);
  }
  const finalized = node.chain.at("finalized").slot;
  const range = {
    newest: bank.slot,
    before: before === null ? null : signatureValue(before),
    until: until === null ? null : signatureValue(until),
  };
  const rows: JsonValue[] = [];
  for (const { signature, slot, index, error, blockTime, hasMemo } of history.ofAddress(address, range)) {
    const recorded = hasMemo ? history.transaction(signature) : null;
    rows.push({
      signature,
      slot,
      err: error as JsonValue,
      memo: recorded === null ? null : memoOf(recorded),
      blockTime,
      confirmationStatus: slot <= finalized ? "finalized" : "confirmed",
      transactionIndex: index,
    });
    if (BigInt(rows.length) >= limit) break;
  }
  return rows;
}

/** Transactions that landed: by signature and by address. */
export const transactionMethods: MethodTable = {
  getTransaction: {
    required: 1,
    optional: 1,
    run(params, node) {
      const signature = signatureValue(params[0]);
      const config = encodingConfigAt(params, 1);
      const encoding = variantMember(config, "encoding", transactionEncodings, "json");
      const maxSupportedTransactionVersion = maxVersion(config);
      const bank = node.chain.at(ledgerCommitment(config));
      const onChain = node.chain.history.transaction(signature);
      // What the confirmed branch held is shown, although it may have landed again on the one that won.
      const isSeen = onChain !== null && onChain.executed.slot <= bank.slot;
      const recorded = isSeen ? onChain : (abandonedForkAt(node, bank.slot)?.transaction(signature) ?? null);
      if (recorded === null || recorded.executed.slot > bank.slot) return null;
      const { slot, index } = recorded.executed;
      const { bytes } = recorded.executed;
      const options = { encoding, maxSupportedTransactionVersion };
      const encoded = encodeTransaction({ bytes, meta: recorded.executed }, options);
      if (!encoded.ok) throw unsupportedVersion(encoded.version);
      return { slot, ...encoded.value, blockTime: blockTime(node, slot), transactionIndex: index };
    },
  },
  getSignatureStatuses: {
    required: 1,
    optional: 1,
    run(params, node) {
      const list = listValue(params[0]);
      if (list.length > statusesMax) throw invalidParams(`Too many inputs provided; max ${statusesMax}`);
      const signatures = list.map((entry) => signatureValue(entry));
      const config = configAt(params, 1, "struct RpcSignatureStatusConfig");
      if (config !== null && config["searchTransactionHistory"] === undefined) {
        throw invalidParams("Invalid params: missing field `searchTransactionHistory`.");
      }
      const searchHistory = booleanMember(config, "searchTransactionHistory", false);
      return withContext(
        node.chain.at("processed"),
        signatures.map((signature) => statusOf(node, signature, searchHistory)),
      );
    },
  },
  getSignaturesForAddress: { required: 1, optional: 1, run: signaturesForAddress },
};
