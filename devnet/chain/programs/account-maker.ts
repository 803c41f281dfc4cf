import { rentExemptLamports } from "../model/index.ts";
import type { Invoker, Seed } from "./invoke.ts";
import type { AccountRef, ProgramWriter } from "./program-writer.ts";
import { record, runtimeErrors } from "./runtime.ts";

/** Numbers of the System program's instructions. */
const systemInstructions = { assign: 1, transfer: 2, allocate: 8 } as const;

/** Makes and ends accounts at addresses that a program derives. */
export class AccountMaker {
  readonly #writer: ProgramWriter;
  readonly #invoker: Invoker;
  readonly #data: number;
  readonly #found: number;
  /** The bump of the address that was found last. */
  readonly bump: number;

  constructor(writer: ProgramWriter, invoker: Invoker) {
    this.#writer = writer;
    this.#invoker = invoker;
    this.#data = writer.slot(36);
    this.#found = writer.slot(32);
    this.bump = writer.slot();
  }

  /** The account must be at the address of these seeds; its bump is kept. */
  requireAddress(account: AccountRef, seeds: readonly Seed[]): void {
    const { asm } = this.#writer;
    const invalid = this.#writer.failure(runtimeErrors.invalidSeeds);
    this.#invoker.findAddress(seeds, this.#found, this.bump);
    asm.branch("ne", "r0", 0, invalid);
    this.#writer.account("r1", account);
    asm.mov("r2", "r9");
    asm.add("r2", this.#found);
    this.#writer.requireSameKey("r1", record.key, "r2", 0, invalid);
  }

  /**
   * Makes an account of `bytes` zeros that this program owns, at the address of `seeds` and the kept bump. Lamports
   * that were sent there before are kept.
   */
  create(way: {
    readonly payer: AccountRef;
    readonly account: AccountRef;
    readonly system: AccountRef;
    readonly bytes: number;
    readonly seeds: readonly Seed[];
  }): void {
    const { asm } = this.#writer;
    const seeds = [...way.seeds, { slot: this.bump, length: 1 }];
    const rich = asm.label("has its rent");
    this.#writer.account("r1", way.account);
    asm.load(8, "r2", "r1", record.size);
    asm.branch("ne", "r2", 0, this.#writer.failure(runtimeErrors.accountAlreadyInitialized));
    asm.load(8, "r2", "r1", record.lamports);
    asm.wide("r3", rentExemptLamports(way.bytes));
    asm.branch("ge", "r2", "r3", rich);
    asm.arithmetic("sub", "r3", "r2");
    asm.store(8, "r9", this.#data + 4, "r3");
    this.#system(systemInstructions.transfer, 12, way.system, [
      { account: way.payer, signs: true, writes: true },
      { account: way.account, writes: true },
    ]);
    asm.place(rich);
    const made = [{ account: way.account, signs: true, writes: true }];
    asm.store(8, "r9", this.#data + 4, way.bytes);
    this.#system(systemInstructions.allocate, 12, way.system, made, seeds);
    this.#writer.programId("r1");
    this.#writer.copyKey(["r1", 0], ["r9", this.#data + 4]);
    this.#system(systemInstructions.assign, 36, way.system, made, seeds);
  }

  #system(
    tag: number,
    length: number,
    program: AccountRef,
    accounts: readonly { account: AccountRef; signs?: boolean; writes?: boolean }[],
    seeds?: readonly Seed[],
  ): void {
    this.#writer.asm.store(4, "r9", this.#data, tag);
    const call = { program, accounts, data: { slot: this.#data, length } };
    this.#invoker.invoke(seeds === undefined ? call : { ...call, seeds });
  }

  /** Ends an account of this program: its lamports go to another, and its first bytes no longer name what it was. */
  close(account: AccountRef, to: AccountRef): void {
    const { asm } = this.#writer;
    this.#writer.account("r1", account);
    this.#writer.account("r2", to);
    asm.branch("eq", "r1", "r2", this.#writer.failure(runtimeErrors.invalidAccountData));
    asm.load(8, "r3", "r1", record.lamports);
    asm.load(8, "r4", "r2", record.lamports);
    asm.add("r4", "r3");
    asm.store(8, "r2", record.lamports, "r4");
    asm.store(8, "r1", record.lamports, 0);
    asm.store(8, "r1", record.data, 0);
  }
}
