import { MalformedBytes } from "@sluice/wire/bytes";
import { type NamedInstruction, nameAccounts, type ParsedInstruction } from "./named-instruction.ts";

const createAccounts = ["source", "account", "wallet", "mint", "systemProgram", "tokenProgram"];
const recoverAccounts = [
  "nestedSource",
  "nestedMint",
  "destination",
  "nestedOwner",
  "ownerMint",
  "wallet",
  "tokenProgram",
];

/** Presents an instruction of the Associated Token Account program; empty data mean `create`, its first form. */
export function parseAssociatedTokenInstruction(instruction: NamedInstruction): ParsedInstruction {
  const { data } = instruction;
  const variant = data.length === 0 ? 0 : data.length === 1 ? data[0] : undefined;
  switch (variant) {
    case 0:
      return { type: "create", info: nameAccounts(instruction, ...createAccounts) };
    case 1:
      return { type: "createIdempotent", info: nameAccounts(instruction, ...createAccounts) };
    case 2:
      return { type: "recoverNested", info: nameAccounts(instruction, ...recoverAccounts) };
    default:
      throw new MalformedBytes("The associated token instruction is unknown.");
  }
}
