import { Unparsable } from "../byte-cursor.ts";
import type { JsonObject, JsonValue } from "../json.ts";

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

const PARSERS: ReadonlyMap<string, { readonly program: string; readonly parse: InstructionParser }> = new Map([]);

/** The `program` and `parsed` members of an instruction, or null where it is only partially decoded. */
export function parseInstruction(
  instruction: NamedInstruction,
): { readonly program: string; readonly parsed: JsonValue } | null {
  const parser = PARSERS.get(instruction.programId);
  if (parser === undefined) return null;
  try {
    return { program: parser.program, parsed: parser.parse(instruction) };
  } catch (error) {
    if (error instanceof Unparsable) return null;
    throw error;
  }
}
