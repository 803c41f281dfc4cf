import { programs } from "@sluice/wire/programs";
import { bytesOf } from "../../model/index.ts";
import { AccountMaker } from "../account-maker.ts";
import type { Label } from "../assembler/assembler.ts";
import { Invoker, type Seed } from "../invoke.ts";
import { ProgramWriter } from "../program-writer.ts";
import { record, runtimeErrors } from "../runtime.ts";
import { metadataErrors, metadataKey } from "./layout.ts";

/** Where creators begin in metadata whose texts are padded. */
const creatorsOffset = 321;
const creatorBytes = 34;
const utf8 = new TextEncoder();

/** The code that the instructions of the Token Metadata stand-in share. */
export class MetadataWriter {
  readonly writer = new ProgramWriter();
  readonly invoker = new Invoker(this.writer);
  readonly maker = new AccountMaker(this.writer, this.invoker);
  readonly #prefix = this.writer.asm.constant(utf8.encode("metadata"));
  readonly #edition = this.writer.asm.constant(utf8.encode("edition"));
  readonly #token = this.writer.asm.constant(bytesOf(programs.token));
  readonly #token2022 = this.writer.asm.constant(bytesOf(programs.token2022));
  readonly #self = this.writer.slot(32);

  /** Seeds of a mint's metadata. Copies the program's id to the heap, which is one of them. */
  metadataSeeds(mint: number): readonly Seed[] {
    this.writer.programId("r1");
    this.writer.copyKey(["r1", 0], ["r9", this.#self]);
    return [{ constant: this.#prefix }, { slot: this.#self, length: 32 }, { key: mint }];
  }

  editionSeeds(mint: number): readonly Seed[] {
    return [...this.metadataSeeds(mint), { constant: this.#edition }];
  }

  /** The account must be metadata of this program and of this mint; its record is in r1 afterwards. */
  openMetadata(metadata: number, mint: number): void {
    const { writer } = this;
    const { asm } = writer;
    writer.requireOwned(metadata);
    writer.account("r1", metadata);
    asm.load(1, "r2", "r1", record.data);
    asm.branch("ne", "r2", metadataKey, writer.failure(runtimeErrors.invalidAccountData));
    writer.account("r2", mint);
    writer.requireSameKey("r1", record.data + 33, "r2", record.key, writer.failure(metadataErrors.mintMismatch));
  }

  /** The signer must be the update authority of the metadata whose record is in r1. */
  requireUpdateAuthority(authority: number): void {
    const wrong = this.writer.failure(metadataErrors.updateAuthorityIncorrect);
    this.writer.account("r2", authority);
    this.writer.requireSameKey("r1", record.data + 1, "r2", record.key, wrong);
    this.writer.asm.load(1, "r3", "r2", record.signer);
    this.writer.asm.branch("eq", "r3", 0, this.writer.failure(runtimeErrors.missingRequiredSignature));
  }

  /** The mint must be of a token program, and the signer the one who may mint its units. */
  requireMintAuthority(mint: number, authority: number): void {
    const { writer } = this;
    const { asm } = writer;
    const owned = asm.label("a token program's");
    const other = asm.label("not the Token program's");
    const wrong = writer.failure(metadataErrors.invalidMintAuthority);
    writer.requireSigner(authority);
    writer.account("r1", mint);
    asm.address("r2", this.#token);
    writer.requireSameKey("r1", record.owner, "r2", 0, other);
    asm.jump(owned);
    asm.place(other);
    asm.address("r2", this.#token2022);
    writer.requireSameKey("r1", record.owner, "r2", 0, writer.failure(runtimeErrors.invalidAccountOwner));
    asm.place(owned);
    asm.load(8, "r2", "r1", record.size);
    asm.branch("lt", "r2", 82, wrong);
    asm.load(4, "r2", "r1", record.data);
    asm.branch("ne", "r2", 1, wrong);
    writer.account("r2", authority);
    writer.requireSameKey("r1", record.data + 4, "r2", record.key, wrong);
  }

  /** Moves r1 from a metadata's record to where its token standard stands, behind creators and edition nonce. */
  toTokenStandard(): void {
    const { asm } = this.writer;
    const none = asm.label("no creators");
    asm.load(1, "r2", "r1", record.data + creatorsOffset);
    asm.load(4, "r3", "r1", record.data + creatorsOffset + 1);
    asm.add("r1", record.data + creatorsOffset + 1);
    asm.branch("eq", "r2", 0, none);
    asm.arithmetic("mul", "r3", creatorBytes);
    asm.add("r1", "r3");
    asm.add("r1", 4);
    asm.place(none);
    // Sold, mutable.
    asm.add("r1", 2);
    const nonce = asm.label("no edition nonce");
    asm.load(1, "r2", "r1");
    asm.add("r1", 1);
    asm.branch("eq", "r2", 0, nonce);
    asm.add("r1", 1);
    asm.place(nonce);
  }

  /** Fails unless `bytes` (a number or r5) are left between r6 and r7. */
  requireLeft(bytes: number | "r5"): void {
    const { asm } = this.writer;
    const short: Label = this.writer.failure(runtimeErrors.invalidInstructionData);
    asm.mov("r4", "r7");
    asm.arithmetic("sub", "r4", "r6");
    asm.branch("lt", "r4", bytes, short);
  }
}
