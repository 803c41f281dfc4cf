import { ByteCursor, Unparsable } from "../byte-cursor.ts";
import { nameAccounts, requireAccounts } from "./named-accounts.ts";
import type { NamedInstruction, ParsedInstruction } from "./named-instruction.ts";

/** A `write`'s offset in the program and its bytes as base64. */
export function writtenBytes(data: ByteCursor): { readonly offset: number; readonly bytes: string } {
  const offset = data.u32();
  const length = data.u64();
  if (length > BigInt(data.remaining)) throw new Unparsable("The bytes to write are cut short.");
  return { offset, bytes: Buffer.from(data.bytes(Number(length))).toString("base64") };
}

/** Presents an instruction of the loader whose programs cannot be upgraded. */
export function parseBpfLoaderInstruction(instruction: NamedInstruction): ParsedInstruction {
  const data = new ByteCursor(instruction.data);
  switch (data.u32()) {
    case 0:
      return { type: "write", info: { ...writtenBytes(data), ...nameAccounts(instruction, "account") } };
    case 1:
      requireAccounts(instruction, 2);
      return { type: "finalize", info: nameAccounts(instruction, "account") };
    default:
      throw new Unparsable("The loader instruction is unknown.");
  }
}
