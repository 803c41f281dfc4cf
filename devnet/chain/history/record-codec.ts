import { memoPrograms } from "@sluice/encode";
import { encodeBase58 } from "@sluice/wire/base58";
import { type JsonValue, parseJsonExact, stringifyJsonExact } from "@sluice/wire/json";
import { type Message, parseTransaction } from "@sluice/wire/transaction";
import type { ExecutedTransaction, TokenBalance, TransactionErrorJson } from "../model/index.ts";
import type { NamedAddresses } from "./named-addresses.ts";
import { type RecordPlace, RecordReader, RecordWriter } from "./record-log.ts";

/** A transaction with every key that it names, loaded ones included. */
export interface RecordedTransaction {
  readonly executed: ExecutedTransaction;
  readonly keys: readonly string[];
  /** For each key, whether the transaction locked it for writing. */
  readonly writable: readonly boolean[];
  /** Micro-lamports for one compute unit. */
  readonly unitPrice: bigint;
  /** Lamports of the fee that are priority fee. */
  readonly priorityFee: bigint;
}

/** A transaction as an entry in the list of an address. */
export interface AddressEntry {
  readonly signature: string;
  readonly slot: bigint;
  /** Position in its block. */
  readonly index: number;
  readonly error: TransactionErrorJson | null;
  /** Unix seconds. */
  readonly blockTime: bigint;
  /** Whether an instruction of the transaction itself calls a memo program. */
  readonly hasMemo: boolean;
}

/** The selection among an address's transactions. */
export interface AddressRange {
  /** The highest slot that counts. */
  readonly newest: bigint;
  /** Signatures of a transaction above, and of one below, what is asked for; null is no bound. */
  readonly before: string | null;
  readonly until: string | null;
}

const linesMax = 16_384;
const lineCharactersMax = 256;
/** Lines that came once lately. */
const seenMax = 1_024;

/**
 * Texts that come again and again, by number: most log lines are a program's name and "invoke", "success" or what it
 * consumed. A line gets its number when it comes for the second time within 1,024 new ones; numbers are never taken
 * back, so that at most some 5 MB are held.
 */
class LineDictionary {
  readonly #numbers = new Map<string, number>();
  readonly #lines: string[] = [];
  readonly #seen = new Set<string>();

  write(line: string, to: RecordWriter): void {
    const number = this.#numbers.get(line) ?? this.#admit(line);
    to.count(number);
    if (number === 0) to.text(line);
  }

  read(from: RecordReader): string {
    const number = from.count();
    return number === 0 ? from.text() : (this.#lines[number - 1] ?? "");
  }

  /** The number that a line has now: 0 as long as it has none. */
  #admit(line: string): number {
    if (line.length > lineCharactersMax || this.#lines.length >= linesMax) return 0;
    if (!this.#seen.delete(line)) {
      if (this.#seen.size >= seenMax) this.#seen.clear();
      this.#seen.add(line);
      return 0;
    }
    this.#lines.push(line);
    this.#numbers.set(line, this.#lines.length);
    return this.#lines.length;
  }
}

/** Flags of a record that say whether an error and return data are in it. */
export const failed = 1;
export const returns = 2;

const addressBytes = 32;
/** In place of a balance's length: it is as it was before. */
const same = 255;

/** The result of a transaction, besides its wire bytes, its name and its place. */
export type Outcome = Omit<RecordedTransaction, "executed" | "keys"> &
  Omit<ExecutedTransaction, "signature" | "slot" | "index" | "bytes" | "loadedAddresses" | "isVote">;

/** Outcomes as bytes and back; see RecordCodec. */
class OutcomeCodec {
  readonly #lines = new LineDictionary();

  /** Writes all but what the flags for failure and return data say. */
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
    const named: string[] = [];
    writeTokens(executed.preTokenBalances, keys, named, writer);
    writeTokens(executed.postTokenBalances, keys, named, writer);
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
      writeAddress(executed.returnData.programId, keys, named, writer);
      writer.sizedBytes(executed.returnData.data);
    }
  }

  read(reader: RecordReader, keys: readonly string[], flags: number): Outcome {
    const unitPrice = reader.u64();
    const bits = reader.bytes(Math.ceil(keys.length / 8));
    const writable = keys.map((_, key) => (((bits[key >> 3] ?? 0) >> (key & 7)) & 1) === 1);
    const error = (flags & failed) === 0 ? null : this.#error(reader);
    const priorityFee = reader.u64();
    const fee = reader.u64();
    const computeUnitsConsumed = reader.u64();
    const costUnits = reader.u64();
    const preBalances = Array.from({ length: reader.count() }, () => reader.u64());
    const postBalances = Array.from({ length: reader.count() }, (_, key) => {
      const length = reader.u8();
      return length === same ? (preBalances[key] ?? 0n) : reader.u64Of(length);
    });
    const named: string[] = [];
    const preTokenBalances = readTokens(reader, keys, named);
    const postTokenBalances = readTokens(reader, keys, named);
    const logs = Array.from({ length: reader.count() }, () => this.#lines.read(reader));
    const innerInstructions = readInner(reader);
    const returnData =
      (flags & returns) === 0 ? null : { programId: readAddress(reader, keys, named), data: reader.sizedBytes() };
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
    if (balance === preBalances[index]) writer.u8(same);
    else writer.u64(balance);
  });
}

