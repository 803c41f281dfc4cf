import { readU32, readU64 } from "../bytes.ts";
import { type Address, addressOfBytes, type Signature, signatureOfBytes } from "../identifiers.ts";

/** The format of a message: legacy, 0 (with lookup tables) or 1 (SIMD-0385). */
export type TransactionVersion = "legacy" | 0 | 1;

/** Indexes into the keys and the data of one instruction; both arrays are views of the transaction's own bytes. */
export interface Instruction {
  readonly programIndex: number;
  readonly accountIndexes: Uint8Array;
  readonly data: Uint8Array;
}

/** A use of an address lookup table; the index arrays are views of the transaction's own bytes. */
export interface AddressLookup {
  readonly table: Address;
  readonly tableBytes: Uint8Array;
  readonly writableIndexes: Uint8Array;
  readonly readonlyIndexes: Uint8Array;
}

/** What a v1 transaction requests of the runtime; null when absent. Bytes and compute units; the fee is in lamports. */
export interface TransactionConfig {
  readonly priorityFeeLamports: bigint | null;
  readonly computeUnitLimit: number | null;
  readonly loadedAccountsDataSizeLimit: number | null;
  readonly heapSize: number | null;
}

/** Where the parts of a message lie; made by the parser, which has checked every offset and count in it. */
export interface MessageLayout {
  version: TransactionVersion;
  start: number;
  end: number;
  signers: number;
  readonlySigners: number;
  readonlyNonSigners: number;
  keyCount: number;
  keysStart: number;
  blockhashStart: number;
  configMask: number;
  configStart: number;
  /** Five numbers each: program index, start and length of the accounts, start and length of the data. */
  instructions: number[];
  /** Five numbers each: start of the table's key, start and length of the writable and of the readonly indexes. */
  lookups: number[];
  writableLookups: number;
  readonlyLookups: number;
}

const noConfig: TransactionConfig = {
  priorityFeeLamports: null,
  computeUnitLimit: null,
  loadedAccountsDataSizeLimit: null,
  heapSize: null,
};

/**
 * A message that passed the strict parser. It holds the bytes it was parsed from and offsets into them; views and
 * base58 texts are encoded on request, since most transactions pass through with two or three of them read.
 */
export class Message {
  readonly version: TransactionVersion;
  readonly #source: Uint8Array;
  readonly #layout: MessageLayout;
  #addresses: (Address | undefined)[] | undefined;
  #instructions: readonly Instruction[] | undefined;
  #lookups: readonly AddressLookup[] | undefined;
  #blockhash: Address | undefined;

  constructor(source: Uint8Array, layout: MessageLayout) {
    this.version = layout.version;
    this.#source = source;
    this.#layout = layout;
  }

  /** The signed bytes, as a view. */
  get bytes(): Uint8Array {
    return this.#source.subarray(this.#layout.start, this.#layout.end);
  }

  /** Offset of the signed bytes in what was parsed. */
  get start(): number {
    return this.#layout.start;
  }

  /** Offset after the signed bytes in what was parsed. */
  get end(): number {
    return this.#layout.end;
  }

  get numRequiredSignatures(): number {
    return this.#layout.signers;
  }

  get numReadonlySignedAccounts(): number {
    return this.#layout.readonlySigners;
  }

  get numReadonlyUnsignedAccounts(): number {
    return this.#layout.readonlyNonSigners;
  }

  /** Keys that are in the message itself. */
  get staticKeyCount(): number {
    return this.#layout.keyCount;
  }

  /** Static keys and those that lookup tables add: the range of an instruction's account indexes. */
  get totalKeyCount(): number {
    return this.#layout.keyCount + this.#layout.writableLookups + this.#layout.readonlyLookups;
  }

  /** The 32 bytes of a static key, as a view. @throws {RangeError} when there is no such key */
  keyBytes(index: number): Uint8Array {
    const { keyCount, keysStart } = this.#layout;
    if (!(index >= 0 && index < keyCount)) throw new RangeError(`no static key ${index} of ${keyCount}`);
    const start = keysStart + index * 32;
    return this.#source.subarray(start, start + 32);
  }

  /** All static keys, 32 bytes each one after the other, as a view. */
  get staticKeyBytes(): Uint8Array {
    const { keyCount, keysStart } = this.#layout;
    return this.#source.subarray(keysStart, keysStart + keyCount * 32);
  }

  /** A static key as text, encoded once. @throws {RangeError} when there is no such key */
  address(index: number): Address {
    this.#addresses ??= [];
    const known = this.#addresses[index];
    if (known !== undefined) return known;
    const address = addressOfBytes(this.keyBytes(index));
    this.#addresses[index] = address;
    return address;
  }

