import { record } from "../runtime.ts";
import { metadataErrors } from "./layout.ts";
import type { MetadataWriter } from "./metadata-writer.ts";

const at = { metadata: 0, authority: 1, collectionMint: 3, collection: 4 };

/** VerifyCollection (tag 18): the collection's update authority says that an item is of it. */
export function verifyCollection(program: MetadataWriter): void {
  const { writer } = program;
  const { asm } = writer;
  const wrong = writer.failure(metadataErrors.collectionNotFound);
  writer.log("IX: Verify Collection");
  writer.requireAccounts(6);
  program.openMetadata(at.collection, at.collectionMint);
  program.requireUpdateAuthority(at.authority);
  writer.requireOwned(at.metadata);
  writer.account("r1", at.metadata);
  program.toTokenStandard();
  const none = asm.label("no token standard");
  asm.load(1, "r2", "r1");
  asm.add("r1", 1);
  asm.branch("eq", "r2", 0, none);
  asm.add("r1", 1);
  asm.place(none);
  asm.load(1, "r2", "r1");
  asm.branch("ne", "r2", 1, wrong);
  writer.account("r2", at.collectionMint);
  writer.requireSameKey("r1", 2, "r2", record.key, wrong);
  asm.store(1, "r1", 1, 1);
}
