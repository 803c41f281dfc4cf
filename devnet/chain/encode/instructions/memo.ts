import { ByteCursor } from "../byte-cursor.ts";
import type { NamedInstruction, ParsedInstruction } from "./named-instruction.ts";

/** A memo is its text, when the data are UTF-8. */
export function parseMemoInstruction(instruction: NamedInstruction): ParsedInstruction {
  return new ByteCursor(instruction.data).text(instruction.data.length);
}
