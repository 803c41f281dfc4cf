import type { ByteReader } from "@sluice/wire/bytes";
import type { FrameWriter } from "@sluice/wire/frames";

/** An account as the chain writes it. u64 values are bigint, addresses base58 text. */
export interface ChainAccount {
  readonly lamports: bigint;
  readonly data: Uint8Array;
  readonly owner: string;
  readonly executable: boolean;
  readonly rentEpoch: bigint;
}

/** An account by bytes alone, as it goes between processes. */
export interface AccountBytes {
  readonly lamports: bigint;
  /** 32 bytes. */
  readonly owner: Uint8Array;
  readonly executable: boolean;
  readonly data: Uint8Array;
  /** `rentExemptEpoch` when absent. */
  readonly rentEpoch?: bigint;
}

/** The JSON form of a TransactionError: a unit variant's name, or one key with its payload. */
export type TransactionErrorJson = string | { readonly [variant: string]: unknown };

/** An instruction that refers to keys by their position in the transaction. */
export interface CompiledInstruction {
  readonly programIdIndex: number;
  readonly accounts: readonly number[];
  readonly data: Uint8Array;
  /** 1 for an outer instruction, 2 for one that it calls, and so on. */
  readonly stackHeight: number;
}

/** The rent epoch that a node writes for every account that pays no rent, which is every account today. */
export const rentExemptEpoch = 0xffff_ffff_ffff_ffffn;

/** The first byte of an account in a frame. Nothing follows `closed` and `builtin`. */
const kinds = { closed: 0, data: 1, executable: 2, builtin: 3 } as const;

/**
 * Writes an account: its kind u8, then lamports u64, rent epoch u64, owner (32), and data with its u32 length. Null is
 * an account that does not exist; `"builtin"` is one that the machine brings itself.
 */
export function writeAccount(writer: FrameWriter, account: AccountBytes | null | "builtin"): void {
  if (account === null) writer.u8(kinds.closed);
  else if (account === "builtin") writer.u8(kinds.builtin);
  else {
    writer
      .u8(account.executable ? kinds.executable : kinds.data)
      .u64(account.lamports)
      .u64(account.rentEpoch ?? rentExemptEpoch)
      .bytes(account.owner)
      .sizedBytes(account.data);
  }
}

/**
 * Reads what `writeAccount` wrote. Owner and data are views that hold as long as the frame.
 * @throws {RangeError} when the frame ends inside the account.
 */
export function readAccount(reader: ByteReader): AccountBytes | null | "builtin" {
  const kind = reader.u8();
  if (kind === kinds.closed) return null;
  if (kind === kinds.builtin) return "builtin";
  const lamports = reader.u64();
  const rentEpoch = reader.u64();
  const owner = reader.bytes(32);
  return { lamports, rentEpoch, owner, data: reader.sizedBytes(), executable: kind === kinds.executable };
}
