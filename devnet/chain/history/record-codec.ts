import { encodeBase58 } from "@sluice/wire/base58";
import { type Message, parseTransaction } from "@sluice/wire/transaction";
import { type ExecutedTransaction, MEMO_PROGRAMS, type TransactionErrorJson } from "../model/index.ts";
import type { NamedAddresses } from "./named-addresses.ts";
import { FAILED, OutcomeCodec, RETURNS } from "./outcome-codec.ts";
import { RecordReader, RecordWriter } from "./record-bytes.ts";
import type { RecordPlace } from "./record-log.ts";
import type { RecordedTransaction } from "./recorded-transaction.ts";

/** The head of a record: flags, keys, static keys, where these and the signature stand, and the length without keys. */
const FLAGS = 0;
const KEYS = 1;
const STATIC_KEYS = 2;
const WRITABLE_LOADED = 3;
const KEYS_START = 4;
const SIGNATURE_START = 6;
const LENGTH = 8;
const HEAD_BYTES = 10;
const ID_BYTES = 4;
const ADDRESS_BYTES = 32;
const SIGNATURE_BYTES = 64;
/** Counts of signers and of readonly keys. */
const MESSAGE_HEADER_BYTES = 3;

const HAS_MEMO = 4;
const IS_VOTE = 8;

function u16(bytes: Uint8Array, at: number): number {
  return (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8);
}

/** Where the signature of a record stands: 64 bytes. */
export function signatureAt({ bytes, start }: RecordPlace): number {
  return start + HEAD_BYTES + (bytes[start + KEYS] ?? 0) * ID_BYTES + u16(bytes, start + SIGNATURE_START);
}

/** The ids of the addresses that a record names. */
export function* idsOf({ bytes, start }: RecordPlace): Generator<number> {
  const count = bytes[start + KEYS] ?? 0;
  for (let key = 0; key < count; key += 1) {
    const at = start + HEAD_BYTES + key * ID_BYTES;
    yield (u16(bytes, at) | (u16(bytes, at + 2) << 16)) >>> 0;
  }
}

/** What can be told of a record without reading all of it. */
export interface RecordSummary {
  readonly signature: string;
  readonly error: TransactionErrorJson | null;
  /** Whether an instruction of the transaction itself calls a memo program. */
  readonly hasMemo: boolean;
}

/** Where the static keys stand. A view of small bytes costs more than all the rest, so that only version 1 makes one. */
function keysStartOf(message: Message, bytes: Uint8Array): number {
  if (message.version === 1) return message.keyBytes(0).byteOffset - bytes.byteOffset;
  const countBytes = message.staticKeyCount < 128 ? 1 : 2;
  return message.start + (message.version === 0 ? 1 : 0) + MESSAGE_HEADER_BYTES + countBytes;
}

function hasMemo(message: Message, keys: readonly string[]): boolean {
  if (!keys.some((key) => MEMO_PROGRAMS.has(key))) return false;
  return message.instructions.some(({ programIndex }) => MEMO_PROGRAMS.has(keys[programIndex] ?? ""));
}

/**
 * Transactions as bytes and back. The wire bytes stand in a record without their static keys, which are four bytes each:
 * the id under which NamedAddresses holds them, as it does the loaded ones. What comes again and again is told by a
 * number: log lines and errors by LineDictionary, mints and owners by their place among the keys. A transfer takes about
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
      (executed.error === null ? 0 : FAILED) |
        (executed.returnData === null ? 0 : RETURNS) |
        (hasMemo(message, keys) ? HAS_MEMO : 0) |
        (executed.isVote ? IS_VOTE : 0),
    );
    writer.u8(keys.length);
    writer.u8(count);
    writer.u8(loadedAddresses.writable.length);
    writer.u16(keysStart);
    writer.u16(signaturesStart > keysStart ? signaturesStart - count * ADDRESS_BYTES : signaturesStart);
    writer.u16(bytes.length - count * ADDRESS_BYTES);
    for (let key = 0; key < count; key += 1) {
      writer.u32(this.#addresses.name(bytes, keysStart + key * ADDRESS_BYTES, number));
    }
    for (const loaded of loadedAddresses.writable) writer.u32(this.#addresses.nameText(loaded, number));
    for (const loaded of loadedAddresses.readonly) writer.u32(this.#addresses.nameText(loaded, number));
    writer.bytesWithout(bytes, keysStart, count * ADDRESS_BYTES);
    this.#outcomes.write(recorded, writer);
    return writer.written;
  }

  /** The record's transaction as it was appended. */
  read(place: RecordPlace, slot: bigint, index: number): RecordedTransaction {
    const { bytes, start } = place;
    const flags = bytes[start + FLAGS] ?? 0;
    const count = bytes[start + STATIC_KEYS] ?? 0;
    const keys = Array.from(idsOf(place), (id) => this.#addresses.text(id));
    const loaded = keys.slice(count);
    const writableLoaded = bytes[start + WRITABLE_LOADED] ?? 0;
    const outcome = this.#outcomes.read(new RecordReader(bytes, this.#outcomeAt(place)), keys, flags);
    const { unitPrice, priorityFee, writable, ...told } = outcome;
    const executed: ExecutedTransaction = {
      signature: encodeBase58(this.#signature(place)),
      slot,
      index,
      bytes: this.#wireBytes(place),
      loadedAddresses: { writable: loaded.slice(0, writableLoaded), readonly: loaded.slice(writableLoaded) },
      isVote: (flags & IS_VOTE) !== 0,
      ...told,
    };
    return { executed, keys, writable, unitPrice, priorityFee };
  }

  summary(place: RecordPlace): RecordSummary {
    const { bytes, start } = place;
    const flags = bytes[start + FLAGS] ?? 0;
    const error =
      (flags & FAILED) === 0
        ? null
        : this.#outcomes.readError(new RecordReader(bytes, this.#outcomeAt(place)), bytes[start + KEYS] ?? 0);
    return { signature: encodeBase58(this.#signature(place)), error, hasMemo: (flags & HAS_MEMO) !== 0 };
  }

  /** The price of a unit, if the transaction is no vote and locks all these addresses for writing; else null. */
  unitPrice(place: RecordPlace, ids: readonly number[]): bigint | null {
    if (((place.bytes[place.start + FLAGS] ?? 0) & IS_VOTE) !== 0) return null;
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
    return start + HEAD_BYTES + (bytes[start + KEYS] ?? 0) * ID_BYTES + u16(bytes, start + LENGTH);
  }

  #signature(place: RecordPlace): Uint8Array {
    const at = signatureAt(place);
    return place.bytes.subarray(at, at + SIGNATURE_BYTES);
  }

  #wireBytes(place: RecordPlace): Uint8Array {
    const { bytes, start } = place;
    const count = bytes[start + STATIC_KEYS] ?? 0;
    const keysStart = u16(bytes, start + KEYS_START);
    const length = u16(bytes, start + LENGTH);
    const from = start + HEAD_BYTES + (bytes[start + KEYS] ?? 0) * ID_BYTES;
    const wire = new Uint8Array(length + count * ADDRESS_BYTES);
    wire.set(bytes.subarray(from, from + keysStart));
    let at = keysStart;
    for (const id of idsOf(place)) {
      if (at === keysStart + count * ADDRESS_BYTES) break;
      wire.set(this.#addresses.bytes(id), at);
      at += ADDRESS_BYTES;
    }
    wire.set(bytes.subarray(from + keysStart, from + length), at);
    return wire;
  }
}
