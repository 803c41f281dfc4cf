import { readU32 } from "../little-endian.ts";
import type { Cursor } from "./cursor.ts";
import { transactionLimits } from "./faults.ts";
import type { MessageLayout, TransactionVersion } from "./message.ts";

/** First byte of a v1 message, and of a v1 transaction. */
export const v1Byte = 0x81;
const v0Byte = 0x80;

function emptyLayout(version: TransactionVersion, start: number): MessageLayout {
  return {
    version,
    start,
    end: start,
    signers: 0,
    readonlySigners: 0,
    readonlyNonSigners: 0,
    keyCount: 0,
    keysStart: 0,
    blockhashStart: 0,
    configMask: 0,
    configStart: 0,
    instructions: [],
    lookups: [],
    writableLookups: 0,
    readonlyLookups: 0,
  };
}

function readHeader(cursor: Cursor, layout: MessageLayout): boolean {
  const start = cursor.take(3);
  if (start < 0) return false;
  layout.signers = cursor.bytes[start] ?? 0;
  layout.readonlySigners = cursor.bytes[start + 1] ?? 0;
  layout.readonlyNonSigners = cursor.bytes[start + 2] ?? 0;
  if (layout.signers === 0) return cursor.fail("NO_SIGNERS", start) > 0;
  if (layout.readonlySigners >= layout.signers) return cursor.fail("FEE_PAYER_READONLY", start + 1) > 0;
  return true;
}

/** Checks the header against the number of keys, and that no key is listed twice. */
function readKeys(cursor: Cursor, layout: MessageLayout, countOffset: number): boolean {
  const { keyCount, signers, readonlyNonSigners } = layout;
  if (keyCount > transactionLimits.totalKeys) return cursor.fail("TOO_MANY_KEYS", countOffset) > 0;
  if (signers > keyCount) return cursor.fail("TOO_MANY_SIGNERS", countOffset) > 0;
  if (readonlyNonSigners > keyCount - signers) return cursor.fail("READONLY_OVERLAP", countOffset) > 0;
  const start = cursor.take(keyCount * 32);
  if (start < 0) return false;
  layout.keysStart = start;
  const duplicate = findDuplicateKey(cursor.bytes, start, keyCount);
  return duplicate < 0 || cursor.fail("DUPLICATE_KEY", start + duplicate * 32) > 0;
}

/** One word of each key; scratch space of a synchronous function. */
const keyWords = new Int32Array(transactionLimits.totalKeys);

/**
 * The index of the second of two equal keys, or -1. Words are compared first: at most 2,016 pairs at v1's 64 keys. The
 * word is taken from the middle, since sysvars share their first bytes and built-in programs their last.
 */
function findDuplicateKey(bytes: Uint8Array, start: number, count: number): number {
  for (let i = 0; i < count; i++) {
    const word = readU32(bytes, start + i * 32 + 12) | 0;
    for (let j = 0; j < i; j++) {
      if (keyWords[j] === word && sameKey(bytes, start + i * 32, start + j * 32)) return i;
    }
    keyWords[i] = word;
  }
  return -1;
}

function sameKey(bytes: Uint8Array, left: number, right: number): boolean {
  for (let i = 0; i < 32; i++) if (bytes[left + i] !== bytes[right + i]) return false;
  return true;
}

/** Legacy and v0 instructions: program index, compact-u16 accounts, compact-u16 data. */
function readInstructions(cursor: Cursor, layout: MessageLayout): boolean {
  const count = cursor.count(3);
  for (let i = 0; i < count; i++) {
    const program = cursor.byte();
    const accounts = cursor.count(1);
    const accountsStart = cursor.take(accounts);
    if (accountsStart < 0) return false;
    const data = cursor.count(1);
    const dataStart = cursor.take(data);
    if (dataStart < 0) return false;
    layout.instructions.push(program, accountsStart, accounts, dataStart, data);
  }
  return count >= 0;
}

function readLookups(cursor: Cursor, layout: MessageLayout): boolean {
  const count = cursor.count(34);
  for (let i = 0; i < count; i++) {
    const table = cursor.take(32);
    const writable = cursor.count(1);
    const writableStart = cursor.take(writable);
    if (table < 0 || writableStart < 0) return false;
    const readonly = cursor.count(1);
    const readonlyStart = cursor.take(readonly);
    if (readonlyStart < 0) return false;
    if (writable + readonly === 0) return cursor.fail("EMPTY_LOOKUP", table) > 0;
    layout.lookups.push(table, writableStart, writable, readonlyStart, readonly);
    layout.writableLookups += writable;
    layout.readonlyLookups += readonly;
  }
  if (layout.keyCount + layout.writableLookups + layout.readonlyLookups > transactionLimits.totalKeys) {
    return cursor.fail("TOO_MANY_KEYS", cursor.offset) > 0;
  }
  return count >= 0;
}