function writeTokens(
  balances: readonly TokenBalance[],
  keys: readonly string[],
  named: string[],
  writer: RecordWriter,
): void {
  writer.count(balances.length);
  for (const { accountIndex, mint, owner, programId, amount, decimals } of balances) {
    writer.count(accountIndex);
    for (const address of [mint, owner, programId]) writeAddress(address, keys, named, writer);
    writer.u64(amount);
    writer.u8(decimals);
  }
}

/** By its position among the keys or among addresses that this record named before; in full otherwise. */
function writeAddress(address: string, keys: readonly string[], named: string[], writer: RecordWriter): void {
  const key = keys.indexOf(address);
  const place = key >= 0 ? key : keys.length + (named.includes(address) ? named.indexOf(address) : named.length);
  writer.count(place);
  if (place < keys.length + named.length) return;
  writer.address(address);
  named.push(address);
}

function readTokens(reader: RecordReader, keys: readonly string[], named: string[]): TokenBalance[] {
  return Array.from({ length: reader.count() }, () => ({
    accountIndex: reader.count(),
    mint: readAddress(reader, keys, named),
    owner: readAddress(reader, keys, named),
    programId: readAddress(reader, keys, named),
    amount: reader.u64(),
    decimals: reader.u8(),
  }));
}

function readAddress(reader: RecordReader, keys: readonly string[], named: string[]): string {
  const place = reader.count();
  const known = keys[place] ?? named[place - keys.length];
  if (known !== undefined) return known;
  const address = encodeBase58(reader.bytes(addressBytes));
  named.push(address);
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

/** The head of a record: flags, keys, static keys, where these and the signature stand, and the length without keys. */
const flagsOffset = 0;
const keysOffset = 1;
const staticKeysOffset = 2;
const writableLoadedOffset = 3;
const keysStartOffset = 4;
const signatureStartOffset = 6;
const lengthOffset = 8;
const headBytes = 10;
const idBytes = 4;
const signatureBytes = 64;
/** Counts of signers and of readonly keys. */
const messageHeaderBytes = 3;

const hasMemoFlag = 4;
const isVoteFlag = 8;

function u16(bytes: Uint8Array, at: number): number {
  return (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8);
}

/** Where the signature of a record stands: 64 bytes. */
export function signatureAt({ bytes, start }: RecordPlace): number {
  return start + headBytes + (bytes[start + keysOffset] ?? 0) * idBytes + u16(bytes, start + signatureStartOffset);
}

/** The ids of the addresses that a record names. */
export function* idsOf({ bytes, start }: RecordPlace): Generator<number> {
  const count = bytes[start + keysOffset] ?? 0;
  for (let key = 0; key < count; key += 1) {
    const at = start + headBytes + key * idBytes;
    yield (u16(bytes, at) | (u16(bytes, at + 2) << 16)) >>> 0;
  }
}

/** The part of a record that is read without reading all of it. */
interface RecordSummary {
  readonly signature: string;
  readonly error: TransactionErrorJson | null;
  /** Whether an instruction of the transaction itself calls a memo program. */
  readonly hasMemo: boolean;
}

/**
 * Where the static keys stand. A view of small bytes costs more than all the rest, so that only version 1 makes one.
 */
function keysStartOf(message: Message, bytes: Uint8Array): number {
  if (message.version === 1) return message.keyBytes(0).byteOffset - bytes.byteOffset;
  const countBytes = message.staticKeyCount < 128 ? 1 : 2;
  return message.start + (message.version === 0 ? 1 : 0) + messageHeaderBytes + countBytes;
}

function hasMemo(message: Message, keys: readonly string[]): boolean {
  if (!keys.some((key) => memoPrograms.has(key))) return false;
  return message.instructions.some(({ programIndex }) => memoPrograms.has(keys[programIndex] ?? ""));
}

/**
 * Transactions as bytes and back. The wire bytes stand in a record without their static keys, which are four bytes
 * each: the id under which NamedAddresses holds them, as it does the loaded ones. Repeated values are stored by
 * a number: log lines and errors by LineDictionary, mints and owners by their place among the keys. A transfer takes
 * about
 * 260 bytes.
 */
export class RecordCodec {
  readonly #addresses: NamedAddresses;
  readonly #outcomes = new OutcomeCodec();
  readonly #writer = new RecordWriter();

  constructor(addresses: NamedAddresses) {
    this.#addresses = addresses;
  }

  /** The record of a transaction, good until the next one is written; its keys are named by `number`. */
  write(recorded: RecordedTransaction, number: number): Uint8Array {
    const { executed, keys } = recorded;
    const { bytes, loadedAddresses } = executed;
    const parsed = parseTransaction(bytes);
    if (!parsed.ok) throw new TypeError(`a recorded transaction is not canonical: ${parsed.fault}`);
    const { message, signaturesStart } = parsed.transaction;
    const count = message.staticKeyCount;
    const keysStart = keysStartOf(message, bytes);
    const writer = this.#writer;
    writer.reset();
    writer.u8(
      (executed.error === null ? 0 : failed) |
        (executed.returnData === null ? 0 : returns) |
        (hasMemo(message, keys) ? hasMemoFlag : 0) |
        (executed.isVote ? isVoteFlag : 0),
    );
    writer.u8(keys.length);
    writer.u8(count);
    writer.u8(loadedAddresses.writable.length);
    writer.u16(keysStart);
    writer.u16(signaturesStart > keysStart ? signaturesStart - count * addressBytes : signaturesStart);
    writer.u16(bytes.length - count * addressBytes);
    for (let key = 0; key < count; key += 1) {
      writer.u32(this.#addresses.name(bytes, keysStart + key * addressBytes, number));
    }
    for (const loaded of loadedAddresses.writable) writer.u32(this.#addresses.nameText(loaded, number));
    for (const loaded of loadedAddresses.readonly) writer.u32(this.#addresses.nameText(loaded, number));
    writer.bytesWithout(bytes, keysStart, count * addressBytes);
    this.#outcomes.write(recorded, writer);
    return writer.written;
  }

  /** The record's transaction as it was appended. */
  read(place: RecordPlace, slot: bigint, index: number): RecordedTransaction {
    const { bytes, start } = place;
    const flags = bytes[start + flagsOffset] ?? 0;
    const count = bytes[start + staticKeysOffset] ?? 0;
    const keys = Array.from(idsOf(place), (id) => this.#addresses.text(id));
    const loaded = keys.slice(count);
    const writableLoaded = bytes[start + writableLoadedOffset] ?? 0;
    const outcome = this.#outcomes.read(new RecordReader(bytes, this.#outcomeAt(place)), keys, flags);
    const { unitPrice, priorityFee, writable, ...rest } = outcome;
    const executed: ExecutedTransaction = {
      signature: encodeBase58(this.#signature(place)),
      slot,
      index,
      bytes: this.#wireBytes(place),
      loadedAddresses: { writable: loaded.slice(0, writableLoaded), readonly: loaded.slice(writableLoaded) },
      isVote: (flags & isVoteFlag) !== 0,
      ...rest,
    };
    return { executed, keys, writable, unitPrice, priorityFee };
  }

  summary(place: RecordPlace): RecordSummary {
    const { bytes, start } = place;
    const flags = bytes[start + flagsOffset] ?? 0;
    const error =
      (flags & failed) === 0
        ? null
        : this.#outcomes.readError(new RecordReader(bytes, this.#outcomeAt(place)), bytes[start + keysOffset] ?? 0);
    return { signature: encodeBase58(this.#signature(place)), error, hasMemo: (flags & hasMemoFlag) !== 0 };
  }

  /** The price of a unit, if the transaction is no vote and locks all these addresses for writing; else null. */
  unitPrice(place: RecordPlace, ids: readonly number[]): bigint | null {
    if (((place.bytes[place.start + flagsOffset] ?? 0) & isVoteFlag) !== 0) return null;
    const reader = new RecordReader(place.bytes, this.#outcomeAt(place));
    const price = reader.u64();
    const named = [...idsOf(place)];
    const bits = reader.bytes(Math.ceil(named.length / 8));
    const locks = (id: number): boolean => {
      const key = named.indexOf(id);
      return key >= 0 && (((bits[key >> 3] ?? 0) >> (key & 7)) & 1) === 1;
    };
    return ids.every(locks) ? price : null;
  }

  #outcomeAt({ bytes, start }: RecordPlace): number {
    return start + headBytes + (bytes[start + keysOffset] ?? 0) * idBytes + u16(bytes, start + lengthOffset);
  }

  #signature(place: RecordPlace): Uint8Array {
    const at = signatureAt(place);
    return place.bytes.subarray(at, at + signatureBytes);
  }

  #wireBytes(place: RecordPlace): Uint8Array {
    const { bytes, start } = place;
    const count = bytes[start + staticKeysOffset] ?? 0;
    const keysStart = u16(bytes, start + keysStartOffset);
    const length = u16(bytes, start + lengthOffset);
    const from = start + headBytes + (bytes[start + keysOffset] ?? 0) * idBytes;
    const wire = new Uint8Array(length + count * addressBytes);
    wire.set(bytes.subarray(from, from + keysStart));
    let at = keysStart;
    for (const id of idsOf(place)) {
      if (at === keysStart + count * addressBytes) break;
      wire.set(this.#addresses.bytes(id), at);
      at += addressBytes;
    }
    wire.set(bytes.subarray(from + keysStart, from + length), at);
    return wire;
  }
}
