import { ammProgram } from "./amm/layout.ts";
import { assembleAmm } from "./amm/program.ts";
import { marketplaceProgram } from "./marketplace/layout.ts";
import { assembleMarketplace } from "./marketplace/program.ts";
import { metadataProgramAddress } from "./metaplex/layout.ts";
import { assembleMetadata } from "./metaplex/program.ts";

export interface AssembledProgram {
  readonly name: string;
  readonly address: string;
  readonly elf: Uint8Array;
}

let assembled: readonly AssembledProgram[] | null = null;

/** The programs of this folder. They are the same every time, so they are assembled once in a process. */
export function assembledPrograms(): readonly AssembledProgram[] {
  assembled ??= [
    { name: "pools", address: ammProgram, elf: assembleAmm() },
    { name: "marketplace", address: marketplaceProgram, elf: assembleMarketplace() },
    { name: "token metadata", address: metadataProgramAddress, elf: assembleMetadata() },
  ];
  return assembled;
}
