import type { ProgramWriter } from "./program-writer.ts";
import { runtimeErrors } from "./runtime.ts";
import { instructionTag, tagNumber } from "./tags.ts";

/**
 * The body of a program whose instructions begin with Anchor's tags: jumps to the one that the call names and succeeds after
 * it; any other data, or fewer than `dataBytesMin`, is InvalidInstructionData.
 */
export function writeTagged<Program extends { readonly writer: ProgramWriter }>(
  program: Program,
  dataBytesMin: number,
  instructions: readonly (readonly [name: string, write: (program: Program) => void])[],
): Uint8Array {
  const { writer } = program;
  const { asm } = writer;
  const parts = instructions.map(([name, write]) => ({ name, write, label: asm.label(name) }));
  writer.requireData(dataBytesMin);
  writer.data("r1");
  asm.load(8, "r2", "r1");
  for (const { name, label } of parts) {
    asm.wide("r3", tagNumber(instructionTag(name)));
    asm.branch("eq", "r2", "r3", label);
  }
  asm.jump(writer.failure(runtimeErrors.invalidInstructionData));
  for (const { write, label } of parts) {
    asm.place(label);
    write(program);
    writer.succeed();
  }
  return writer.finish();
}
