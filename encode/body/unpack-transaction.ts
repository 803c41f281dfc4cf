import { MalformedBytes } from "@sluice/wire/bytes";
import {
  type ConfigParts,
  encodeTransaction,
  type InstructionParts,
  type LookupParts,
  parseTransaction,
  type TransactionVersion,
} from "@sluice/wire/transaction";
import * as fields from "./fields.ts";
import type { FieldReader } from "./protobuf.ts";

const none: Uint8Array = new Uint8Array(0);

/** The first signature of a transaction. @throws {MalformedBytes} when the bytes are not canonical */
export function canonicalTransaction(bytes: Uint8Array): string {
  const parsed = parseTransaction(bytes);
  if (!parsed.ok) throw new MalformedBytes(`a transaction is not canonical: ${parsed.fault} at ${parsed.offset}`);
  return parsed.transaction.id;
}

function readInstruction(reader: FieldReader): InstructionParts {
  const outer = reader.enter();
  let programIndex = 0;
  let accountIndexes = none;
  let data = none;
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === fields.instruction.programIdIndex) programIndex = reader.u32();
    else if (field === fields.instruction.accounts) accountIndexes = reader.bytes();
    else if (field === fields.instruction.data) data = reader.bytes();
    else reader.skip();
  }
  reader.leave(outer);
  return { programIndex, accountIndexes, data };
}

function readLookup(reader: FieldReader): LookupParts {
  const outer = reader.enter();
  let tableBytes = none;
  let writableIndexes = none;
  let readonlyIndexes = none;
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === fields.lookup.accountKey) tableBytes = reader.bytes();
    else if (field === fields.lookup.writable) writableIndexes = reader.bytes();
    else if (field === fields.lookup.readonly) readonlyIndexes = reader.bytes();
    else reader.skip();
  }
  reader.leave(outer);
  return { tableBytes, writableIndexes, readonlyIndexes };
}

function readConfig(reader: FieldReader): ConfigParts {
  const outer = reader.enter();
  let priorityFeeLamports: bigint | null = null;
  let computeUnitLimit: number | null = null;
  let loadedAccountsDataSizeLimit: number | null = null;
  let heapSize: number | null = null;
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === fields.config.priorityFee) priorityFeeLamports = reader.u64();
    else if (field === fields.config.computeUnitLimit) computeUnitLimit = reader.u32();
    else if (field === fields.config.loadedAccountsDataSizeLimit) loadedAccountsDataSizeLimit = reader.u32();
    else if (field === fields.config.heapSize) heapSize = reader.u32();
    else reader.skip();
  }
  reader.leave(outer);
  return { priorityFeeLamports, computeUnitLimit, loadedAccountsDataSizeLimit, heapSize };
}

/** The three counts of a header, in the order of the wire. */
type Header = readonly [signers: number, readonlySigners: number, readonlyOthers: number];

function readHeader(reader: FieldReader): Header {
  const outer = reader.enter();
  let signers = 0;
  let readonlySigners = 0;
  let readonlyOthers = 0;
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === fields.header.signers) signers = reader.u32();
    else if (field === fields.header.readonlySigners) readonlySigners = reader.u32();
    else if (field === fields.header.readonlyOthers) readonlyOthers = reader.u32();
    else reader.skip();
  }
  reader.leave(outer);
  return [signers, readonlySigners, readonlyOthers];
}

class MessageFields {
  #header: Header = [0, 0, 0];
  readonly #staticKeys: Uint8Array[] = [];
  #blockhash: Uint8Array = none;
  readonly #instructions: InstructionParts[] = [];
  #versioned = false;
  readonly #lookups: LookupParts[] = [];
  #config: ConfigParts | null = null;

  read(reader: FieldReader, field: number): void {
    switch (field) {
      case fields.message.header:
        this.#header = readHeader(reader);
        break;
      case fields.message.accountKeys:
        this.#staticKeys.push(reader.bytes());
        break;
      case fields.message.recentBlockhash:
        this.#blockhash = reader.bytes();
        break;
      case fields.message.instructions:
        this.#instructions.push(readInstruction(reader));
        break;
      case fields.message.versioned:
        this.#versioned = reader.flag();
        break;
      case fields.message.lookups:
        this.#lookups.push(readLookup(reader));
        break;
      case fields.message.config:
        this.#config = readConfig(reader);
        break;
      default:
        reader.skip();
    }
  }

  /** @throws {RangeError} when a part does not fit its place */
  encode(signatures: readonly Uint8Array[]): Uint8Array {
    const [numRequiredSignatures, numReadonlySignedAccounts, numReadonlyUnsignedAccounts] = this.#header;
    const version: TransactionVersion = this.#config !== null ? 1 : this.#versioned ? 0 : "legacy";
    return encodeTransaction({
      signatures,
      message: {
        version,
        numRequiredSignatures,
        numReadonlySignedAccounts,
        numReadonlyUnsignedAccounts,
        staticKeys: this.#staticKeys,
        blockhash: this.#blockhash,
        instructions: this.#instructions,
        lookups: this.#lookups,
        ...(this.#config !== null && { config: this.#config }),
      },
    });
  }
}

/** Reads `Transaction` and writes it as it goes over the wire. @throws {MalformedBytes} when it has no such form */
export function readTransactionFields(reader: FieldReader): Uint8Array {
  const outer = reader.enter();
  const signatures: Uint8Array[] = [];
  const message = new MessageFields();
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === fields.transaction.signatures) signatures.push(reader.bytes());
    else if (field === fields.transaction.message) {
      const transaction = reader.enter();
      for (let inner = reader.next(); inner !== 0; inner = reader.next()) message.read(reader, inner);
      reader.leave(transaction);
    } else reader.skip();
  }
  reader.leave(outer);
  try {
    return message.encode(signatures);
  } catch (cause) {
    if (cause instanceof RangeError) throw new MalformedBytes("a transaction does not fit the wire", { cause });
    throw cause;
  }
}
