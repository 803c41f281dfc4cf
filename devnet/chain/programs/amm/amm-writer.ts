import type { Constant } from "../assembler/assembler.ts";
import { Invoker, type Seed } from "../invoke.ts";
import { MulDiv } from "../mul-div.ts";
import type { AccountRef } from "../program-writer.ts";
import { ProgramWriter } from "../program-writer.ts";
import { accountTag, record, runtimeErrors, tagNumber } from "../runtime.ts";
import { ammErrors, authoritySeed, poolBytes, poolOffsets } from "./layout.ts";

const transferChecked = 12;
/** Offsets within a token account and a mint. */
const amount = 64;
const decimals = 44;

/** The code that the pool program's instructions share. */
export class AmmWriter {
  readonly writer = new ProgramWriter();
  readonly invoker = new Invoker(this.writer);
  readonly arithmetic = new MulDiv(this.writer);
  readonly #transfer = this.writer.slot(10);
  readonly #bump = this.writer.slot();
  readonly #seed: Constant;

  constructor() {
    this.#seed = this.writer.asm.constant(new TextEncoder().encode(authoritySeed));
  }

  /** Checks that an account is a pool, which is not closed for what a bit of its status forbids, and keeps its bump. */
  openPool(pool: number, forbidden: number): void {
    const { writer } = this;
    const { asm } = writer;
    const invalid = writer.failure(runtimeErrors.invalidAccountData);
    writer.requireOwned(pool);
    writer.account("r1", pool);
    asm.load(8, "r2", "r1", record.size);
    asm.branch("ne", "r2", poolBytes, invalid);
    asm.load(8, "r2", "r1", record.data);
    asm.wide("r3", tagNumber(accountTag("PoolState")));
    asm.branch("ne", "r2", "r3", invalid);
    asm.load(1, "r2", "r1", record.data + poolOffsets.status);
    asm.branch("set", "r2", forbidden, writer.failure(ammErrors.notApproved));
    asm.load(1, "r2", "r1", record.data + poolOffsets.authorityBump);
    asm.store(1, "r9", this.#bump, "r2");
  }

  /** An account's key must stand at an offset of the pool. */
  requireOfPool(pool: number, offset: number, account: AccountRef, otherwise: bigint): void {
    const { writer } = this;
    writer.account("r1", pool);
    writer.account("r2", account);
    writer.requireSameKey("r1", record.data + offset, "r2", record.key, writer.failure(otherwise));
  }

  /** Copies a vault's amount to a slot; an empty one is no pool to trade with. */
  reserve(vault: AccountRef, slot: number): void {
    const { asm } = this.writer;
    this.writer.account("r1", vault);
    asm.load(8, "r1", "r1", record.data + amount);
    asm.branch("eq", "r1", 0, this.writer.failure(ammErrors.emptySupply));
    asm.store(8, "r9", slot, "r1");
  }

  /** The program must be the one that keeps the vault: no other's transfers move its units. */
  requireTokenProgram(vault: AccountRef, program: AccountRef): void {
    const { writer } = this;
    writer.account("r1", vault);
    writer.account("r2", program);
    writer.requireSameKey("r1", record.owner, "r2", record.key, writer.failure(runtimeErrors.invalidAccountOwner));
  }

  /** Calls TransferChecked with an amount from a slot; `byPool` signs for the pools' authority. */
  transfer(way: {
    readonly program: AccountRef;
    readonly from: AccountRef;
    readonly mint: AccountRef;
    readonly to: AccountRef;
    readonly authority: number;
    readonly amount: number;
    readonly byPool: boolean;
  }): void {
    const { asm } = this.writer;
    asm.store(1, "r9", this.#transfer, transferChecked);
    this.#storeAmount(way.amount);
    this.writer.account("r1", way.mint);
    asm.load(1, "r1", "r1", record.data + decimals);
    asm.store(1, "r9", this.#transfer + 9, "r1");
    this.invoker.invoke({
      program: way.program,
      accounts: [
        { account: way.from, writes: true },
        { account: way.mint },
        { account: way.to, writes: true },
        { account: way.authority, signs: true },
      ],
      data: { slot: this.#transfer, length: 10 },
      ...(way.byPool ? { seeds: this.authoritySeeds } : {}),
    });
  }

  /** Calls MintTo (7) or Burn (8), which have their accounts in different orders. */
  changeSupply(way: {
    readonly tag: 7 | 8;
    readonly program: AccountRef;
    readonly accounts: readonly [number, number, number];
    readonly amount: number;
    readonly byPool: boolean;
  }): void {
    this.writer.asm.store(1, "r9", this.#transfer, way.tag);
    this.#storeAmount(way.amount);
    const [first, second, authority] = way.accounts;
    this.invoker.invoke({
      program: way.program,
      accounts: [
        { account: first, writes: true },
        { account: second, writes: true },
        { account: authority, signs: true },
      ],
      data: { slot: this.#transfer, length: 9 },
      ...(way.byPool ? { seeds: this.authoritySeeds } : {}),
    });
  }

  get authoritySeeds(): readonly Seed[] {
    return [{ constant: this.#seed }, { slot: this.#bump, length: 1 }];
  }

  #storeAmount(slot: number): void {
    this.writer.asm.load(8, "r1", "r9", slot);
    this.writer.asm.store(8, "r9", this.#transfer + 1, "r1");
  }
}