  /** All static keys as text. */
  get staticAddresses(): readonly Address[] {
    return Array.from({ length: this.#layout.keyCount }, (_, index) => this.address(index));
  }

  get feePayer(): Address {
    return this.address(0);
  }

  /** The 32 bytes of the recent blockhash (or durable nonce), as a view. */
  get blockhashBytes(): Uint8Array {
    const start = this.#layout.blockhashStart;
    return this.#source.subarray(start, start + 32);
  }

  /** The same as text, made once. */
  get blockhash(): Address {
    this.#blockhash ??= addressOfBytes(this.blockhashBytes);
    return this.#blockhash;
  }

  /** Whether the key at this index signs. Keys from lookup tables never do. */
  isSigner(index: number): boolean {
    return index >= 0 && index < this.#layout.signers;
  }

  /**
   * Whether the message asks to write the key at this index, over static keys, then writable, then readonly lookups.
   * The runtime demotes some of these (sysvars, programs that are called); that is the chain's rule and not the
   * message's.
   */
  isWritable(index: number): boolean {
    const { signers, readonlySigners, readonlyNonSigners, keyCount, writableLookups } = this.#layout;
    if (index < 0) return false;
    if (index < signers) return index < signers - readonlySigners;
    if (index < keyCount) return index < keyCount - readonlyNonSigners;
    return index < keyCount + writableLookups;
  }

  get instructions(): readonly Instruction[] {
    if (this.#instructions !== undefined) return this.#instructions;
    const offsets = this.#layout.instructions;
    const instructions: Instruction[] = [];
    for (let at = 0; at < offsets.length; at += 5) {
      instructions.push({
        programIndex: offsets[at] ?? 0,
        accountIndexes: this.#view(offsets[at + 1], offsets[at + 2]),
        data: this.#view(offsets[at + 3], offsets[at + 4]),
      });
    }
    this.#instructions = instructions;
    return instructions;
  }

  get instructionCount(): number {
    return this.#layout.instructions.length / 5;
  }

  /** Uses of lookup tables, in order; always empty but in v0. */
  get lookups(): readonly AddressLookup[] {
    if (this.#lookups !== undefined) return this.#lookups;
    const offsets = this.#layout.lookups;
    const lookups: AddressLookup[] = [];
    for (let at = 0; at < offsets.length; at += 5) {
      const tableBytes = this.#view(offsets[at], 32);
      lookups.push({
        table: addressOfBytes(tableBytes),
        tableBytes,
        writableIndexes: this.#view(offsets[at + 1], offsets[at + 2]),
        readonlyIndexes: this.#view(offsets[at + 3], offsets[at + 4]),
      });
    }
    this.#lookups = lookups;
    return lookups;
  }

  /** A v1 message's own configuration; all null in other versions, which use Compute Budget instructions. */
  get config(): TransactionConfig {
    const { configMask: mask, configStart } = this.#layout;
    if (mask === 0) return noConfig;
    const source = this.#source;
    let at = configStart;
    const take = (present: boolean, width: number): number => {
      const start = at;
      if (present) at += width;
      return start;
    };
    const feeAt = take((mask & 3) !== 0, 8);
    const unitsAt = take((mask & 4) !== 0, 4);
    const sizeAt = take((mask & 8) !== 0, 4);
    return {
      priorityFeeLamports: (mask & 3) === 0 ? null : readU64(source, feeAt),
      computeUnitLimit: (mask & 4) === 0 ? null : readU32(source, unitsAt),
      loadedAccountsDataSizeLimit: (mask & 8) === 0 ? null : readU32(source, sizeAt),
      heapSize: (mask & 16) === 0 ? null : readU32(source, at),
    };
  }

  #view(start: number | undefined, length: number | undefined): Uint8Array {
    return this.#source.subarray(start ?? 0, (start ?? 0) + (length ?? 0));
  }
}

/** A transaction that passed the strict parser: its message and where its signatures lie. */
export class Transaction {
  /** The canonical wire bytes, which are exactly what was parsed. */
  readonly bytes: Uint8Array;
  readonly message: Message;
  /** Offset of the first signature; the others follow, 64 bytes each. */
  readonly signaturesStart: number;
  #id: Signature | undefined;

  constructor(bytes: Uint8Array, message: Message, signaturesStart: number) {
    this.bytes = bytes;
    this.message = message;
    this.signaturesStart = signaturesStart;
  }

  get signatureCount(): number {
    return this.message.numRequiredSignatures;
  }

  /** The 64 bytes of a signature, as a view. @throws {RangeError} when there is no such signature */
  signatureBytes(index: number): Uint8Array {
    if (!(index >= 0 && index < this.signatureCount)) throw new RangeError(`no signature ${index}`);
    const start = this.signaturesStart + index * 64;
    return this.bytes.subarray(start, start + 64);
  }

  /** All signatures as text, in the order of their keys. */
  get signatures(): readonly Signature[] {
    return Array.from({ length: this.signatureCount }, (_, index) => signatureOfBytes(this.signatureBytes(index)));
  }

  /** The first signature as text, made once: the transaction's id. */
  get id(): Signature {
    this.#id ??= signatureOfBytes(this.signatureBytes(0));
    return this.#id;
  }
}
