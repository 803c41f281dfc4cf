import { runtimeErrors } from "../runtime.ts";
import { burnNft } from "./burn.ts";
import { createMetadata } from "./create-metadata.ts";
import { createMasterEdition } from "./master-edition.ts";
import { MetadataWriter } from "./metadata-writer.ts";
import { metadataTags } from "./tags.ts";
import { verifyCollection } from "./verify-collection.ts";

/** A stand-in for the Token Metadata program as an ELF file: the instructions by which simple tokens of one unit live. */
export function assembleMetadata(): Uint8Array {
  const program = new MetadataWriter();
  const { writer } = program;
  const { asm } = writer;
  const instructions = [
    [metadataTags.createMetadata, createMetadata],
    [metadataTags.createMasterEdition, createMasterEdition],
    [metadataTags.verifyCollection, verifyCollection],
    [metadataTags.burnNft, burnNft],
  ] as const;
  const parts = instructions.map(([tag, write]) => ({ tag, write, label: asm.label(`tag ${tag}`) }));
  writer.requireData(1);
  writer.data("r1");
  asm.load(1, "r2", "r1");
  for (const { tag, label } of parts) asm.branch("eq", "r2", tag, label);
  asm.jump(writer.failure(runtimeErrors.invalidInstructionData));
  for (const { write, label } of parts) {
    asm.place(label);
    write(program);
    writer.succeed();
  }
  return writer.finish();
}
