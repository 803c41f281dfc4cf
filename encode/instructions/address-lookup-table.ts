import { ByteReader, MalformedBytes } from "@sluice/wire/bytes";
import { type NamedInstruction, nameAccounts, type ParsedInstruction } from "./named-instruction.ts";

const tableAccounts = ["lookupTableAccount", "lookupTableAuthority"];

/** Presents an instruction of the Address Lookup Table program. */
export function parseLookupTableInstruction(instruction: NamedInstruction): ParsedInstruction {
  const data = new ByteReader(instruction.data);
  switch (data.u32()) {
    case 0: {
      const accounts = nameAccounts(instruction, ...tableAccounts, "payerAccount", "systemProgram");
      return { type: "createLookupTable", info: { ...accounts, recentSlot: data.u64(), bumpSeed: data.u8() } };
    }
    case 1:
      return { type: "freezeLookupTable", info: nameAccounts(instruction, ...tableAccounts) };
    case 2: {
      const newAddresses = data.list(data.u64(), 32, () => data.address());
      const paid = instruction.accounts.length >= 4 ? ["payerAccount", "systemProgram"] : [];
      const info = { ...nameAccounts(instruction, ...tableAccounts, ...paid), newAddresses };
      return { type: "extendLookupTable", info };
    }
    case 3:
      return { type: "deactivateLookupTable", info: nameAccounts(instruction, ...tableAccounts) };
    case 4:
      return { type: "closeLookupTable", info: nameAccounts(instruction, ...tableAccounts, "recipient") };
    default:
      throw new MalformedBytes("The lookup table instruction is unknown.");
  }
}
