import { ByteReader } from "@sluice/wire/bytes";
import type { NamedInstruction, ParsedInstruction } from "./named-instruction.ts";

/** A memo is its text, when the data are UTF-8. */
export function parseMemoInstruction(instruction: NamedInstruction): ParsedInstruction {
  return new ByteReader(instruction.data).text(instruction.data.length);
}
