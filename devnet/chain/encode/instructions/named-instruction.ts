import type { JsonObject } from "../json.ts";

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
