import { record, runtimeErrors } from "../runtime.ts";
import {
  creatorsMax,
  metadataBytes,
  metadataErrors,
  metadataKey,
  nameBytes,
  symbolBytes,
  tokenStandard,
  uriBytes,
} from "./layout.ts";
import type { MetadataWriter } from "./metadata-writer.ts";

const at = { metadata: 0, mint: 1, mintAuthority: 2, payer: 3, updateAuthority: 4, system: 5 };
const decimals = 44;
const collectionBytes = 33;
const usesBytes = 17;

interface Arguments {
  /** Addresses of what the data holds, 0 where an option is none. */
  readonly collection: number;
  readonly uses: number;
  readonly details: number;
  readonly mutable: number;
  readonly length: number;
  readonly shares: number;
}

/**
 * Copies a text of at most `most` bytes from r6 to r8 as the program keeps it: its longest length, and zeros behind.
 */
function copyText(program: MetadataWriter, most: number, length: number): void {
  const { asm } = program.writer;
  program.requireLeft(4);
  asm.load(4, "r5", "r6");
  asm.branch("gt", "r5", most, program.writer.failure(metadataErrors.textTooLong));
  asm.add("r6", 4);
  program.requireLeft("r5");
  asm.store(8, "r9", length, "r5");
  asm.store(4, "r8", 0, most);
  asm.mov("r1", "r8");
  asm.add("r1", 4);
  asm.mov("r2", "r6");
  asm.mov("r3", "r5");
  asm.syscall("sol_memcpy_");
  asm.load(8, "r5", "r9", length);
  asm.add("r6", "r5");
  asm.add("r8", 4 + most);
}

/** Copies creators. Only the update authority's signature verifies one here, and shares are a hundred together. */
function copyCreators(program: MetadataWriter, { shares }: Arguments): void {
  const { writer } = program;
  const { asm } = writer;
  const [none, next, unverified] = asm.labels("none", "next", "unverified");
  const cannot = writer.failure(metadataErrors.cannotVerifyAnotherCreator);
  program.requireLeft(1);
  asm.load(1, "r1", "r6");
  asm.add("r6", 1);
  asm.store(1, "r8", 0, "r1");
  asm.add("r8", 1);
  asm.branch("eq", "r1", 0, none);
  asm.branch("ne", "r1", 1, writer.failure(runtimeErrors.invalidInstructionData));
  program.requireLeft(4);
  asm.load(4, "r5", "r6");
  asm.branch("gt", "r5", creatorsMax, writer.failure(metadataErrors.creatorsTooLong));
  asm.branch("eq", "r5", 0, writer.failure(metadataErrors.creatorsTooLong));
  asm.store(4, "r8", 0, "r5");
  asm.add("r6", 4);
  asm.add("r8", 4);
  asm.store(8, "r9", shares, 0);
  asm.place(next);
  program.requireLeft(34);
  writer.copyKey(["r6", 0], ["r8", 0]);
  asm.load(1, "r1", "r6", 32);
  asm.store(1, "r8", 32, "r1");
  asm.branch("eq", "r1", 0, unverified);
  asm.branch("ne", "r1", 1, writer.failure(runtimeErrors.invalidInstructionData));
  writer.account("r1", at.updateAuthority);
  asm.load(1, "r2", "r1", record.signer);
  asm.branch("eq", "r2", 0, cannot);
  asm.mov("r2", "r6");
  writer.requireSameKey("r1", record.key, "r2", 0, cannot);
  asm.place(unverified);
  asm.load(1, "r1", "r6", 33);
  asm.store(1, "r8", 33, "r1");
  asm.load(8, "r2", "r9", shares);
  asm.add("r2", "r1");
  asm.store(8, "r9", shares, "r2");
  asm.add("r6", 34);
  asm.add("r8", 34);
  asm.add("r5", -1);
  asm.branch("ne", "r5", 0, next);
  asm.load(8, "r2", "r9", shares);
  asm.branch("ne", "r2", 100, writer.failure(metadataErrors.shareTotal));
  asm.place(none);
}

/** Reads an option of `bytes` at r6: keeps where its value stands, or 0. */
function option(program: MetadataWriter, bytes: number, slot: number): void {
  const { writer } = program;
  const { asm } = writer;
  const none = asm.label("none");
  program.requireLeft(1);
  asm.load(1, "r1", "r6");
  asm.add("r6", 1);
  asm.store(8, "r9", slot, 0);
  asm.branch("eq", "r1", 0, none);
  asm.branch("ne", "r1", 1, writer.failure(runtimeErrors.invalidInstructionData));
  program.requireLeft(bytes);
  asm.store(8, "r9", slot, "r6");
  asm.add("r6", bytes);
  asm.place(none);
}

