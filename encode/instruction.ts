import { encodeBase58 } from "@sluice/wire/base58";
import { parseInstruction } from "./instructions/parse-instruction.ts";
import type { JsonObject } from "./json.ts";
import type { ExecutedInstruction, InnerInstructions } from "./model.ts";

/** The form that names positions in the key list. */
export function compiledInstruction(instruction: ExecutedInstruction): JsonObject {
  return {
    programIdIndex: instruction.programIdIndex,
    accounts: Array.from(instruction.accounts),
    data: encodeBase58(instruction.data),
    stackHeight: instruction.stackHeight,
  };
}

/** The form that names programs and accounts: parsed where the program is known, else partially decoded. */
export function namedInstruction(instruction: ExecutedInstruction, keys: readonly string[]): JsonObject {
  const programId = keys[instruction.programIdIndex];
  const accounts: string[] = [];
  for (let at = 0; at < instruction.accounts.length; at += 1) {
    const key = keys[instruction.accounts[at] ?? -1];
    if (key !== undefined) accounts.push(key);
  }
  if (programId === undefined || accounts.length < instruction.accounts.length) return compiledInstruction(instruction);
  const { data, stackHeight } = instruction;
  const known = parseInstruction({ programId, accounts, data });
  if (known === null) return { programId, accounts, data: encodeBase58(data), stackHeight };
  return { program: known.program, programId, parsed: known.parsed, stackHeight };
}

/** Inner instructions by outer instruction; with `keys` in the named form, without in the compiled form. */
export function innerInstructions(groups: readonly InnerInstructions[], keys: readonly string[] | null): JsonObject[] {
  return groups.map(({ index, instructions }) => ({
    index,
    instructions: instructions.map((instruction) =>
      keys === null ? compiledInstruction(instruction) : namedInstruction(instruction, keys),
    ),
  }));
}
