import { expect, test } from "bun:test";
import {
  ComputeBudgetProgram,
  Keypair,
  NonceAccount,
  PublicKey,
  SystemProgram,
  TransactionInstruction,
} from "@solana/web3.js";
import { signed, signedBy, startManualChain } from "../testing/chain.ts";

const sol = 1_000_000_000n;

function memo(text: string): TransactionInstruction {
  const programId = new PublicKey("MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr");
  return new TransactionInstruction({ programId, keys: [], data: Buffer.from(text) });
}

function pay(from: Keypair, to: PublicKey, lamports: bigint): TransactionInstruction {
  return SystemProgram.transfer({ fromPubkey: from.publicKey, toPubkey: to, lamports });
}

test("a fresh chain has a finalized blockhash, and slot 1 is open", async () => {
  await using manual = await startManualChain();
  const { chain } = manual;
  expect(chain.at("finalized")).toEqual(chain.at("processed"));
  expect(chain.blockhashes.isValid(chain.at("finalized").blockhash, 0n)).toBe(true);
  expect(chain.openSlot).toBe(1n);
});

test("one seed gives one chain: genesis hash, keys and blockhashes", async () => {
  await using left = await startManualChain();
  await using right = await startManualChain();
  await left.closeSlots(5);
  await right.closeSlots(5);
  expect(left.chain.genesis.hashText).toBe(right.chain.genesis.hashText);
  expect(left.chain.genesis.validators[0].identity).toBe(right.chain.genesis.validators[0].identity);
  expect(left.chain.at("processed").blockhash).toBe(right.chain.at("processed").blockhash);
});

test("a transfer is seen at processed when its slot freezes, at confirmed one slot and at finalized 32 slots later", async () => {
  await using manual = await startManualChain();
  const { chain } = manual;
  const receiver = Keypair.generate();
  const address = receiver.publicKey.toBase58();
  manual.fund(receiver, sol);
  await chain.settled();
  const seen = () =>
    (["processed", "confirmed", "finalized"] as const).map((at) => chain.account(address, at)?.lamports ?? 0n);
  expect(seen()).toEqual([0n, 0n, 0n]);
  await manual.closeSlots(1);
  expect(seen()).toEqual([sol, 0n, 0n]);
  await manual.closeSlots(1);
  expect(seen()).toEqual([sol, sol, 0n]);
  await manual.closeSlots(30);
  expect(seen()).toEqual([sol, sol, 0n]);
  await manual.closeSlots(1);
  expect(seen()).toEqual([sol, sol, sol]);
});

test("a blockhash is good for 150 blocks and not for one more", async () => {
  await using manual = await startManualChain();
  const { chain } = manual;
  const payer = Keypair.generate();
  manual.fund(payer, sol);
  await manual.closeSlots(1);
  const { blockhash } = chain.at("processed");
  const receivers = [Keypair.generate().publicKey, Keypair.generate().publicKey];
  const [inTime, tooLate] = receivers.map((to) => signed(payer, blockhash, pay(payer, to, sol / 10n)));
  if (inTime === undefined || tooLate === undefined) throw new Error("two transactions were signed");
  await manual.closeSlots(150);
  expect(chain.blockhashes.isValid(blockhash, chain.at("processed").blockHeight)).toBe(true);
  chain.submit(inTime);
  await manual.closeSlots(1);
  expect(chain.history.transaction(inTime.id)?.executed.error).toBeNull();
  const simulation = await chain.simulate({ transaction: tooLate, commitment: "processed", checkAge: true });
  expect(simulation.error).toBe("BlockhashNotFound");
  chain.submit(tooLate);
  await manual.closeSlots(1);
  expect(chain.history.transaction(tooLate.id)).toBeNull();
});

test("a transaction lands once, however often it is sent", async () => {
  await using manual = await startManualChain();
  const { chain } = manual;
  const payer = Keypair.generate();
  manual.fund(payer, sol);
  await manual.closeSlots(1);
  const receiver = Keypair.generate().publicKey;
  const transaction = signed(payer, chain.at("processed").blockhash, pay(payer, receiver, sol / 10n));
  chain.submit(transaction);
  chain.submit(transaction);
  await manual.closeSlots(1);
  chain.submit(transaction);
  await manual.closeSlots(1);
  expect(chain.account(receiver.toBase58(), "processed")?.lamports).toBe(sol / 10n);
  const simulation = await chain.simulate({ transaction, commitment: "processed", checkAge: true });
  expect(simulation.error).toBe("AlreadyProcessed");
});

test("a transaction lands once even when history has already forgotten it", async () => {
  await using manual = await startManualChain({ transactionsMax: 1 });
  const { chain } = manual;
  const payer = Keypair.generate();
  manual.fund(payer, sol);
  await manual.closeSlots(1);
  const receiver = Keypair.generate().publicKey;
  const transaction = signed(payer, chain.at("processed").blockhash, pay(payer, receiver, sol / 10n));
  chain.submit(transaction);
  await manual.closeSlots(1);
  manual.fund(Keypair.generate(), sol);
  await manual.closeSlots(1);
  expect(chain.history.transaction(transaction.id)).toBeNull();
  chain.submit(transaction);
  await manual.closeSlots(1);
  expect(chain.account(receiver.toBase58(), "processed")?.lamports).toBe(sol / 10n);
});

