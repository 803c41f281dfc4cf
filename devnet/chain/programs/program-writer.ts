import { programs } from "@sluice/wire/programs";
import { bytesOf } from "../model/index.ts";
import { Assembler, type Constant, type Label } from "./assembler/assembler.ts";
import type { Register } from "./assembler/instructions.ts";
import { record, runtimeErrors, tagNumber } from "./runtime.ts";

/**
 * The common part of the programs of this folder. A program's memory is its heap: r9 always holds its start, `slot`
 * gives room on it, and the accounts that a call brings are found there by their index. r6 to r8 are a program's own.
 */

const heapStart = 0x3_0000_0000n;
/** Accounts that a call may bring; more are refused. */
const accountsMax = 24;
const freshMark = 0xff;
/** Room that the loader leaves behind each account's data for growth. */
const growthBytes = 10_240;
/** sizeof(SolAccountInfo) of the C interface. */
const infoBytes = 56;

/** An account of the call by its index, or one whose record's address stands in a slot. */
export type AccountRef = number | { readonly slot: number };

export class ProgramWriter {
  readonly asm = new Assembler();
  readonly infos: number;
  readonly count: number;
  readonly #data: number;
  readonly #dataLength: number;
  readonly #programId: number;
  readonly #failures = new Map<bigint, Label>();
  readonly #routines: (() => void)[] = [];
  #heap = 0;
  #token: Constant | null = null;

  constructor() {
    const table = this.slot(accountsMax * 8);
    if (table !== 0) throw new Error("the table of accounts stands at the start of the heap");
    this.infos = this.slot(accountsMax * infoBytes);
    this.count = this.slot();
    this.#data = this.slot();
    this.#dataLength = this.slot();
    this.#programId = this.slot();
    this.#begin();
  }

  /** Room on the heap; its offset from r9. Offsets of loads and stores end at 32,767. */
  slot(bytes = 8): number {
    const offset = this.#heap;
    this.#heap += Math.ceil(bytes / 8) * 8;
    if (this.#heap > 32_000) throw new RangeError("the program needs more than its heap");
    return offset;
  }

  /** Reads the call's input: addresses of the accounts' records, their SolAccountInfo, data and the program's id. */
  #begin(): void {
    const { asm } = this;
    const [loop, fresh, entry, done] = ["loop", "fresh", "entry", "done"].map((name) => asm.label(name)) as [
      Label,
      Label,
      Label,
      Label,
    ];
    asm.mov("r6", "r1");
    asm.wide("r9", heapStart);
    asm.load(8, "r1", "r6");
    asm.branch("gt", "r1", accountsMax, this.failure(runtimeErrors.notEnoughAccountKeys));
    asm.store(8, "r9", this.count, "r1");
    asm.add("r6", 8);
    asm.mov("r2", 0);
    asm.mov("r7", "r9");
    asm.mov("r8", "r9");
    asm.add("r8", this.infos);
    asm.place(loop);
    asm.branch("eq", "r2", "r1", done);
    asm.load(1, "r3", "r6");
    asm.branch("eq", "r3", freshMark, fresh);
    // The same account again: the byte is the index at which it came first.
    asm.arithmetic("lsh", "r3", 3);
    asm.add("r3", "r9");
    asm.load(8, "r4", "r3");
    asm.add("r6", 8);
    asm.jump(entry);
    asm.place(fresh);
    asm.mov("r4", "r6");
    asm.load(8, "r3", "r6", record.size);
    asm.add("r6", "r3");
    asm.add("r6", record.data + growthBytes + 7);
    asm.arithmetic("and", "r6", -8);
    asm.add("r6", 8);
    asm.place(entry);
    asm.store(8, "r7", 0, "r4");
    this.#info();
    asm.add("r7", 8);
    asm.add("r8", infoBytes);
    asm.add("r2", 1);
    asm.jump(loop);
    asm.place(done);
    asm.load(8, "r1", "r6");
    asm.store(8, "r9", this.#dataLength, "r1");
    asm.add("r6", 8);
    asm.store(8, "r9", this.#data, "r6");
    asm.add("r6", "r1");
    asm.store(8, "r9", this.#programId, "r6");
  }

  /** Writes the SolAccountInfo of the record at r4 to r8. */
  #info(): void {
    const { asm } = this;
    const pointers = [record.key, record.lamports, null, record.data, record.owner] as const;
    for (const [index, offset] of pointers.entries()) {
      if (offset === null) {
        asm.load(8, "r3", "r4", record.size);
      } else {
        asm.mov("r3", "r4");
        asm.add("r3", offset);
      }
      asm.store(8, "r8", index * 8, "r3");
    }
    asm.store(8, "r8", 40, 0);
    for (const [index, offset] of [record.signer, record.writable, record.executable].entries()) {
      asm.load(1, "r3", "r4", offset);
      asm.store(1, "r8", 48 + index, "r3");
    }
  }

  /** Where to jump so that the call ends with this result. */
  failure(code: bigint): Label {
    const known = this.#failures.get(code);
    if (known !== undefined) return known;
    const label = this.asm.label(`failure ${code}`);
    this.#failures.set(code, label);
    return label;
  }

  succeed(): void {
    this.asm.mov("r0", 0);
    this.asm.exit();
  }

  /** A function that the program calls; its text stands after everything else. */
  routine(name: string, body: () => void): Label {
    const label = this.asm.label(name);
    this.#routines.push(() => {
      this.asm.place(label);
      body();
    });
    return label;
  }

