import { RUNTIME_ERRORS } from "../runtime.ts";
import { instructionTag, tagNumber } from "../tags.ts";
import { AmmWriter } from "./amm-writer.ts";
import { deposit, withdraw } from "./liquidity.ts";
import { swapBaseInput, swapBaseOutput } from "./swap.ts";

/** The pool program as an ELF file: swaps in both directions by what goes in or what comes out, deposits, withdrawals. */
export function assembleAmm(): Uint8Array {
  const amm = new AmmWriter();
  const { writer } = amm;
  const { asm } = writer;
  const instructions = [
    ["swap_base_input", swapBaseInput],
    ["swap_base_output", swapBaseOutput],
    ["deposit", deposit],
    ["withdraw", withdraw],
  ] as const;
  const parts = instructions.map(([name, write]) => ({ name, write, label: asm.label(name) }));
  writer.requireData(24);
  writer.data("r1");
  asm.load(8, "r2", "r1");
  for (const { name, label } of parts) {
    asm.wide("r3", tagNumber(instructionTag(name)));
    asm.branch("eq", "r2", "r3", label);
  }
  asm.jump(writer.failure(RUNTIME_ERRORS.invalidInstructionData));
  for (const { write, label } of parts) {
    asm.place(label);
    write(amm);
    writer.succeed();
  }
  return writer.finish();
}
