import { writeU32, writeU64 } from "../little-endian.ts";
import { shortVecSize, writeShortVec } from "../short-vec.ts";
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

export interface InstructionParts {
  readonly programIndex: number;
  readonly accountIndexes: ArrayLike<number>;
  readonly data: Uint8Array;
}

export interface LookupParts {
  readonly tableBytes: Uint8Array;
  readonly writableIndexes: ArrayLike<number>;
  readonly readonlyIndexes: ArrayLike<number>;
}

export interface ConfigParts {
  readonly priorityFeeLamports?: bigint | null;
  readonly computeUnitLimit?: number | null;
  readonly loadedAccountsDataSizeLimit?: number | null;
  readonly heapSize?: number | null;
}

/** Appends to an array of the exact size. */
class Writer {
  readonly bytes: Uint8Array;
  offset = 0;

  constructor(size: number) {
    this.bytes = new Uint8Array(size);
  }

  byte(value: number): void {
    if (!Number.isInteger(value) || value < 0 || value > 255) throw new RangeError(`${value} is no byte`);
    this.bytes[this.offset++] = value;
  }

  raw(values: ArrayLike<number>): void {
    this.bytes.set(values, this.offset);
    this.offset += values.length;
  }

  fixed(values: Uint8Array, size: number): void {
    if (values.length !== size) throw new RangeError(`expected ${size} bytes, got ${values.length}`);
    this.raw(values);
  }

  count(value: number): void {
    this.offset = writeShortVec(this.bytes, this.offset, value);
  }

  u32(value: number): void {
    writeU32(this.bytes, this.offset, value);
    this.offset += 4;
  }
}

const prefixed = (length: number): number => shortVecSize(length) + length;

function configSize(config: ConfigParts): number {
  const { priorityFeeLamports: fee, computeUnitLimit, loadedAccountsDataSizeLimit, heapSize } = config;
  const words = [computeUnitLimit, loadedAccountsDataSizeLimit, heapSize].filter((value) => value != null).length;
  return (fee == null ? 0 : 8) + words * 4;
}

function messageSize(parts: MessageParts): number {
  const { instructions, staticKeys, lookups = [] } = parts;
  const keys = staticKeys.length * 32;
  if (parts.version === 1) {
    const payload = instructions.reduce(
      (sum, { accountIndexes, data }) => sum + accountIndexes.length + data.length,
      0,
    );
    return 42 + keys + configSize(parts.config ?? {}) + instructions.length * 4 + payload;
  }
  let size = 3 + shortVecSize(staticKeys.length) + keys + 32 + shortVecSize(instructions.length);
  for (const { accountIndexes, data } of instructions)
    size += 1 + prefixed(accountIndexes.length) + prefixed(data.length);
  if (parts.version === "legacy") return size;
  size += 1 + shortVecSize(lookups.length);
  for (const { writableIndexes, readonlyIndexes } of lookups) {
    size += 32 + prefixed(writableIndexes.length) + prefixed(readonlyIndexes.length);
  }
  return size;
}

function writeHeader(writer: Writer, parts: MessageParts): void {
  writer.byte(parts.numRequiredSignatures);
  writer.byte(parts.numReadonlySignedAccounts);
  writer.byte(parts.numReadonlyUnsignedAccounts);
}

function writeV1(writer: Writer, parts: MessageParts): void {
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
  if (fee != null) {
    writeU64(writer.bytes, writer.offset, fee);
    writer.offset += 8;
  }
  for (const value of [computeUnitLimit, loadedAccountsDataSizeLimit, heapSize]) if (value != null) writer.u32(value);
  for (const { programIndex, accountIndexes, data } of instructions) {
    writer.byte(programIndex);
    writer.byte(accountIndexes.length);
    if (data.length > 0xffff) throw new RangeError("instruction data is longer than 65535 bytes");
    writer.byte(data.length & 0xff);
    writer.byte(data.length >> 8);
  }
  for (const { accountIndexes, data } of instructions) {
    writer.raw(accountIndexes);
    writer.raw(data);
  }
}

function writeLegacyOrV0(writer: Writer, parts: MessageParts): void {
  if (parts.version === 0) writer.byte(0x80);
  writeHeader(writer, parts);
  writer.count(parts.staticKeys.length);
  for (const key of parts.staticKeys) writer.fixed(key, 32);
  writer.fixed(parts.blockhash, 32);
  writer.count(parts.instructions.length);
  for (const { programIndex, accountIndexes, data } of parts.instructions) {
    writer.byte(programIndex);
    writer.count(accountIndexes.length);
    writer.raw(accountIndexes);
    writer.count(data.length);
    writer.raw(data);
  }
  if (parts.version === "legacy") return;
  const lookups = parts.lookups ?? [];
  writer.count(lookups.length);
  for (const { tableBytes, writableIndexes, readonlyIndexes } of lookups) {
    writer.fixed(tableBytes, 32);
    writer.count(writableIndexes.length);
    writer.raw(writableIndexes);
    writer.count(readonlyIndexes.length);
    writer.raw(readonlyIndexes);
  }
}

/**
 * The canonical bytes of a message: what is signed. It writes what it is given, whether or not a node would accept it
 * (`parseMessage` tells), and throws RangeError only for what the format cannot hold.
 */
export function encodeMessage(parts: MessageParts): Uint8Array {
  const writer = new Writer(messageSize(parts));
  if (parts.version === 1) writeV1(writer, parts);
  else writeLegacyOrV0(writer, parts);
  return writer.bytes;
}

/** The canonical wire bytes of a transaction: signatures of 64 bytes and a message, in the order of its version. */
export function encodeTransaction(parts: {
  readonly signatures: readonly Uint8Array[];
  readonly message: MessageParts | Uint8Array;
}): Uint8Array {
  const message = parts.message instanceof Uint8Array ? parts.message : encodeMessage(parts.message);
  const messageFirst = message[0] === 0x81;
  const { signatures } = parts;
  const prefix = messageFirst ? 0 : shortVecSize(signatures.length);
  const writer = new Writer(prefix + signatures.length * 64 + message.length);
  if (messageFirst) writer.raw(message);
  else writer.count(signatures.length);
  for (const signature of signatures) writer.fixed(signature, 64);
  if (!messageFirst) writer.raw(message);
  return writer.bytes;
}
