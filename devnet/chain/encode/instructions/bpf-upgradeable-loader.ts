import { ByteCursor, Unparsable } from "../byte-cursor.ts";
import { writtenBytes } from "./bpf-loader.ts";
import { nameAccounts } from "./named-accounts.ts";
import type { NamedInstruction, ParsedInstruction } from "./named-instruction.ts";

const DEPLOY_ACCOUNTS = [
  "payerAccount",
  "programDataAccount",
  "programAccount",
  "bufferAccount",
  "rentSysvar",
  "clockSysvar",
  "systemProgram",
  "authority",
];
const UPGRADE_ACCOUNTS = [
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
  const data = new ByteCursor(instruction.data);
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
      return { type: "deployWithMaxDataLen", info: { maxDataLen: data.u64(), ...named(...DEPLOY_ACCOUNTS) } };
    case 3:
      return { type: "upgrade", info: named(...UPGRADE_ACCOUNTS) };
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
      throw new Unparsable("The upgradeable loader instruction is unknown.");
  }
}
