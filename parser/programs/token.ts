import { programs } from "@sluice/wire/programs";
import { tokenInstructions } from "../neutral/token-calls.ts";
import { type Deed, type Instruction, type ProgramParser, parserOf } from "../program.ts";
import type { Call } from "../transaction-view.ts";

const instructions: readonly Instruction[] = [
  { tag: "00", name: "initializeMint", does: "helper" },
  { tag: "01", name: "initializeAccount", does: "helper" },
  { tag: "02", name: "initializeMultisig", does: "helper" },
  { tag: "03", name: "transfer", does: "transfer" },
  { tag: "04", name: "approve", does: "helper" },
  { tag: "05", name: "revoke", does: "helper" },
  { tag: "06", name: "setAuthority", does: "helper" },
  { tag: "07", name: "mintTo", does: "helper" },
  { tag: "08", name: "burn", does: "helper" },
  { tag: "09", name: "closeAccount", does: "close_account" },
  { tag: "0a", name: "freezeAccount", does: "helper" },
  { tag: "0b", name: "thawAccount", does: "helper" },
  { tag: "0c", name: "transferChecked", does: "transfer" },
  { tag: "0d", name: "approveChecked", does: "helper" },
  { tag: "0e", name: "mintToChecked", does: "helper" },
  { tag: "0f", name: "burnChecked", does: "helper" },
  { tag: "10", name: "initializeAccount2", does: "helper" },
  { tag: "11", name: "syncNative", does: "helper" },
  { tag: "12", name: "initializeAccount3", does: "helper" },
  { tag: "13", name: "initializeMultisig2", does: "helper" },
  { tag: "14", name: "initializeMint2", does: "helper" },
  { tag: "15", name: "getAccountDataSize", does: "helper" },
  { tag: "16", name: "initializeImmutableOwner", does: "helper" },
  { tag: "1a", name: "transferFeeExtension", does: "helper" },
  { tag: "2d", name: "unwrapLamports", does: "transfer" },
  { tag: "ff", name: "batch", does: "helper" },
];

const byTag = new Map(instructions.map((instruction) => [Number.parseInt(instruction.tag, 16), instruction]));

/** Decides what the first byte alone does not. */
function decided(instruction: Instruction, data: Uint8Array): Instruction {
  if (instruction.name === "setAuthority") return data[1] === 2 ? { ...instruction, does: "transfer" } : instruction;
  if (instruction.name !== "transferFeeExtension") return instruction;
  return data[1] === 1 ? { ...instruction, name: "transferCheckedWithFee", does: "transfer" } : instruction;
}

/** A batch does what its instructions do: it transfers where one of them does, else closes, else neither. */
function batchDeed(call: Call): Deed {
  const deeds = tokenInstructions(call).map(({ data }) => {
    const packed = byTag.get(data[0] ?? -1);
    return packed === undefined ? "helper" : decided(packed, data).does;
  });
  if (deeds.includes("transfer")) return "transfer";
  return deeds.includes("close_account") ? "close_account" : "helper";
}

/** What calls of a token program move is read by the neutral layer; here they have their names. */
export const token: ProgramParser = parserOf({
  id: programs.token,
  source: "spl_token",
  name: "Token",
  kind: "core",
  instructions,
  decide(instruction, call) {
    return instruction.name === "batch" ? { ...instruction, does: batchDeed(call) } : decided(instruction, call.data);
  },
});

/** Token-2022: the same instructions, and those of extensions, which move nothing but by `transferCheckedWithFee`. */
export const token2022: ProgramParser = {
  ...token,
  id: programs.token2022,
  source: "spl_token_2022",
  name: "Token-2022",
  instructionOf: (call, view) => token.instructionOf(call, view) ?? { tag: "", name: "extension", does: "helper" },
};
