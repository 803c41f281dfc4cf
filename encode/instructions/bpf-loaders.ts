import { ByteReader, MalformedBytes } from "@sluice/wire/bytes";
import { type NamedInstruction, nameAccounts, type ParsedInstruction, requireAccounts } from "./named-instruction.ts";

/** A `write`'s offset in the program and its bytes as base64. */
export function writtenBytes(data: ByteReader): { readonly offset: number; readonly bytes: string } {
  const offset = data.u32();
  const length = data.u64();
  if (length > BigInt(data.remaining)) throw new MalformedBytes("The bytes to write are cut short.");
  return { offset, bytes: Buffer.from(data.bytes(Number(length))).toString("base64") };
}

/** Presents an instruction of the loader whose programs cannot be upgraded. */
export function parseBpfLoaderInstruction(instruction: NamedInstruction): ParsedInstruction {
  const data = new ByteReader(instruction.data);
  switch (data.u32()) {
    case 0:
      return { type: "write", info: { ...writtenBytes(data), ...nameAccounts(instruction, "account") } };
    case 1:
      requireAccounts(instruction, 2);
      return { type: "finalize", info: nameAccounts(instruction, "account") };
    default:
      throw new MalformedBytes("The loader instruction is unknown.");
  }
}

const deployAccounts = [
  "payerAccount",
  "programDataAccount",
  "programAccount",
  "bufferAccount",
  "rentSysvar",
  "clockSysvar",
  "systemProgram",
  "authority",
];
const upgradeAccounts = [
  "programDataAccount",
  "programAccount",
  "bufferAccount",
  "spillAccount",
  "rentSysvar",
  "clockSysvar",
  "authority",
];

/** Presents an instruction of the upgradeable loader. Accounts that may be missing are null where they are. */
export function parseUpgradeableLoaderInstruction(instruction: NamedInstruction): ParsedInstruction {
  const data = new ByteReader(instruction.data);
  const named = (...names: string[]) => nameAccounts(instruction, ...names);
  const optional = (position: number) => instruction.accounts[position] ?? null;
  switch (data.u32()) {
    case 0: {
      const authority = instruction.accounts.length > 1 ? ["authority"] : [];
      return { type: "initializeBuffer", info: named("account", ...authority) };
    }
    case 1:
      return { type: "write", info: { ...writtenBytes(data), ...named("account", "authority") } };
    case 2:
      return { type: "deployWithMaxDataLen", info: { maxDataLen: data.u64(), ...named(...deployAccounts) } };
    case 3:
      return { type: "upgrade", info: named(...upgradeAccounts) };
    case 4:
      return { type: "setAuthority", info: { ...named("account", "authority"), newAuthority: optional(2) } };
    case 5: {
      const info = { ...named("account", "recipient", "authority"), programAccount: optional(3) };
      return { type: "close", info };
    }
    case 6: {
      const program = { additionalBytes: data.u32(), ...named("programDataAccount", "programAccount") };
      return { type: "extendProgram", info: { ...program, systemProgram: optional(2), payerAccount: optional(3) } };
    }
    case 7:
      return { type: "setAuthorityChecked", info: named("account", "authority", "newAuthority") };
    default:
      throw new MalformedBytes("The upgradeable loader instruction is unknown.");
  }
}
