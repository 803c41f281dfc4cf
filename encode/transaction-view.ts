import { type Message, parseTransaction, type Transaction } from "@sluice/wire/transaction";
import type { JsonObject, JsonValue } from "./json.ts";
import type { ExecutedInstruction } from "./model.ts";

/**
 * Reads a record's wire bytes. The bank keeps only what the strict parser accepted, so that a refusal here is a defect.
 */
export function readTransaction(bytes: Uint8Array): Transaction {
  const parsed = parseTransaction(bytes);
  if (!parsed.ok) throw new TypeError(`a recorded transaction is not canonical: ${parsed.fault} at ${parsed.offset}`);
  return parsed.transaction;
}

/** The instructions of a message as executed ones; all of them are outer ones. */
export function outerInstructions(message: Message): ExecutedInstruction[] {
  return message.instructions.map((instruction) => ({
    programIdIndex: instruction.programIndex,
    accounts: instruction.accountIndexes,
    data: instruction.data,
    stackHeight: 1,
  }));
}

export function headerJson(message: Message): JsonObject {
  return {
    numRequiredSignatures: message.numRequiredSignatures,
    numReadonlySignedAccounts: message.numReadonlySignedAccounts,
    numReadonlyUnsignedAccounts: message.numReadonlyUnsignedAccounts,
  };
}

/** The members that only some versions have: lookups in version 0, the configuration in version 1. */
export function versionMembers(message: Message): JsonObject {
  if (message.version === 0) return { addressTableLookups: lookupsJson(message) };
  if (message.version === "legacy") return {};
  const { priorityFeeLamports, computeUnitLimit, loadedAccountsDataSizeLimit, heapSize } = message.config;
  const config = { priorityFee: priorityFeeLamports, computeUnitLimit, loadedAccountsDataSizeLimit, heapSize };
  return { transactionConfig: config };
}

function lookupsJson(message: Message): JsonValue {
  return message.lookups.map(({ table, writableIndexes, readonlyIndexes }) => ({
    accountKey: table,
    writableIndexes: [...writableIndexes],
    readonlyIndexes: [...readonlyIndexes],
  }));
}
