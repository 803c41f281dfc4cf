import { encodeBase58 } from "@sluice/wire/base58";
import { type JsonValue, parseJsonExact, stringifyJsonExact } from "@sluice/wire/json";
import type { ExecutedTransaction, TokenBalance, TransactionErrorJson } from "../model/index.ts";
import { LineDictionary } from "./line-dictionary.ts";
import type { RecordReader, RecordWriter } from "./record-bytes.ts";
import type { RecordedTransaction } from "./recorded-transaction.ts";

/** Flags of a record that say whether an error and return data are in it. */
export const FAILED = 1;
export const RETURNS = 2;

const ADDRESS_BYTES = 32;
/** In place of a balance's length: it is as it was before. */
const SAME = 255;

/** What running a transaction gave, beside its wire bytes, its name and its place. */
export type Outcome = Omit<RecordedTransaction, "executed" | "keys"> &
  Omit<ExecutedTransaction, "signature" | "slot" | "index" | "bytes" | "loadedAddresses" | "isVote">;

/** Outcomes as bytes and back; see RecordCodec. */
export class OutcomeCodec {
  readonly #lines = new LineDictionary();

  /** Writes all but what FAILED and RETURNS tell. */
  write(recorded: RecordedTransaction, writer: RecordWriter): void {
    const { executed, keys, writable, unitPrice, priorityFee } = recorded;
    writer.u64(unitPrice);
    for (let first = 0; first < keys.length; first += 8) {
      let bits = 0;
      for (let bit = 0; bit < 8; bit += 1) if (writable[first + bit]) bits |= 1 << bit;
      writer.u8(bits);
    }
    if (executed.error !== null) this.#lines.write(stringifyJsonExact(executed.error as JsonValue), writer);
    for (const value of [priorityFee, executed.fee, executed.computeUnitsConsumed, executed.costUnits]) {
      writer.u64(value);
    }
    writeBalances(executed, writer);
    const told: string[] = [];
    writeTokens(executed.preTokenBalances, keys, told, writer);
    writeTokens(executed.postTokenBalances, keys, told, writer);
    writer.count(executed.logs.length);
    for (const line of executed.logs) this.#lines.write(line, writer);
    writer.count(executed.innerInstructions.length);
    for (const { index, instructions } of executed.innerInstructions) {
      writer.count(index);
      writer.count(instructions.length);
      for (const { programIdIndex, accounts, data, stackHeight } of instructions) {
        writer.count(programIdIndex);
        writer.count(accounts.length);
        for (const account of accounts) writer.count(account);
        writer.sizedBytes(data);
        writer.count(stackHeight);
      }
    }
    if (executed.returnData !== null) {
      writeAddress(executed.returnData.programId, keys, told, writer);
      writer.sizedBytes(executed.returnData.data);
    }
  }

  read(reader: RecordReader, keys: readonly string[], flags: number): Outcome {
    const unitPrice = reader.u64();
    const bits = reader.bytes(Math.ceil(keys.length / 8));
    const writable = keys.map((_, key) => (((bits[key >> 3] ?? 0) >> (key & 7)) & 1) === 1);
    const error = (flags & FAILED) === 0 ? null : this.#error(reader);
    const priorityFee = reader.u64();
    const fee = reader.u64();
    const computeUnitsConsumed = reader.u64();
    const costUnits = reader.u64();
    const preBalances = Array.from({ length: reader.count() }, () => reader.u64());
    const postBalances = Array.from({ length: reader.count() }, (_, key) => {
      const length = reader.u8();
      return length === SAME ? (preBalances[key] ?? 0n) : reader.u64Of(length);
    });
    const told: string[] = [];
    const preTokenBalances = readTokens(reader, keys, told);
    const postTokenBalances = readTokens(reader, keys, told);
    const logs = Array.from({ length: reader.count() }, () => this.#lines.read(reader));
    const innerInstructions = readInner(reader);
    const returnData =
      (flags & RETURNS) === 0 ? null : { programId: readAddress(reader, keys, told), data: reader.sizedBytes() };
    return {
      unitPrice,
      writable,
      error,
      priorityFee,
      fee,
      computeUnitsConsumed,
      costUnits,
      preBalances,
      postBalances,
      preTokenBalances,
      postTokenBalances,
      logs,
      innerInstructions,
      returnData,
    };
  }

  /** The error alone, of a record that has one and names so many keys. */
  readError(reader: RecordReader, keys: number): TransactionErrorJson | null {
    reader.u64();
    reader.bytes(Math.ceil(keys / 8));
    return this.#error(reader);
  }

  #error(reader: RecordReader): TransactionErrorJson | null {
    const parsed = parseJsonExact(this.#lines.read(reader));
    return parsed.ok ? (parsed.value as TransactionErrorJson) : null;
  }
}

function writeBalances({ preBalances, postBalances }: ExecutedTransaction, writer: RecordWriter): void {
  writer.count(preBalances.length);
  for (const balance of preBalances) writer.u64(balance);
  writer.count(postBalances.length);
  postBalances.forEach((balance, index) => {
    if (balance === preBalances[index]) writer.u8(SAME);
    else writer.u64(balance);
  });
}

function writeTokens(
  balances: readonly TokenBalance[],
  keys: readonly string[],
  told: string[],
  writer: RecordWriter,
): void {
  writer.count(balances.length);
  for (const { accountIndex, mint, owner, programId, amount, decimals } of balances) {
    writer.count(accountIndex);
    for (const address of [mint, owner, programId]) writeAddress(address, keys, told, writer);
    writer.u64(amount);
    writer.u8(decimals);
  }
}

/** By its place among the keys, or among what this record told before; in full otherwise. */
function writeAddress(address: string, keys: readonly string[], told: string[], writer: RecordWriter): void {
  const key = keys.indexOf(address);
  const place = key >= 0 ? key : keys.length + (told.includes(address) ? told.indexOf(address) : told.length);
  writer.count(place);
  if (place < keys.length + told.length) return;
  writer.address(address);
  told.push(address);
}

function readTokens(reader: RecordReader, keys: readonly string[], told: string[]): TokenBalance[] {
  return Array.from({ length: reader.count() }, () => ({
    accountIndex: reader.count(),
    mint: readAddress(reader, keys, told),
    owner: readAddress(reader, keys, told),
    programId: readAddress(reader, keys, told),
    amount: reader.u64(),
    decimals: reader.u8(),
  }));
}

function readAddress(reader: RecordReader, keys: readonly string[], told: string[]): string {
  const place = reader.count();
  const known = keys[place] ?? told[place - keys.length];
  if (known !== undefined) return known;
  const address = encodeBase58(reader.bytes(ADDRESS_BYTES));
  told.push(address);
  return address;
}

function readInner(reader: RecordReader): ExecutedTransaction["innerInstructions"] {
  return Array.from({ length: reader.count() }, () => ({
    index: reader.count(),
    instructions: Array.from({ length: reader.count() }, () => ({
      programIdIndex: reader.count(),
      accounts: Array.from({ length: reader.count() }, () => reader.count()),
      data: reader.sizedBytes(),
      stackHeight: reader.count(),
    })),
  }));
}
