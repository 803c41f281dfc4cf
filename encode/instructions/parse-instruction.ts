import { MalformedBytes } from "@sluice/wire/bytes";
import { programs } from "@sluice/wire/programs";
import type { JsonObject, JsonValue } from "../json.ts";
import { parseLookupTableInstruction } from "./address-lookup-table.ts";
import { parseAssociatedTokenInstruction } from "./associated-token.ts";
import { parseBpfLoaderInstruction, parseUpgradeableLoaderInstruction } from "./bpf-loaders.ts";

import { parseMemoInstruction } from "./memo.ts";
import type { InstructionParser, NamedInstruction } from "./named-instruction.ts";
import { parseStakeInstruction } from "./stake.ts";
import { parseSystemInstruction } from "./system.ts";
import { parseTokenInstruction } from "./token.ts";
import { parseVoteInstruction } from "./vote.ts";

interface KnownProgram {
  readonly program: string;
  readonly parse: InstructionParser;
}

const memoProgram: KnownProgram = { program: "spl-memo", parse: parseMemoInstruction };
const tokenProgram: KnownProgram = { program: "spl-token", parse: parseTokenInstruction };

/** The programs whose instructions a node presents. Token-2022 goes under the name of the first token program. */
const knownPrograms: ReadonlyMap<string, KnownProgram> = new Map<string, KnownProgram>([
  [programs.system, { program: "system", parse: parseSystemInstruction }],
  [programs.addressLookupTable, { program: "address-lookup-table", parse: parseLookupTableInstruction }],
  [programs.associatedToken, { program: "spl-associated-token-account", parse: parseAssociatedTokenInstruction }],
  [programs.bpfLoader, { program: "bpf-loader", parse: parseBpfLoaderInstruction }],
  [programs.bpfLoaderUpgradeable, { program: "bpf-upgradeable-loader", parse: parseUpgradeableLoaderInstruction }],
  [programs.memoV1, memoProgram],
  [programs.memo, memoProgram],
  [programs.stake, { program: "stake", parse: parseStakeInstruction }],
  [programs.token, tokenProgram],
  [programs.token2022, tokenProgram],
  [programs.vote, { program: "vote", parse: parseVoteInstruction }],
]);

/**
 * The `program` and `parsed` members of an instruction, or null where it is only partially decoded: a program that is
 * not known, an instruction that does not fit, or one without accounts (which only a memo may be).
 */
export function parseInstruction(
  instruction: NamedInstruction,
): { readonly program: string; readonly parsed: JsonValue } | null {
  const known = knownPrograms.get(instruction.programId);
  if (known === undefined || (instruction.accounts.length === 0 && known !== memoProgram)) return null;
  try {
    return { program: known.program, parsed: known.parse(instruction) };
  } catch (error) {
    if (error instanceof MalformedBytes) return null;
    throw error;
  }
}

/**
 * The name of an instruction of a program that nodes know: the type of its parsed form, `memo` for a memo. Null for any
 * other.
 */
export function instructionName(instruction: NamedInstruction): string | null {
  const known = parseInstruction(instruction);
  if (known === null) return null;
  const { parsed } = known;
  if (typeof parsed === "string") return "memo";
  const type =
    typeof parsed === "object" && parsed !== null && !Array.isArray(parsed) ? (parsed as JsonObject)["type"] : null;
  return typeof type === "string" ? type : null;
}
