import { ByteWriter } from "../bytes.ts";
import type { TransactionVersion } from "./message.ts";

/** The parts of a message; keys and blockhash are 32 bytes each. Nothing is reordered or derived. */
export interface MessageParts {
  readonly version: TransactionVersion;
  readonly numRequiredSignatures: number;
  readonly numReadonlySignedAccounts: number;
  readonly numReadonlyUnsignedAccounts: number;
  readonly staticKeys: readonly Uint8Array[];
  readonly blockhash: Uint8Array;
  readonly instructions: readonly InstructionParts[];
  /** v0 only. */
  readonly lookups?: readonly LookupParts[];
  /** v1 only. */
  readonly config?: ConfigParts;
}

/** One instruction by indexes into the keys of the message. */
export interface InstructionParts {
  readonly programIndex: number;
  readonly accountIndexes: ArrayLike<number>;
  readonly data: Uint8Array;
}

/** One lookup table (32 bytes) and the indexes that are taken from it. */
export interface LookupParts {
  readonly tableBytes: Uint8Array;
  readonly writableIndexes: ArrayLike<number>;
  readonly readonlyIndexes: ArrayLike<number>;
}

/** The configuration of a v1 message; a member that is absent or null is not written. Source: SIMD-0385. */
export interface ConfigParts {
  readonly priorityFeeLamports?: bigint | null;
  readonly computeUnitLimit?: number | null;
  readonly loadedAccountsDataSizeLimit?: number | null;
  readonly heapSize?: number | null;
}

/**
 * Writes a compact-u16 length at `offset`.
 *
 * @returns the offset after it
 * @throws {RangeError} when the value is not an integer from 0 to 65535
 */
export function writeShortVec(bytes: Uint8Array, offset: number, value: number): number {
  if (!Number.isInteger(value) || value < 0 || value > 0xffff) throw new RangeError(`${value} is not a u16`);
  let rest = value;
  let at = offset;
  while (rest >= 0x80) {
    bytes[at++] = (rest & 0x7f) | 0x80;
    rest >>= 7;
  }
  bytes[at++] = rest;
  return at;
}

/** Scratch space of a synchronous method. */
const lengthBytes = new Uint8Array(3);

class MessageWriter extends ByteWriter {
  byte(value: number): void {
    if (!Number.isInteger(value) || value < 0 || value > 255) throw new RangeError(`${value} is not a byte`);
    this.u8(value);
  }

  fixed(values: Uint8Array, size: number): void {
    if (values.length !== size) throw new RangeError(`expected ${size} bytes, got ${values.length}`);
    this.bytes(values);
  }

  /** A compact-u16. */
  count(value: number): void {
    if (value < 0x80 && value >= 0 && Number.isInteger(value)) this.u8(value);
    else this.bytes(lengthBytes.subarray(0, writeShortVec(lengthBytes, 0, value)));
  }

  counted(values: ArrayLike<number>): void {
    this.count(values.length);
    this.bytes(values);
  }
}

function writeHeader(writer: MessageWriter, parts: MessageParts): void {
  writer.byte(parts.numRequiredSignatures);
  writer.byte(parts.numReadonlySignedAccounts);
  writer.byte(parts.numReadonlyUnsignedAccounts);
}

function writeV1(writer: MessageWriter, parts: MessageParts): void {
  const { instructions, staticKeys, config = {} } = parts;
  const { priorityFeeLamports: fee, computeUnitLimit, loadedAccountsDataSizeLimit, heapSize } = config;
  writer.byte(0x81);
  writeHeader(writer, parts);
  const mask = [
    fee == null ? 0 : 3,
    computeUnitLimit == null ? 0 : 4,
    loadedAccountsDataSizeLimit == null ? 0 : 8,
    heapSize == null ? 0 : 16,
  ];
  writer.u32(mask.reduce((all, bits) => all | bits, 0));
  writer.fixed(parts.blockhash, 32);
  writer.byte(instructions.length);
  writer.byte(staticKeys.length);
  for (const key of staticKeys) writer.fixed(key, 32);
  if (fee != null) writer.u64(fee);
  for (const value of [computeUnitLimit, loadedAccountsDataSizeLimit, heapSize]) if (value != null) writer.u32(value);
  for (const { programIndex, accountIndexes, data } of instructions) {
    writer.byte(programIndex);
    writer.byte(accountIndexes.length);
    if (data.length > 0xffff) throw new RangeError("instruction data is longer than 65535 bytes");
    writer.u16(data.length);
  }
  for (const { accountIndexes, data } of instructions) {
    writer.bytes(accountIndexes);
    writer.bytes(data);
  }
}

function writeLegacyOrV0(writer: MessageWriter, parts: MessageParts): void {
  if (parts.version === 0) writer.byte(0x80);
  writeHeader(writer, parts);
  writer.count(parts.staticKeys.length);
  for (const key of parts.staticKeys) writer.fixed(key, 32);
  writer.fixed(parts.blockhash, 32);
  writer.count(parts.instructions.length);
  for (const { programIndex, accountIndexes, data } of parts.instructions) {
    writer.byte(programIndex);
    writer.counted(accountIndexes);
    writer.counted(data);
  }
  if (parts.version === "legacy") return;
  const lookups = parts.lookups ?? [];
  writer.count(lookups.length);
  for (const { tableBytes, writableIndexes, readonlyIndexes } of lookups) {
    writer.fixed(tableBytes, 32);
    writer.counted(writableIndexes);
    writer.counted(readonlyIndexes);
  }
}

/**
 * Encodes a message in its canonical form: the bytes that are signed. The parts are written as they are, whether or not
 * a node would accept them (see `parseMessage`).
 *
 * @throws {RangeError} when the format cannot hold a part: a number that is not a byte or a u16, or a key that has not
 * 32 bytes
 */
export function encodeMessage(parts: MessageParts): Uint8Array {
  const writer = new MessageWriter();
  if (parts.version === 1) writeV1(writer, parts);
  else writeLegacyOrV0(writer, parts);
  return writer.finish();
}

/**
 * Encodes a transaction in its canonical form: signatures of 64 bytes and a message, in the order of its version.
 *
 * @throws {RangeError} as `encodeMessage`, and when a signature has not 64 bytes
 */
export function encodeTransaction(parts: {
  readonly signatures: readonly Uint8Array[];
  readonly message: MessageParts | Uint8Array;
}): Uint8Array {
  const message = parts.message instanceof Uint8Array ? parts.message : encodeMessage(parts.message);
  const messageFirst = message[0] === 0x81;
  const { signatures } = parts;
  const writer = new MessageWriter(3 + signatures.length * 64 + message.length);
  if (messageFirst) writer.bytes(message);
  else writer.count(signatures.length);
  for (const signature of signatures) writer.fixed(signature, 64);
  if (!messageFirst) writer.bytes(message);
  return writer.finish();
}
