import { expect, test } from "bun:test";
import { programs, sysvars } from "@sluice/wire";
import { Keypair, PublicKey, SystemProgram, TransactionInstruction } from "@solana/web3.js";
import { programDataAddress } from "../genesis/elf-accounts.ts";
import { ProgramWriter } from "../programs/program-writer.ts";
import { MachineProcess } from "../svm/process/machine-process.ts";
import { type ManualChain, signedBy, startManualChain } from "../testing/chain.ts";
import { ByteWriter } from "./bytes.ts";

const SOL = 1_000_000_000;
const LOADER = new PublicKey(programs.bpfLoaderUpgradeable);
const BUFFER_HEADER = 37;
const WRITE_BYTES = 900;

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
  return new TransactionInstruction({ programId: LOADER, keys, data: Buffer.from(data.finish()) });
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

  /** Runs instructions in a slot of their own and gives what became of them. */
  async land(signers: readonly Keypair[], ...instructions: TransactionInstruction[]): Promise<unknown> {
    const { chain } = this.#manual;
    const transaction = signedBy([this.payer, ...signers], chain.at("processed").blockhash, ...instructions);
    chain.submit(transaction);
    await this.#manual.closeSlots(1);
    const recorded = chain.history.transaction(transaction.id);
    return recorded === null ? "not landed" : recorded.executed.error;
  }

  async deploy(): Promise<void> {
    const { payer, program } = this;
    this.#manual.fund(payer, 100n * BigInt(SOL));
    await this.#manual.closeSlots(1);
    const file = elf();
    const create = (account: Keypair, space: number) =>
      SystemProgram.createAccount({
        fromPubkey: payer.publicKey,
        newAccountPubkey: account.publicKey,
        lamports: SOL,
        space,
        programId: LOADER,
      });
    const [buffer, authority] = [this.#buffer.publicKey, payer.publicKey];
    const initialize = loaderCall(new ByteWriter().u32(0), [
      [buffer, "w"],
      [authority, ""],
    ]);
    expect(await this.land([this.#buffer], create(this.#buffer, BUFFER_HEADER + file.length), initialize)).toBeNull();
    for (let at = 0; at < file.length; at += WRITE_BYTES) {
      const part = file.subarray(at, at + WRITE_BYTES);
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
    expect(await this.land([program], create(program, 36), deploy)).toBeNull();
  }

  async call(): Promise<unknown> {
    return this.land([], new TransactionInstruction({ programId: this.program.publicKey, keys: [] }));
  }

  close(): Promise<unknown> {
    const { publicKey } = this.payer;
    const accounts = [
      [this.#data, "w"],
      [publicKey, "w"],
      [publicKey, "s"],
      [this.program.publicKey, "w"],
    ] as const;
    return this.land([], loaderCall(new ByteWriter().u32(5), accounts));
  }
}

for (const machine of ["in its own process", "in the chain's"]) {
  const svm = () => (machine === "in the chain's" ? undefined : new MachineProcess());

  test(`a program that was closed runs no more, with the machine ${machine}`, async () => {
    await using manual = await startManualChain({}, svm());
    const deployment = new Deployment(manual);
    await deployment.deploy();
    expect(await deployment.call()).toBeNull();
    expect(await deployment.close()).toBeNull();
    expect(await deployment.call()).not.toBeNull();
    expect(manual.chain.facts).toMatchObject({ rebuilds: 1, machine: { ended: 0 } });
  });

  test(`a program that was deployed in an abandoned slot does not run, with the machine ${machine}`, async () => {
    await using manual = await startManualChain({ confirmedAfter: 10 }, svm());
    const deployment = new Deployment(manual);
    await deployment.deploy();
    await manual.chain.fork(1, false);
    expect(await deployment.call()).not.toBeNull();
    expect(manual.chain.facts).toMatchObject({ rebuilds: 1, machine: { ended: 0 } });
  });
}
