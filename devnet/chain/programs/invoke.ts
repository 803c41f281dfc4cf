import type { Constant } from "./assembler/assembler.ts";
import type { AccountRef, ProgramWriter } from "./program-writer.ts";
import { record } from "./runtime.ts";

/** Bytes that an address is derived from: text of the program, an account's key, or what stands in a slot. */
export type Seed =
  | { readonly constant: Constant }
  | { readonly key: AccountRef }
  | { readonly slot: number; readonly length: number };

interface Meta {
  readonly account: AccountRef;
  readonly signs?: boolean;
  readonly writes?: boolean;
}

export interface Invocation {
  readonly program: AccountRef;
  readonly accounts: readonly Meta[];
  /** Instruction data that the program has put on its heap. */
  readonly data: { readonly slot: number; readonly length: number };
  /** Seeds, bump included, of the address that signs for the program. */
  readonly seeds?: readonly Seed[];
}

const metasMax = 8;
const seedsMax = 6;
const metaBytes = 16;
const seedBytes = 16;

/** Calls of other programs, in the C interface of the runtime. */
export class Invoker {
  readonly #writer: ProgramWriter;
  readonly #instruction: number;
  readonly #metas: number;
  readonly #seeds: number;
  readonly #signers: number;

  constructor(writer: ProgramWriter) {
    this.#writer = writer;
    this.#instruction = writer.slot(40);
    this.#metas = writer.slot(metasMax * metaBytes);
    this.#seeds = writer.slot(seedsMax * seedBytes);
    this.#signers = writer.slot(16);
  }

  /** Spoils r0 to r5. A failure of the callee ends the whole transaction. */
  invoke({ program, accounts, data, seeds }: Invocation): void {
    const { asm } = this.#writer;
    if (accounts.length > metasMax) throw new RangeError(`at most ${metasMax} accounts in a call`);
    for (const [index, { account, signs, writes }] of accounts.entries()) {
      const at = this.#metas + index * metaBytes;
      this.#storeKey(account, at);
      asm.store(1, "r9", at + 8, writes === true ? 1 : 0);
      asm.store(1, "r9", at + 9, signs === true ? 1 : 0);
    }
    this.#storeKey(program, this.#instruction);
    this.#storeHeap(this.#metas, this.#instruction + 8);
    asm.store(8, "r9", this.#instruction + 16, accounts.length);
    this.#storeHeap(data.slot, this.#instruction + 24);
    asm.store(8, "r9", this.#instruction + 32, data.length);
    if (seeds !== undefined) {
      this.#storeSeeds(seeds);
      this.#storeHeap(this.#seeds, this.#signers);
      asm.store(8, "r9", this.#signers + 8, seeds.length);
    }
    this.#heap("r1", this.#instruction);
    this.#heap("r2", this.#writer.infos);
    asm.load(8, "r3", "r9", this.#writer.count);
    if (seeds === undefined) asm.mov("r4", 0);
    else this.#heap("r4", this.#signers);
    asm.mov("r5", seeds === undefined ? 0 : 1);
    asm.syscall("sol_invoke_signed_c");
  }

  /** Finds the address of seeds under this program: 32 bytes to `address`, the bump as one byte to `bump`. */
  findAddress(seeds: readonly Seed[], address: number, bump: number): void {
    const { asm } = this.#writer;
    this.#storeSeeds(seeds);
    this.#heap("r1", this.#seeds);
    asm.mov("r2", seeds.length);
    this.#writer.programId("r3");
    this.#heap("r4", address);
    this.#heap("r5", bump);
    asm.syscall("sol_try_find_program_address");
  }

  #storeSeeds(seeds: readonly Seed[]): void {
    const { asm } = this.#writer;
    if (seeds.length > seedsMax) throw new RangeError(`at most ${seedsMax} seeds`);
    for (const [index, seed] of seeds.entries()) {
      const at = this.#seeds + index * seedBytes;
      if ("constant" in seed) {
        asm.address("r1", seed.constant);
        asm.store(8, "r9", at, "r1");
      } else if ("key" in seed) this.#storeKey(seed.key, at);
      else this.#storeHeap(seed.slot, at);
      asm.store(8, "r9", at + 8, "constant" in seed ? seed.constant.length : "key" in seed ? 32 : seed.length);
    }
  }

  #storeKey(account: AccountRef, at: number): void {
    this.#writer.account("r1", account);
    this.#writer.asm.add("r1", record.key);
    this.#writer.asm.store(8, "r9", at, "r1");
  }

  #heap(to: "r1" | "r2" | "r4" | "r5", slot: number): void {
    this.#writer.asm.mov(to, "r9");
    this.#writer.asm.add(to, slot);
  }

  #storeHeap(slot: number, at: number): void {
    this.#heap("r1", slot);
    this.#writer.asm.store(8, "r9", at, "r1");
  }
}
