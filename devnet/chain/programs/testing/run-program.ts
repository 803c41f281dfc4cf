import type { AccountWrite, SvmOutcome } from "@sluice/svm/bank";
import { LiteSvmMachine } from "@sluice/svm/testing/litesvm-machine";
import { programs } from "@sluice/wire/programs";
import { type AccountMeta, Keypair, PublicKey, Transaction, TransactionInstruction } from "@solana/web3.js";
import { programAccounts } from "../../genesis/elf-accounts.ts";
import { rentFree } from "../../genesis/ledger.ts";

/** A machine with one program and one payer. */
export class ProgramRun {
  readonly svm = new LiteSvmMachine();
  readonly program = Keypair.generate().publicKey;
  readonly payer = Keypair.generate();

  static async of(elf: Uint8Array, accounts: readonly AccountWrite[] = []): Promise<ProgramRun> {
    const run = new ProgramRun();
    const rich = { ...rentFree(programs.system, new Uint8Array()), lamports: 10n ** 12n };
    const payer = { address: run.payer.publicKey.toBase58(), account: rich };
    await run.svm.write([payer, ...accounts, ...programAccounts(run.program.toBase58(), elf)]);
    return run;
  }

  async call(data: Uint8Array, keys: readonly AccountMeta[] = []): Promise<SvmOutcome> {
    const transaction = new Transaction({
      feePayer: this.payer.publicKey,
      recentBlockhash: PublicKey.default.toBase58(),
    });
    transaction.add(new TransactionInstruction({ programId: this.program, keys: [...keys], data: Buffer.from(data) }));
    transaction.sign(this.payer);
    const bytes = new Uint8Array(transaction.serialize());
    const writable = [this.payer.publicKey, ...keys.filter(({ isWritable }) => isWritable).map(({ pubkey }) => pubkey)];
    const [outcome] = await this.svm.execute(
      [
        {
          bytes,
          version: "legacy",
          payer: this.payer.publicKey.toBase58(),
          fee: 5_000n,
          writable: writable.map((key) => key.toBase58()),
          keysStart: 0,
          writablePositions: [],
          loadedWritable: writable.map((key) => key.toBytes()),
          lifetimeStart: 0,
          nonceAddress: null,
          verify: true,
          movesLamportsOnly: false,
        },
      ],
      new Uint8Array(32),
    );
    if (outcome === undefined) throw new Error("no outcome");
    return outcome;
  }
}
