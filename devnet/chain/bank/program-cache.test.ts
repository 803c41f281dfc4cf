import { expect, test } from "bun:test";
import { ByteWriter } from "@sluice/wire/bytes";
import { programs, sysvars } from "@sluice/wire/programs";
import { Keypair, PublicKey, SystemProgram, TransactionInstruction } from "@solana/web3.js";
import { programDataAddress } from "../genesis/elf-accounts.ts";
import { startMachine } from "../machine/index.ts";
import { ProgramWriter } from "../programs/program-writer.ts";
import { type ManualChain, signedBy, startManualChain } from "../testing/chain.ts";

const sol = 1_000_000_000;
const loader = new PublicKey(programs.bpfLoaderUpgradeable);
const bufferHeader = 37;
const writeBytes = 900;

/** A program that succeeds whatever it is given. */
function elf(): Uint8Array {
  const writer = new ProgramWriter();
  writer.succeed();
  return writer.finish();
}

function loaderCall(data: ByteWriter, accounts: readonly (readonly [PublicKey, "" | "w" | "s" | "ws"])[]) {
  const keys = accounts.map(([pubkey, rights]) => ({
    pubkey,
    isWritable: rights.includes("w"),
    isSigner: rights.includes("s"),
  }));
  return new TransactionInstruction({ programId: loader, keys, data: Buffer.from(data.finish()) });
}

class Deployment {
  readonly payer = Keypair.generate();
  readonly program = Keypair.generate();
  readonly #buffer = Keypair.generate();
  readonly #data = new PublicKey(programDataAddress(this.program.publicKey.toBase58()));
  readonly #manual: ManualChain;

  constructor(manual: ManualChain) {
    this.#manual = manual;
  }

  /** Runs instructions in their own slot and gives what became of them. */
  async land(signers: readonly Keypair[], ...instructions: TransactionInstruction[]): Promise<unknown> {
    const { chain } = this.#manual;
    const transaction = signedBy([this.payer, ...signers], chain.at("processed").blockhash, ...instructions);
    chain.submit(transaction);
    await this.#manual.closeSlots(1);
    const recorded = chain.history.transaction(transaction.id);
    return recorded === null ? "not landed" : recorded.executed.error;
  }

  /** Hands the chain a bundle of these instructions and a transaction that fails, and closes the slot. */
  async landNothing(signers: readonly Keypair[], ...instructions: TransactionInstruction[]): Promise<void> {
    const { chain } = this.#manual;
    const { blockhash } = chain.at("processed");
    const { publicKey: fromPubkey } = this.payer;
    const tooMuch = SystemProgram.transfer({ fromPubkey, toPubkey: loader, lamports: 1_000n * BigInt(sol) });
    const bundle = [
      signedBy([this.payer, ...signers], blockhash, ...instructions),
      signedBy([this.payer], blockhash, tooMuch),
    ];
    const insertion = chain.bundles.submit(
      bundle.map(({ bytes }) => ({ data: bytes, isDiscarded: false })),
      null,
    );
    expect(insertion.ok).toBe(true);
    await this.#manual.closeSlots(1);
    expect(chain.bundles.facts).toMatchObject({ landed: 0, waiting: 0 });
  }

  async deploy(): Promise<void> {
    expect(await this.land([this.program], ...(await this.prepare()))).toBeNull();
  }

  /** Writes the program's file, and gives what is still to be done. */
  async prepare(): Promise<TransactionInstruction[]> {
    const { payer, program } = this;
    this.#manual.fund(payer, 100n * BigInt(sol));
    await this.#manual.closeSlots(1);
    const file = elf();
    const create = (account: Keypair, space: number) =>
      SystemProgram.createAccount({
        fromPubkey: payer.publicKey,
        newAccountPubkey: account.publicKey,
        lamports: sol,
        space,
        programId: loader,
      });
    const [buffer, authority] = [this.#buffer.publicKey, payer.publicKey];
    const initialize = loaderCall(new ByteWriter().u32(0), [
      [buffer, "w"],
      [authority, ""],
    ]);
    expect(await this.land([this.#buffer], create(this.#buffer, bufferHeader + file.length), initialize)).toBeNull();
    for (let at = 0; at < file.length; at += writeBytes) {
      const part = file.subarray(at, at + writeBytes);
      const data = new ByteWriter().u32(1).u32(at).u64(BigInt(part.length)).bytes(part);
      expect(
        await this.land(
          [],
          loaderCall(data, [
            [buffer, "w"],
            [authority, "s"],
          ]),
        ),
      ).toBeNull();
    }
    const deploy = loaderCall(new ByteWriter().u32(2).u64(BigInt(file.length)), [
      [authority, "ws"],
      [this.#data, "w"],
      [program.publicKey, "w"],
      [buffer, "w"],
      [new PublicKey(sysvars.rent), ""],
      [new PublicKey(sysvars.clock), ""],
      [SystemProgram.programId, ""],
      [authority, "s"],
    ]);
    return [create(program, 36), deploy];
  }

  async call(): Promise<unknown> {
    return this.land([], new TransactionInstruction({ programId: this.program.publicKey, keys: [] }));
  }

  close(): Promise<unknown> {
    return this.land([], this.closing());
  }

  closing(): TransactionInstruction {
    const { publicKey } = this.payer;
    const accounts = [
      [this.#data, "w"],
      [publicKey, "w"],
      [publicKey, "s"],
      [this.program.publicKey, "w"],
    ] as const;
    return loaderCall(new ByteWriter().u32(5), accounts);
  }
}

for (const machine of ["in its own process", "in the chain's"]) {
  const svm = async () => (machine === "in the chain's" ? undefined : await startMachine());

  test(`a program that was closed runs no more, with the machine ${machine}`, async () => {
    await using manual = await startManualChain({}, await svm());
    const deployment = new Deployment(manual);
    await deployment.deploy();
    expect(await deployment.call()).toBeNull();
    expect(await deployment.close()).toBeNull();
    expect(await deployment.call()).not.toBeNull();
    expect(manual.chain.facts).toMatchObject({ rebuilds: 1, machine: { ended: 0 } });
  });

  test(`a program that was deployed in an abandoned slot does not run, with the machine ${machine}`, async () => {
    await using manual = await startManualChain({ confirmedAfter: 10 }, await svm());
    const deployment = new Deployment(manual);
    await deployment.deploy();
    await manual.chain.fork(1, false);
    expect(await deployment.call()).not.toBeNull();
    expect(manual.chain.facts).toMatchObject({ rebuilds: 1, machine: { ended: 0 } });
  });

  test(`a bundle that fails neither deploys a program nor closes one, with the machine ${machine}`, async () => {
    await using manual = await startManualChain({}, await svm());
    const deployment = new Deployment(manual);
    const deploying = await deployment.prepare();
    await deployment.landNothing([deployment.program], ...deploying);
    expect(await deployment.call()).toBe("ProgramAccountNotFound");
    expect(await deployment.land([deployment.program], ...deploying)).toBeNull();
    expect(await deployment.call()).toBeNull();
    await deployment.landNothing([], deployment.closing());
    expect(await deployment.call()).toBeNull();
    expect(manual.chain.facts).toMatchObject({ rebuilds: 2, machine: { ended: 0 } });
  });
}
