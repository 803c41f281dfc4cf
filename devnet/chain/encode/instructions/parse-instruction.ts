import { Unparsable } from "../byte-cursor.ts";
import type { JsonObject, JsonValue } from "../json.ts";
import { parseLookupTableInstruction } from "./address-lookup-table.ts";
import { parseAssociatedTokenInstruction } from "./associated-token.ts";
import { parseBpfLoaderInstruction } from "./bpf-loader.ts";
import { parseUpgradeableLoaderInstruction } from "./bpf-upgradeable-loader.ts";
import { parseMemoInstruction } from "./memo.ts";
import { parseStakeInstruction } from "./stake.ts";
import { parseSystemInstruction } from "./system.ts";
import { parseTokenInstruction } from "./token.ts";
import { parseVoteInstruction } from "./vote.ts";

/** An instruction with its accounts named. */
export interface NamedInstruction {
  readonly programId: string;
  readonly accounts: readonly string[];
  readonly data: Uint8Array;
}

/** What a parser tells of an instruction; memo alone answers with a plain string. */
export type ParsedInstruction = string | { readonly type: string; readonly info?: JsonObject };

/** Reads one program's instructions; throws `Unparsable` when data or accounts do not fit. */
export type InstructionParser = (instruction: NamedInstruction) => ParsedInstruction;

interface KnownProgram {
  readonly program: string;
  readonly parse: InstructionParser;
}

const MEMO: KnownProgram = { program: "spl-memo", parse: parseMemoInstruction };
const TOKEN: KnownProgram = { program: "spl-token", parse: parseTokenInstruction };

/** The programs whose instructions a node presents. Token-2022 goes under the name of the first token program. */
const PROGRAMS: ReadonlyMap<string, KnownProgram> = new Map([
  ["11111111111111111111111111111111", { program: "system", parse: parseSystemInstruction }],
  [
    "AddressLookupTab1e1111111111111111111111111",
    { program: "address-lookup-table", parse: parseLookupTableInstruction },
  ],
  [
    "ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL",
    { program: "spl-associated-token-account", parse: parseAssociatedTokenInstruction },
  ],
  ["BPFLoader2111111111111111111111111111111111", { program: "bpf-loader", parse: parseBpfLoaderInstruction }],
  [
    "BPFLoaderUpgradeab1e11111111111111111111111",
    { program: "bpf-upgradeable-loader", parse: parseUpgradeableLoaderInstruction },
  ],
  ["Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo", MEMO],
  ["MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr", MEMO],
  ["Stake11111111111111111111111111111111111111", { program: "stake", parse: parseStakeInstruction }],
  ["TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA", TOKEN],
  ["TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb", TOKEN],
  ["Vote111111111111111111111111111111111111111", { program: "vote", parse: parseVoteInstruction }],
]);

/**
 * The `program` and `parsed` members of an instruction, or null where it is only partially decoded: a program that is
 * not known, an instruction that does not fit, or one without accounts (which only a memo may be).
 */
export function parseInstruction(
  instruction: NamedInstruction,
): { readonly program: string; readonly parsed: JsonValue } | null {
  const known = PROGRAMS.get(instruction.programId);
  if (known === undefined || (instruction.accounts.length === 0 && known !== MEMO)) return null;
  try {
    return { program: known.program, parsed: known.parse(instruction) };
  } catch (error) {
    if (error instanceof Unparsable) return null;
    throw error;
  }
}
