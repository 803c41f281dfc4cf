import { encodeBase58 } from "@sluice/wire/base58";
import type { CompiledInstruction } from "../model/index.ts";
import { parseInstruction } from "./instructions/parse-instruction.ts";
import type { JsonObject } from "./json.ts";

/** The form that names positions in the key list. */
export function compiledInstruction(instruction: CompiledInstruction): JsonObject {
  return {
    programIdIndex: instruction.programIdIndex,
    accounts: instruction.accounts,
    data: encodeBase58(instruction.data),
    stackHeight: instruction.stackHeight,
  };
}

/** The form that names programs and accounts: parsed where the program is known, else partially decoded. */
export function namedInstruction(instruction: CompiledInstruction, keys: readonly string[]): JsonObject {
  const programId = keys[instruction.programIdIndex];
  const accounts: string[] = [];
  for (const index of instruction.accounts) {
    const key = keys[index];
    if (key !== undefined) accounts.push(key);
  }
  if (programId === undefined || accounts.length < instruction.accounts.length) return compiledInstruction(instruction);
  const { data, stackHeight } = instruction;
  const known = parseInstruction({ programId, accounts, data });
  if (known === null) return { programId, accounts, data: encodeBase58(data), stackHeight };
  return { program: known.program, programId, parsed: known.parsed, stackHeight };
}

export interface InnerInstructionGroup {
  /** Position of the outer instruction. */
  readonly index: number;
  readonly instructions: readonly CompiledInstruction[];
}

/** Inner instructions by outer instruction; with `keys` in the named form, without in the compiled form. */
export function innerInstructions(
  groups: readonly InnerInstructionGroup[],
  keys: readonly string[] | null,
): JsonObject[] {
  return groups.map(({ index, instructions }) => ({
    index,
    instructions: instructions.map((instruction) =>
      keys === null ? compiledInstruction(instruction) : namedInstruction(instruction, keys),
    ),
  }));
}
