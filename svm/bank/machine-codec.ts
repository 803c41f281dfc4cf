import { addressBytes } from "@sluice/wire/base58";
import type { ByteReader } from "@sluice/wire/bytes";
import type { FrameWriter } from "@sluice/wire/frames";
import type { Account } from "litesvm/dist/internal.js";
import type { CompiledInstruction } from "../account.ts";
import { readAccount, writeAccount } from "../account.ts";
import { accountBytes, nativeAccount } from "../native/accounts.ts";
import type { LiteSvmOutcome } from "./core.ts";
import { type CoreOutcome, type CoreTransaction, type KeyedAccount, keyAt } from "./core.ts";
import { logLines, noNonce, outcomeFlags, transactionFlags } from "./protocol.ts";

/** The machine's half of the protocol: it reads requests and writes answers without making a text of any key. */

export function readTransaction(reader: ByteReader): CoreTransaction {
  const flags = reader.u8();
  const nonceIndex = reader.u8();
  const fee = reader.u64();
  const bytes = reader.bytes(reader.u16());
  const lifetimeStart = reader.u16();
  const keysStart = reader.u16();
  const writable: Uint8Array[] = [];
  for (let left = reader.u8(); left > 0; left -= 1) writable.push(keyAt(bytes, keysStart, reader.u8()));
  for (let left = reader.u8(); left > 0; left -= 1) writable.push(reader.bytes(32));
  return {
    bytes,
    fee,
    lifetimeStart,
    writable,
    nonceIndex: nonceIndex === noNonce ? -1 : nonceIndex,
    verify: (flags & transactionFlags.verify) !== 0,
    isLegacy: (flags & transactionFlags.legacy) !== 0,
    movesLamportsOnly: (flags & transactionFlags.movesLamportsOnly) !== 0,
  };
}

/** An account with its key; the account is null when it is to be closed. */
export function readKeyedAccount(reader: ByteReader): KeyedAccount {
  const key = reader.bytes(32);
  const account = readAccount(reader);
  return { key, account: account === null || account === "builtin" ? null : nativeAccount(account) };
}

export function readKeyedAccounts(reader: ByteReader): KeyedAccount[] {
  return Array.from({ length: reader.u32() }, () => readKeyedAccount(reader));
}

export function readTransactions(reader: ByteReader): CoreTransaction[] {
  return Array.from({ length: reader.u16() }, () => readTransaction(reader));
}

function writeNative(writer: FrameWriter, account: Account | null): void {
  writeAccount(writer, account === null ? null : accountBytes(account));
}

/** Numbers the log lines of one life as they are written; see `logLines`. */
export class LineNumbers {
  readonly #numbers = new Map<string, number>();

  write(writer: FrameWriter, line: string): void {
    const number = this.#numbers.get(line);
    if (number !== undefined) {
      writer.u16(number);
      return;
    }
    const recurs = line.startsWith("Program ") && (line.endsWith(" success") || line.endsWith("]"));
    if (recurs && this.#numbers.size < logLines.numbersMax) {
      this.#numbers.set(line, this.#numbers.size);
      writer.u16(logLines.numbered);
    } else writer.u16(logLines.bare);
    writer.sizedText(line);
  }
}

function writeInstruction(writer: FrameWriter, instruction: CompiledInstruction): void {
  const { programIdIndex, accounts, data, stackHeight } = instruction;
  writer.u8(programIdIndex).u8(stackHeight).u16(accounts.length);
  for (const account of accounts) writer.u8(account);
  writer.sizedBytes(data);
}

function writeRan(writer: FrameWriter, ran: LiteSvmOutcome, lines: LineNumbers): void {
  const { included, error, innerInstructions, logs, returnData } = ran;
  const calls = innerInstructions.length > 0;
  const flags = (included ? outcomeFlags.included : 0) | (error === null ? 0 : outcomeFlags.failed);
  writer
    .u8(flags | (calls ? outcomeFlags.calls : 0) | (returnData === null ? 0 : outcomeFlags.returns))
    .u64(ran.computeUnitsConsumed);
  // An error has many forms, so it goes as a short JSON text; a transaction that succeeds has none.
  if (error !== null) writer.sizedText(JSON.stringify(error));
  writer.u16(logs.length);
  for (const line of logs) lines.write(writer, line);
  if (calls) {
    writer.u8(innerInstructions.length);
    for (const { index, instructions } of innerInstructions) {
      writer.u8(index).u16(instructions.length);
      for (const instruction of instructions) writeInstruction(writer, instruction);
    }
  }
  if (returnData !== null) writer.bytes(addressBytes(returnData.programId)).sizedBytes(returnData.data);
}

/** The outcome of an executed transaction: accounts go by their position among the writable keys. */
export function writeOutcome(writer: FrameWriter, { ran, writes, balances }: CoreOutcome, lines: LineNumbers): void {
  writeRan(writer, ran, lines);
  writer.u8(balances.length);
  for (const { index, lamports } of balances) writer.u8(index).u64(lamports);
  writer.u8(writes.length);
  for (const { index, account } of writes) {
    writer.u8(index);
    writeNative(writer, account);
  }
}

/** The outcome of a simulation: accounts go with their keys. */
export function writeSimulation(
  writer: FrameWriter,
  { ran, writes }: { readonly ran: LiteSvmOutcome; readonly writes: readonly KeyedAccount[] },
  lines: LineNumbers,
): void {
  writeRan(writer, ran, lines);
  writeKeyedAccounts(writer, writes);
}

export function writeKeyedAccounts(writer: FrameWriter, accounts: readonly KeyedAccount[]): void {
  writer.u32(accounts.length);
  for (const { key, account } of accounts) {
    writer.bytes(key);
    writeNative(writer, account);
  }
}