test("a simulation at finalized sees the old state, leaves no trace, and the newest state goes on", async () => {
  await using manual = await startManualChain();
  const { chain } = manual;
  const payer = Keypair.generate();
  manual.fund(payer, sol);
  await manual.closeSlots(1);
  const transaction = signed(payer, chain.genesis.hashText, pay(payer, Keypair.generate().publicKey, sol / 10n));
  const at = async (commitment: "processed" | "finalized") =>
    (await chain.simulate({ transaction, commitment, checkAge: true })).error;
  expect(await at("finalized")).toBe("AccountNotFound");
  expect(await at("processed")).toBeNull();
  chain.submit(transaction);
  await manual.closeSlots(1);
  expect(chain.history.transaction(transaction.id)?.executed.error).toBeNull();
});

test("fees are what the machine takes, for every mix of programs, with and without a compute budget", async () => {
  await using manual = await startManualChain();
  const { chain } = manual;
  const payer = Keypair.generate();
  manual.fund(payer, 100n * sol);
  await manual.closeSlots(1);
  const price = ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 123_457 });
  const limit = ComputeBudgetProgram.setComputeUnitLimit({ units: 77_777 });
  const transfer = () => pay(payer, Keypair.generate().publicKey, sol / 100n);
  const mixes = [[], [price], [limit], [price, limit]].flatMap((budget) => [
    [...budget, transfer()],
    [...budget, memo("one")],
    [...budget, memo("one"), memo("two"), transfer()],
    [...budget, pay(payer, payer.publicKey, 1_000n * sol)],
  ]);
  const { blockhash } = chain.at("processed");
  const sent = mixes.map((instructions) => signed(payer, blockhash, ...instructions));
  for (const transaction of sent) chain.submit(transaction);
  await manual.closeSlots(1);
  for (const { id } of sent) {
    const executed = chain.history.transaction(id)?.executed;
    const sum = (balances: readonly bigint[] = []) => balances.reduce((total, balance) => total + balance, 0n);
    expect(sum(executed?.preBalances) - sum(executed?.postBalances)).toBe(executed?.fee ?? -1n);
  }
  const block = chain.history.block(chain.at("processed").slot);
  const fees = block?.transactions.reduce((total, { fee }) => total + fee, 0n) ?? 0n;
  const burned = BigInt(sent.length) * 2_500n;
  expect(block?.rewards).toMatchObject([{ rewardType: "Fee", lamports: fees - burned }]);
});

test("a transaction whose program does not exist lands as failed and pays its fee", async () => {
  await using manual = await startManualChain();
  const { chain } = manual;
  const payer = Keypair.generate();
  manual.fund(payer, sol);
  await manual.closeSlots(1);
  const programId = Keypair.generate().publicKey;
  const call = new TransactionInstruction({ programId, keys: [], data: Buffer.from([1]) });
  const transaction = signed(payer, chain.at("processed").blockhash, call);
  chain.submit(transaction);
  await manual.closeSlots(1);
  expect(chain.history.transaction(transaction.id)?.executed.error).toBe("ProgramAccountNotFound");
  expect(chain.account(payer.publicKey.toBase58(), "processed")?.lamports).toBe(sol - 5_000n);
});

test("a failed transaction with a durable nonce pays its fee and advances the nonce, so that it cannot run again", async () => {
  await using manual = await startManualChain();
  const { chain } = manual;
  const payer = Keypair.generate();
  const nonce = Keypair.generate();
  manual.fund(payer, sol);
  await manual.closeSlots(1);
  const create = SystemProgram.createNonceAccount({
    fromPubkey: payer.publicKey,
    noncePubkey: nonce.publicKey,
    authorizedPubkey: payer.publicKey,
    lamports: 2_000_000,
  });
  const [allocate, initialize] = create.instructions;
  if (allocate === undefined || initialize === undefined) throw new Error("two instructions make a nonce account");
  chain.submit(signedBy([payer, nonce], chain.at("processed").blockhash, allocate, initialize));
  await manual.closeSlots(200);
  const address = nonce.publicKey.toBase58();
  const read = () => NonceAccount.fromAccountData(chain.account(address, "processed")?.data ?? new Uint8Array()).nonce;
  const value = read();
  const advance = SystemProgram.nonceAdvance({ noncePubkey: nonce.publicKey, authorizedPubkey: payer.publicKey });
  const tooMuch = pay(payer, Keypair.generate().publicKey, 100n * sol);
  const before = chain.account(payer.publicKey.toBase58(), "processed")?.lamports ?? 0n;
  const transaction = signed(payer, value, advance, tooMuch);
  chain.submit(transaction);
  await manual.closeSlots(1);
  expect(chain.history.transaction(transaction.id)?.executed.error).toEqual({ InstructionError: [1, { Custom: 1 }] });
  expect(chain.account(payer.publicKey.toBase58(), "processed")?.lamports).toBe(before - 5_000n);
  expect(read()).not.toBe(value);
  const again = signed(payer, value, advance, pay(payer, Keypair.generate().publicKey, sol / 100n));
  chain.submit(again);
  await manual.closeSlots(1);
  expect(chain.history.transaction(again.id)).toBeNull();
});

test("transactions beyond what may wait are dropped and counted", async () => {
  await using manual = await startManualChain({ pendingMax: 2 });
  for (let sent = 0; sent < 5; sent += 1) manual.fund(Keypair.generate(), sol);
  await manual.closeSlots(1);
  expect(manual.chain.dropped).toBeGreaterThan(0);
  expect(manual.chain.dropped).toBeLessThan(5);
});
