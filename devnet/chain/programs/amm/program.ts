import { writeTagged } from "../tagged-instructions.ts";
import { AmmWriter } from "./amm-writer.ts";
import { deposit, withdraw } from "./liquidity.ts";
import { swapBaseInput, swapBaseOutput } from "./swap.ts";

/** The pool program as an ELF file: swaps in both directions by what goes in or what comes out, deposits, withdrawals. */
export function assembleAmm(): Uint8Array {
  return writeTagged(new AmmWriter(), 24, [
    ["swap_base_input", swapBaseInput],
    ["swap_base_output", swapBaseOutput],
    ["deposit", deposit],
    ["withdraw", withdraw],
  ]);
}
