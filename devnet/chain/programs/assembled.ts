import { AMM_PROGRAM } from "./amm/layout.ts";
import { assembleAmm } from "./amm/program.ts";

export interface AssembledProgram {
  readonly name: string;
  readonly address: string;
  readonly elf: Uint8Array;
}

let assembled: readonly AssembledProgram[] | null = null;

/** The programs of this folder. They are the same every time, so they are assembled once in a process. */
export function assembledPrograms(): readonly AssembledProgram[] {
  assembled ??= [{ name: "pools", address: AMM_PROGRAM, elf: assembleAmm() }];
  return assembled;
}
