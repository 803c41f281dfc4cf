/**
 * programs: three programs that run in the chain's virtual machine like any other: pools, a marketplace and a stand-in
 * for Token Metadata, with the assembler that makes their ELF files. They are fed by transactions alone; genesis
 * deploys them and lays out their accounts, and traffic calls them. README.md lists their accounts, instructions and
 * errors.
 */
import { AmmWriter } from "./amm/amm-writer.ts";
import { ammProgram } from "./amm/layout.ts";
import { deposit, withdraw } from "./amm/liquidity.ts";
import { swapBaseInput, swapBaseOutput } from "./amm/swap.ts";
import { marketplaceProgram } from "./marketplace/layout.ts";
import { buy, delist, list, MarketplaceWriter } from "./marketplace/program.ts";
import { createMetadata } from "./metaplex/create-metadata.ts";
import { burnNft, createMasterEdition, verifyCollection } from "./metaplex/editions.ts";
import { metadataProgramAddress, metadataTags } from "./metaplex/layout.ts";
import { MetadataWriter } from "./metaplex/metadata-writer.ts";
import { assembleProgram } from "./program-writer.ts";
import { instructionTag } from "./runtime.ts";

export { ammProgram, authoritySeed, encodeConfig, encodePool, observationBytes } from "./amm/layout.ts";
export {
  encodeListing,
  listingAddress,
  listingOffsets,
  listingSeed,
  marketplaceProgram,
} from "./marketplace/layout.ts";
export {
  editionAddress,
  encodeMasterEdition,
  encodeMetadata,
  type MetadataParts,
  metadataAddress,
  metadataProgramAddress,
  metadataTags,
  nameBytes,
  symbolBytes,
  tokenStandard,
  uriBytes,
} from "./metaplex/layout.ts";
export { instructionTag } from "./runtime.ts";

export interface AssembledProgram {
  readonly name: string;
  readonly address: string;
  readonly elf: Uint8Array;
}

let assembled: readonly AssembledProgram[] | null = null;

/** The programs of this folder. They are the same every time, so they are assembled once in a process. */
export function assembledPrograms(): readonly AssembledProgram[] {
  assembled ??= [
    { name: "pools", address: ammProgram, elf: pools() },
    { name: "marketplace", address: marketplaceProgram, elf: marketplace() },
    { name: "token metadata", address: metadataProgramAddress, elf: tokenMetadata() },
  ];
  return assembled;
}

function pools(): Uint8Array {
  return assembleProgram(new AmmWriter(), {
    dataBytesMin: 24,
    instructions: [
      [instructionTag("swap_base_input"), swapBaseInput],
      [instructionTag("swap_base_output"), swapBaseOutput],
      [instructionTag("deposit"), deposit],
      [instructionTag("withdraw"), withdraw],
    ],
  });
}

function marketplace(): Uint8Array {
  return assembleProgram(new MarketplaceWriter(), {
    dataBytesMin: 8,
    instructions: [
      [instructionTag("list_legacy"), list],
      [instructionTag("delist_legacy"), delist],
      [instructionTag("buy_legacy"), buy],
    ],
  });
}

function tokenMetadata(): Uint8Array {
  return assembleProgram(new MetadataWriter(), {
    dataBytesMin: 1,
    instructions: [
      [Uint8Array.of(metadataTags.createMetadata), createMetadata],
      [Uint8Array.of(metadataTags.createMasterEdition), createMasterEdition],
      [Uint8Array.of(metadataTags.verifyCollection), verifyCollection],
      [Uint8Array.of(metadataTags.burnNft), burnNft],
    ],
  });
}