/** Writes an option at r8: a copy of what was read, or none. */
function writeOption(program: MetadataWriter, bytes: number, slot: number): void {
  const { asm } = program.writer;
  const none = asm.label("none");
  asm.load(8, "r2", "r9", slot);
  asm.branch("eq", "r2", 0, none);
  asm.store(1, "r8", 0, 1);
  asm.mov("r1", "r8");
  asm.add("r1", 1);
  asm.mov("r3", bytes);
  asm.syscall("sol_memcpy_");
  asm.add("r8", bytes);
  asm.place(none);
  asm.add("r8", 1);
}

function writeHead(program: MetadataWriter): void {
  const { writer } = program;
  const { asm } = writer;
  writer.account("r8", at.metadata);
  asm.add("r8", record.data);
  asm.store(1, "r8", 0, metadataKey);
  for (const [offset, account] of [
    [1, at.updateAuthority],
    [33, at.mint],
  ] as const) {
    writer.account("r1", account);
    writer.copyKey(["r1", record.key], ["r8", offset]);
  }
  asm.add("r8", 65);
}

/** The fields after the creators: sold, mutable, edition nonce, token standard, collection, uses, details. */
function writeTail(program: MetadataWriter, slots: Arguments): void {
  const { writer, maker, invoker } = program;
  const { asm } = writer;
  asm.store(1, "r8", 0, 0);
  asm.load(8, "r1", "r9", slots.mutable);
  asm.store(1, "r8", 1, "r1");
  invoker.findAddress(program.editionSeeds(at.mint), slots.length, maker.bump);
  asm.store(1, "r8", 2, 1);
  asm.load(1, "r1", "r9", maker.bump);
  asm.store(1, "r8", 3, "r1");
  asm.store(1, "r8", 4, 1);
  const divisible = asm.label("divisible");
  asm.mov("r2", tokenStandard.fungible);
  writer.account("r1", at.mint);
  asm.load(1, "r1", "r1", record.data + decimals);
  asm.branch("ne", "r1", 0, divisible);
  asm.mov("r2", tokenStandard.fungibleAsset);
  asm.place(divisible);
  asm.store(1, "r8", 5, "r2");
  asm.add("r8", 6);
  writeOption(program, collectionBytes, slots.collection);
  writeOption(program, usesBytes, slots.uses);
  const sizeless = asm.label("no collection");
  asm.load(8, "r1", "r9", slots.details);
  asm.branch("eq", "r1", 0, sizeless);
  // A collection of the first version, which begins empty.
  asm.store(1, "r8", 0, 1);
  asm.place(sizeless);
}

/**
 * CreateMetadataAccountV3 (tag 33): DataV2, is_mutable, collection details. The collection is unverified at first, as
 * it is with the real program.
 */
export function createMetadata(program: MetadataWriter): void {
  const { writer, maker } = program;
  const { asm } = writer;
  const slot = () => writer.slot();
  const slots = {
    collection: slot(),
    uses: slot(),
    details: slot(),
    mutable: slot(),
    length: writer.slot(32),
    shares: slot(),
  };
  writer.log("IX: Create Metadata Accounts v3");
  writer.requireAccounts(6);
  program.requireMintAuthority(at.mint, at.mintAuthority);
  const seeds = program.metadataSeeds(at.mint);
  maker.requireAddress(at.metadata, seeds);
  maker.create({ payer: at.payer, account: at.metadata, system: at.system, bytes: metadataBytes, seeds });
  writer.data("r6");
  writer.dataLength("r7");
  asm.add("r7", "r6");
  asm.add("r6", 1);
  writeHead(program);
  for (const most of [nameBytes, symbolBytes, uriBytes]) copyText(program, most, slots.length);
  program.requireLeft(2);
  asm.load(2, "r1", "r6");
  asm.branch("gt", "r1", 10_000, writer.failure(metadataErrors.invalidBasisPoints));
  asm.store(2, "r8", 0, "r1");
  asm.add("r6", 2);
  asm.add("r8", 2);
  copyCreators(program, slots);
  option(program, collectionBytes, slots.collection);
  const unverified = asm.label("unverified");
  asm.load(8, "r1", "r9", slots.collection);
  asm.branch("eq", "r1", 0, unverified);
  asm.load(1, "r1", "r1");
  asm.branch("ne", "r1", 0, writer.failure(metadataErrors.collectionCannotBeVerified));
  asm.place(unverified);
  option(program, usesBytes, slots.uses);
  program.requireLeft(1);
  asm.load(1, "r1", "r6");
  asm.branch("gt", "r1", 1, writer.failure(runtimeErrors.invalidInstructionData));
  asm.store(8, "r9", slots.mutable, "r1");
  asm.add("r6", 1);
  option(program, 9, slots.details);
  writeTail(program, slots);
}
