import { encodeBase58 } from "./base58.ts";
import { ByteCursor, Unparsable } from "./byte-cursor.ts";

/** An instruction as the message holds it: positions in the key list. */
export interface InstructionView {
  readonly programIdIndex: number;
  readonly accounts: readonly number[];
  readonly data: Uint8Array;
}

export interface LookupView {
  readonly accountKey: string;
  readonly writableIndexes: readonly number[];
  readonly readonlyIndexes: readonly number[];
}

/** What the encoders need of a transaction's wire bytes. */
export interface TransactionView {
  readonly version: "legacy" | number;
  readonly signatures: readonly string[];
  readonly header: {
    readonly numRequiredSignatures: number;
    readonly numReadonlySignedAccounts: number;
    readonly numReadonlyUnsignedAccounts: number;
  };
  readonly staticKeys: readonly string[];
  readonly recentBlockhash: string;
  readonly instructions: readonly InstructionView[];
  /** Absent tables and a message without tables are both empty; legacy messages have no such member. */
  readonly lookups: readonly LookupView[];
}

function shortLength(cursor: ByteCursor): number {
  let length = 0;
  for (let shift = 0; shift < 21; shift += 7) {
    const byte = cursor.u8();
    length |= (byte & 0x7f) << shift;
    if (byte < 0x80) return length;
  }
  throw new Unparsable("A length takes more than three bytes.");
}

/** Reads the wire bytes of a legacy or version 0 transaction; throws `Unparsable` on any others. */
export function viewTransaction(bytes: Uint8Array): TransactionView {
  const cursor = new ByteCursor(bytes);
  const signatures = cursor.list(shortLength(cursor), 64, () => encodeBase58(cursor.bytes(64)));
  const first = cursor.u8();
  const version = first < 0x80 ? "legacy" : first & 0x7f;
  if (version !== "legacy" && version !== 0) throw new Unparsable("The message version is unknown.");
  const header = {
    numRequiredSignatures: version === "legacy" ? first : cursor.u8(),
    numReadonlySignedAccounts: cursor.u8(),
    numReadonlyUnsignedAccounts: cursor.u8(),
  };
  const staticKeys = cursor.list(shortLength(cursor), 32, () => cursor.address());
  const recentBlockhash = cursor.address();
  const indexes = () => [...cursor.bytes(shortLength(cursor))];
  const instructions = cursor.list(shortLength(cursor), 3, () => ({
    programIdIndex: cursor.u8(),
    accounts: indexes(),
    data: cursor.bytes(shortLength(cursor)),
  }));
  const lookups =
    version === "legacy"
      ? []
      : cursor.list(shortLength(cursor), 34, () => ({
          accountKey: cursor.address(),
          writableIndexes: indexes(),
          readonlyIndexes: indexes(),
        }));
  cursor.end();
  return { version, signatures, header, staticKeys, recentBlockhash, instructions, lookups };
}
