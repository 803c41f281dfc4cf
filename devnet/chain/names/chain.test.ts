import { expect, test } from "bun:test";
import { nameServices } from "@sluice/wire/name-services";
import { Keypair, PublicKey, TransactionInstruction } from "@solana/web3.js";
import { defaultGenesisFile } from "../genesis/build.ts";
import { signed, startManualChain } from "../testing/chain.ts";
import { nameGenesis } from "./registry.ts";

test("a chain carries its names from the first slot, through the machine and its clock", async () => {
  await using started = await startManualChain();
  await started.closeSlots(3);
  const { accounts } = started.chain;
  for (const { address, account } of nameGenesis(defaultGenesisFile().names)) {
    const held = accounts.get(address, 3n);
    expect(held).toMatchObject({ owner: account.owner, executable: account.executable, lamports: account.lamports });
    expect(Buffer.compare(held?.data ?? new Uint8Array(), account.data)).toBe(0);
  }
});

test("a call to the programs of names fails in its transaction, and the chain goes on", async () => {
  await using started = await startManualChain();
  const payer = Keypair.generate();
  started.fund(payer, 1_000_000_000n);
  await started.closeSlots(1);
  const service = nameServices.find(({ label }) => label === "devnet");
  for (const program of [service?.nameProgram ?? "", service?.handleProgram ?? ""]) {
    const call = new TransactionInstruction({ programId: new PublicKey(program), keys: [], data: Buffer.of(0) });
    const transaction = signed(payer, started.chain.at("processed").blockhash, call);
    started.chain.submit(transaction);
    const before = started.chain.at("processed").slot;
    await started.closeSlots(1);
    expect(started.chain.at("processed").slot).toBe(before + 1n);
    expect(started.chain.history.transaction(transaction.id)?.executed.error ?? null).not.toBeNull();
  }
});
