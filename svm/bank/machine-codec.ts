import type { ByteReader } from "@sluice/wire/bytes";
import type { FrameWriter } from "@sluice/wire/frames";
import { Account } from "litesvm/dist/internal.js";
import { keyBytes } from "../key-bytes.ts";
import type { CompiledInstruction } from "../outcome.ts";
import { type CoreOutcome, type CoreTransaction, type KeyedAccount, keyAt } from "./core.ts";
import {
  BARE_LINE,
  CALLS,
  EXECUTABLE,
  FAILED,
  GONE,
  INCLUDED,
  LEGACY,
  MOVES_LAMPORTS_ONLY,
  NEW_LINE,
  NO_NONCE,
  NUMBERED_LINES_MAX,
  PLAIN,
  RETURNS,
  VERIFY,
} from "./messages.ts";
import type { LiteSvmOutcome } from "./outcome.ts";

/** The machine's half of the protocol: requests are read and answers written without a text being made of any key. */

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
    nonceIndex: nonceIndex === NO_NONCE ? -1 : nonceIndex,
    verify: (flags & VERIFY) !== 0,
    isLegacy: (flags & LEGACY) !== 0,
    movesLamportsOnly: (flags & MOVES_LAMPORTS_ONLY) !== 0,
  };
}

/** An account with its key, which is null when it is to be gone. */
export function readAccount(reader: ByteReader): KeyedAccount {
  const key = reader.bytes(32);
  const kind = reader.u8();
  if (kind === GONE) return { key, account: null };
  const lamports = reader.u64();
  const rentEpoch = reader.u64();
  const owner = reader.bytes(32);
  return { key, account: new Account(lamports, reader.sizedCopy(), owner, kind === EXECUTABLE, rentEpoch) };
}

export function writeAccount(writer: FrameWriter, account: Account | null): void {
  if (account === null) {
    writer.u8(GONE);
    return;
  }
  writer
    .u8(account.executable() ? EXECUTABLE : PLAIN)
    .u64(account.lamports())
    .bytes(account.owner())
    .sizedBytes(account.data());
}

/** Lines that come with every call of a program are told by their number after the first time. */
export class LineNumbers {
  readonly #numbers = new Map<string, number>();

  write(writer: FrameWriter, line: string): void {
    const number = this.#numbers.get(line);
    if (number !== undefined) {
      writer.u16(number);
      return;
    }
    const recurs = line.startsWith("Program ") && (line.endsWith(" success") || line.endsWith("]"));
    if (recurs && this.#numbers.size < NUMBERED_LINES_MAX) {
      this.#numbers.set(line, this.#numbers.size);
      writer.u16(NEW_LINE);
    } else writer.u16(BARE_LINE);
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
  const flags = (included ? INCLUDED : 0) | (error === null ? 0 : FAILED);
  writer.u8(flags | (calls ? CALLS : 0) | (returnData === null ? 0 : RETURNS)).u64(ran.computeUnitsConsumed);
  // An error is a short JSON text: it has many forms, and the way of a transaction that succeeds does not meet it.
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
  if (returnData !== null) writer.bytes(keyBytes(returnData.programId)).sizedBytes(returnData.data);
}

/** What became of an executed transaction: accounts are told by their position among the writable keys. */
export function writeOutcome(writer: FrameWriter, { ran, writes, balances }: CoreOutcome, lines: LineNumbers): void {
  writeRan(writer, ran, lines);
  writer.u8(balances.length);
  for (const { index, lamports } of balances) writer.u8(index).u64(lamports);
  writer.u8(writes.length);
  for (const { index, account } of writes) {
    writer.u8(index);
    writeAccount(writer, account);
  }
}

/** What a simulation found: accounts are told with their keys. */
export function writeSimulation(
  writer: FrameWriter,
  { ran, writes }: { readonly ran: LiteSvmOutcome; readonly writes: readonly KeyedAccount[] },
  lines: LineNumbers,
): void {
  writeRan(writer, ran, lines);
  writeAccounts(writer, writes);
}

export function writeAccounts(writer: FrameWriter, accounts: readonly KeyedAccount[]): void {
  writer.u32(accounts.length);
  for (const { key, account } of accounts) {
    writer.bytes(key);
    writeAccount(writer, account);
  }
}
