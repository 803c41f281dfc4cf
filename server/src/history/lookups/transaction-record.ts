import {
  type ConfirmedTransaction,
  encodeTransaction,
  instructionName,
  isVote,
  type JsonObject,
  readJson,
} from "@sluice/encode";
import { invariant } from "@sluice/lib";
import { type IdlPrograms, movementsOf, TransactionView } from "@sluice/parser";
import { encodeBase58 } from "@sluice/wire/base58";
import { errorRecord, tokenTransfers } from "../../events/index.ts";
import type { TransactionBodyRow, TransactionRow } from "../../ledger/index.ts";

export type TransactionEncoding = "json" | "jsonParsed" | "base58" | "base64";

/** Every version that this release can present. */
const versionMax = 255;

/** A transaction's place, outcome and signature. */
export function placeRecord(row: TransactionRow, isFinal: boolean): JsonObject {
  return {
    signature: row.signature,
    slot: row.slot,
    index: row.index,
    blockhash: row.blockhash,
    block_time: row.blockTime,
    finality: isFinal ? "finalized" : "confirmed",
    success: row.success,
    error: errorRecord(row.error === "" ? null : readJson(row.error)),
  };
}

/**
 * A transaction with the members of the webhook events about it and more.
 * @throws {TypeError} when its bytes are not canonical, which no node confirms
 */
export function transactionRecord(
  row: TransactionRow,
  transaction: ConfirmedTransaction,
  { isFinal, programs }: { readonly isFinal: boolean; readonly programs: IdlPrograms },
): JsonObject {
  const view = new TransactionView(transaction);
  const { message, meta, keys, calls } = view;
  const accountNames = (accounts: ArrayLike<number>): string[] => Array.from(accounts, (index) => keys[index] ?? "");
  const { native, tokens } = movementsOf(view);
  return {
    ...placeRecord(row, isFinal),
    version: message.version,
    is_vote: isVote(view),
    fee: meta?.fee ?? null,
    compute_units: meta?.computeUnitsConsumed ?? null,
    fee_payer: keys[0] ?? "",
    signers: keys.slice(0, message.numRequiredSignatures),
    accounts: keys,
    program_ids: view.programIds,
    instructions: calls.map(({ programId, accounts: indexes, data, stackHeight }) => {
      const accounts = accountNames(indexes);
      return {
        program_id: programId,
        instruction: instructionName({ programId, accounts, data }) ?? programs.nameOf(programId, data),
        accounts,
        data: encodeBase58(data),
        stack_height: stackHeight,
      };
    }),
    token_transfers: tokenTransfers(tokens),
    native_transfers: native
      .filter(({ kind }) => kind !== "wrapped")
      .map(({ from, to, lamports }) => ({ from, to, lamports })),
    log_messages: meta?.logs ?? null,
  };
}

/** A transaction as getTransaction answers in an encoding, whatever its version. */
export function nodeRecord(
  { slot, index, blockTime }: TransactionBodyRow,
  { bytes, meta }: ConfirmedTransaction,
  encoding: TransactionEncoding,
): JsonObject {
  const encoded = encodeTransaction({ bytes, meta }, { encoding, maxSupportedTransactionVersion: versionMax });
  invariant(encoded.ok, "every version is asked for");
  return { slot, ...encoded.value, blockTime, transactionIndex: index };
}