/** v1's fixed part, keys, configuration words, instruction headers and payloads (SIMD-0385). */
function readV1(cursor: Cursor, layout: MessageLayout): boolean {
  if (!readHeader(cursor, layout)) return false;
  if (layout.signers > transactionLimits.v1Signatures) {
    return cursor.fail("TOO_MANY_SIGNERS", cursor.offset - 3) > 0;
  }
  const maskStart = cursor.take(4);
  layout.blockhashStart = cursor.take(32);
  const instructions = cursor.byte();
  layout.keyCount = cursor.byte();
  if (layout.keyCount < 0) return false;
  const mask = readU32(cursor.bytes, maskStart);
  if (mask > 31 || (mask & 3) === 1 || (mask & 3) === 2) return cursor.fail("INVALID_CONFIG_MASK", maskStart) > 0;
  if (instructions > transactionLimits.v1Instructions) {
    return cursor.fail("TOO_MANY_INSTRUCTIONS", cursor.offset - 2) > 0;
  }
  if (layout.keyCount > transactionLimits.v1Keys) return cursor.fail("TOO_MANY_KEYS", cursor.offset - 1) > 0;
  if (!readKeys(cursor, layout, cursor.offset - 1)) return false;
  layout.configMask = mask;
  layout.configStart = cursor.take(((mask & 3) === 0 ? 0 : 8) + (mask & 4) + ((mask & 8) >> 1) + ((mask & 16) >> 2));
  if (layout.configStart < 0) return false;
  if ((mask & 16) !== 0) {
    const heapSize = readU32(cursor.bytes, cursor.offset - 4);
    const { v1HeapSizeMin, v1HeapSizeMax } = transactionLimits;
    if (heapSize < v1HeapSizeMin || heapSize > v1HeapSizeMax || heapSize % 1024 !== 0) {
      return cursor.fail("INVALID_HEAP_SIZE", cursor.offset - 4) > 0;
    }
  }
  return readV1Instructions(cursor, layout, instructions);
}

function readV1Instructions(cursor: Cursor, layout: MessageLayout, count: number): boolean {
  const headers = cursor.take(count * 4);
  if (headers < 0) return false;
  const { bytes } = cursor;
  for (let i = 0; i < count; i++) {
    const header = headers + i * 4;
    const accounts = bytes[header + 1] ?? 0;
    const data = (bytes[header + 2] ?? 0) | ((bytes[header + 3] ?? 0) << 8);
    const accountsStart = cursor.take(accounts);
    const dataStart = cursor.take(data);
    if (dataStart < 0) return false;
    layout.instructions.push(bytes[header] ?? 0, accountsStart, accounts, dataStart, data);
  }
  return true;
}

/** Every index of every instruction, once the number of keys is known. */
function checkIndexes(cursor: Cursor, layout: MessageLayout): boolean {
  const { instructions, keyCount } = layout;
  const total = keyCount + layout.writableLookups + layout.readonlyLookups;
  const { bytes } = cursor;
  for (let at = 0; at < instructions.length; at += 5) {
    const program = instructions[at] ?? 0;
    const accountsStart = instructions[at + 1] ?? 0;
    if (program === 0) return cursor.fail("PROGRAM_IS_FEE_PAYER", accountsStart) > 0;
    if (program >= keyCount) return cursor.fail("PROGRAM_INDEX_OUT_OF_RANGE", accountsStart) > 0;
    const accountsEnd = accountsStart + (instructions[at + 2] ?? 0);
    for (let i = accountsStart; i < accountsEnd; i++) {
      if ((bytes[i] ?? 0) >= total) return cursor.fail("ACCOUNT_INDEX_OUT_OF_RANGE", i) > 0;
    }
  }
  return true;
}

/** Reads one message from the cursor and leaves it after the message; null after a fault. */
export function readMessage(cursor: Cursor): MessageLayout | null {
  const start = cursor.offset;
  if (start >= cursor.end) {
    cursor.fail("TRUNCATED", start);
    return null;
  }
  const first = cursor.bytes[start] ?? 0;
  if (first > v1Byte) {
    cursor.fail("UNSUPPORTED_VERSION", start);
    return null;
  }
  const version = first === v1Byte ? 1 : first === v0Byte ? 0 : "legacy";
  const layout = emptyLayout(version, start);
  if (version !== "legacy") cursor.offset++;
  if (version === 1) {
    if (!readV1(cursor, layout)) return null;
  } else {
    if (!readHeader(cursor, layout)) return null;
    const countOffset = cursor.offset;
    layout.keyCount = cursor.count(32);
    if (layout.keyCount < 0 || !readKeys(cursor, layout, countOffset)) return null;
    layout.blockhashStart = cursor.take(32);
    if (layout.blockhashStart < 0 || !readInstructions(cursor, layout)) return null;
    if (version === 0 && !readLookups(cursor, layout)) return null;
  }
  layout.end = cursor.offset;
  return checkIndexes(cursor, layout) ? layout : null;
}
