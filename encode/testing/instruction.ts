import type { Instruction } from "@solana/kit";
import type { Transaction, TransactionInstruction } from "@solana/web3.js";
import { parseInstruction } from "../instructions/parse-instruction.ts";

/** What an instruction of web3.js or spl-token is presented as. */
export function parsedOf(built: TransactionInstruction | Transaction): unknown {
  const instruction = "instructions" in built ? built.instructions.at(-1) : built;
  if (instruction === undefined) throw new TypeError("no instruction");
  const accounts = instruction.keys.map((meta) => meta.pubkey.toBase58());
  return parseInstruction({ programId: instruction.programId.toBase58(), accounts, data: instruction.data });
}

/** What an instruction of a kit client is presented as. */
export function parsedOfKit(built: Instruction): unknown {
  const accounts = (built.accounts ?? []).map((account) => String(account.address));
  return parseInstruction({ programId: built.programAddress, accounts, data: new Uint8Array(built.data ?? []) });
}

/** An instruction of which no library here has an encoder: the parts by hand, numbers little-endian. */
export function parsedOfParts(
  programId: string,
  accounts: readonly string[],
  ...parts: readonly Uint8Array[]
): unknown {
  return parseInstruction({ programId, accounts, data: Buffer.concat(parts) });
}

export function u8(...values: readonly number[]): Uint8Array {
  return Uint8Array.from(values);
}

export function u16(value: number): Uint8Array {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16LE(value);
  return bytes;
}

export function u32(value: number): Uint8Array {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

export function u64(value: bigint): Uint8Array {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(value);
  return bytes;
}

export function i64(value: bigint): Uint8Array {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64LE(value);
  return bytes;
}

export function text64(text: string): Uint8Array {
  return Buffer.concat([u64(BigInt(Buffer.byteLength(text))), Buffer.from(text)]);
}