  requireAccounts(least: number): void {
    this.asm.load(8, "r1", "r9", this.count);
    this.asm.branch("lt", "r1", least, this.failure(runtimeErrors.notEnoughAccountKeys));
  }

  requireData(least: number): void {
    this.asm.load(8, "r1", "r9", this.#dataLength);
    this.asm.branch("lt", "r1", least, this.failure(runtimeErrors.invalidInstructionData));
  }

  /** Loads the address of the call's data. */
  data(to: Register): void {
    this.asm.load(8, to, "r9", this.#data);
  }

  dataLength(to: Register): void {
    this.asm.load(8, to, "r9", this.#dataLength);
  }

  programId(to: Register): void {
    this.asm.load(8, to, "r9", this.#programId);
  }

  /** Copies a number of the call's data to a slot. */
  argument(width: 1 | 2 | 8, offset: number, slot: number): void {
    this.data("r1");
    this.asm.load(width, "r1", "r1", offset);
    this.asm.store(8, "r9", slot, "r1");
  }

  /** Loads the address of an account's record. */
  account(to: Register, account: AccountRef): void {
    this.asm.load(8, to, "r9", typeof account === "number" ? account * 8 : account.slot);
  }

  requireSigner(account: number): void {
    this.account("r1", account);
    this.asm.load(1, "r1", "r1", record.signer);
    this.asm.branch("eq", "r1", 0, this.failure(runtimeErrors.missingRequiredSignature));
  }

  /** Goes on when the 32 bytes at two addresses are the same; spoils r3 and r4. */
  requireSameKey(left: Register, leftOff: number, right: Register, rightOff: number, otherwise: Label): void {
    for (let word = 0; word < 32; word += 8) {
      this.asm.load(8, "r3", left, leftOff + word);
      this.asm.load(8, "r4", right, rightOff + word);
      this.asm.branch("ne", "r3", "r4", otherwise);
    }
  }

  /** Copies 32 bytes from one address to another; spoils r3. */
  copyKey(from: readonly [base: Register, offset: number], to: readonly [base: Register, offset: number]): void {
    for (let word = 0; word < 32; word += 8) {
      this.asm.load(8, "r3", from[0], from[1] + word);
      this.asm.store(8, to[0], to[1] + word, "r3");
    }
  }

  /** The account must be this program's own. */
  requireOwned(account: AccountRef): void {
    this.account("r1", account);
    this.programId("r2");
    this.requireSameKey("r1", record.owner, "r2", 0, this.failure(runtimeErrors.invalidAccountOwner));
  }

  /** The account's key must be a constant. */
  requireKey(account: AccountRef, key: Constant, otherwise: bigint): void {
    this.account("r1", account);
    this.asm.address("r2", key);
    this.requireSameKey("r1", record.key, "r2", 0, this.failure(otherwise));
  }

  /** The account must be the Token program: what another one says that it has moved has not moved. */
  requireTokenProgram(account: AccountRef): void {
    this.#token ??= this.asm.constant(bytesOf(programs.token));
    this.requireKey(account, this.#token, runtimeErrors.incorrectProgramId);
  }

  log(text: string): void {
    const constant = this.asm.constant(new TextEncoder().encode(text));
    this.asm.address("r1", constant);
    this.asm.mov("r2", constant.length);
    this.asm.syscall("sol_log_");
  }

  /** The whole program as an ELF file. */
  finish(): Uint8Array {
    for (const write of this.#routines) write();
    for (const [code, label] of this.#failures) {
      this.asm.place(label);
      this.asm.wide("r0", code);
      this.asm.exit();
    }
    return this.asm.finish();
  }
}

/** Instructions of a program, by the bytes with which their data begins: one byte, or Anchor's eight. */
export interface InstructionSet<Program> {
  /** Bytes of data that every instruction has at least. */
  readonly dataBytesMin: number;
  readonly instructions: readonly (readonly [tag: Uint8Array, write: (program: Program) => void])[];
}

/**
 * The body of a program as an ELF file: it jumps to the instruction whose tag the data begins with and succeeds after
 * it. Other data, and shorter data, is InvalidInstructionData.
 */
export function assembleProgram<Program extends { readonly writer: ProgramWriter }>(
  program: Program,
  { dataBytesMin, instructions }: InstructionSet<Program>,
): Uint8Array {
  const { writer } = program;
  const { asm } = writer;
  const parts = instructions.map(([tag, write]) => ({ tag, write, label: asm.label(`tag ${tag.toHex()}`) }));
  writer.requireData(dataBytesMin);
  writer.data("r1");
  asm.load(parts[0]?.tag.length === 1 ? 1 : 8, "r2", "r1");
  for (const { tag, label } of parts) {
    asm.wide("r3", tag.length === 1 ? BigInt(tag[0] ?? 0) : tagNumber(tag));
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
