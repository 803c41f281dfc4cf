import { expect, test } from "bun:test";
import { type AccountWrite, MachineEndedError, type Svm, type SvmOutcome, type SvmTransaction } from "@sluice/svm/bank";
import { LiteSvmMachine } from "@sluice/svm/testing/litesvm-machine";
import { addressBytes } from "@sluice/wire/base58";
import { programs } from "@sluice/wire/programs";
import { encodeMessage, encodeTransaction } from "@sluice/wire/transaction";
import { AddressLookupTableProgram, Keypair, SystemProgram } from "@solana/web3.js";
import { GenesisKeypair } from "../model/keypair.ts";
import { airdropTransaction } from "../rpc/airdrop.ts";
import { parsedTransaction } from "../rpc/params.ts";
import { type ManualChain, signed, startManualChain } from "../testing/chain.ts";

const sol = 1_000_000_000n;
/** With the 10,000 that an airdrop asks for anyway, all that a transaction may have. */
const mostUnits = 1_390_000;

/** A machine that answers when the test says so, ends on one transaction, and may say that all use a lot of units. */
class ScriptedMachine implements Svm {
  readonly #real = new LiteSvmMachine();
  readonly facts = { pid: null, ended: 0 };
  isEnded = false;
  gate: Promise<void> = Promise.resolve();
  /** Batches that were handed over, and of how many transactions. */
  readonly batches: number[] = [];
  deadly: Uint8Array | null = null;
  deaths = 0;
  units: bigint | null = null;

  async execute(transactions: readonly SvmTransaction[], nextNonce: Uint8Array): Promise<readonly SvmOutcome[]> {
    this.batches.push(transactions.length);
    await this.gate;
    if (this.isEnded) throw new MachineEndedError();
    const { deadly, units } = this;
    if (deadly !== null && transactions.some(({ bytes }) => Buffer.compare(bytes, deadly) === 0)) {
      this.isEnded = true;
      this.deaths += 1;
      throw new MachineEndedError();
    }
    const outcomes = await this.#real.execute(transactions, nextNonce);
    return outcomes.map((outcome) => ({ ...outcome, computeUnitsConsumed: units ?? outcome.computeUnitsConsumed }));
  }

  simulate(transaction: SvmTransaction, overlay: readonly AccountWrite[], nextNonce: Uint8Array): Promise<SvmOutcome> {
    return this.#real.simulate(transaction, overlay, nextNonce);
  }

  executeBundle(transactions: readonly SvmTransaction[], nextNonce: Uint8Array): Promise<readonly SvmOutcome[]> {
    return this.#real.executeBundle(transactions, nextNonce);
  }

  simulateBundle(
    transactions: readonly SvmTransaction[],
    overlay: readonly AccountWrite[],
    nextNonce: Uint8Array,
  ): Promise<readonly SvmOutcome[]> {
    return this.#real.simulateBundle(transactions, overlay, nextNonce);
  }

  write(accounts: readonly AccountWrite[]): Promise<void> {
    return this.#real.write(accounts);
  }

  genesisAccounts(): Promise<readonly AccountWrite[]> {
    return this.#real.genesisAccounts();
  }

  async rebuild(accounts: Iterable<AccountWrite>): Promise<void> {
    this.isEnded = false;
    await this.#real.rebuild(accounts);
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}

const payers = Array.from({ length: 8 }, (_, index) => new GenesisKeypair("pipeline", `payer ${index}`));
const receiver = new GenesisKeypair("pipeline", "receiver");

async function fundedChain(): Promise<{ manual: ManualChain; machine: ScriptedMachine }> {
  const machine = new ScriptedMachine();
  const manual = await startManualChain({}, machine);
  const { chain } = manual;
  for (const { publicKey } of payers) {
    chain.submit(airdropTransaction(chain.genesis.faucet, publicKey, 1_000n * sol, chain.at("processed").blockhash, 0));
  }
  await manual.closeSlots(1);
  machine.batches.length = 0;
  return { manual, machine };
}

/** Payments of one payer, or of all in turn, that ask for `units` more than they need. */
function payments({ chain }: ManualChain, count: number, payer?: GenesisKeypair, units = 0) {
  return Array.from({ length: count }, (_, index) => {
    const from = payer ?? payers[index % payers.length] ?? receiver;
    return airdropTransaction(
      from,
      receiver.publicKey,
      sol + BigInt(index),
      chain.at("processed").blockhash,
      units + index,
    );
  });
}

/** A v0 transaction that names the first address of a table. */
function withLookup(payer: Uint8Array, blockhash: string, tableBytes: Uint8Array) {
  const message = encodeMessage({
    version: 0,
    numRequiredSignatures: 1,
    numReadonlySignedAccounts: 0,
    numReadonlyUnsignedAccounts: 1,
    staticKeys: [payer, addressBytes(programs.memo)],
    blockhash: addressBytes(blockhash),
    instructions: [{ programIndex: 1, accountIndexes: [], data: new Uint8Array(4) }],
    lookups: [{ tableBytes, writableIndexes: [0], readonlyIndexes: [] }],
  });
  return parsedTransaction(encodeTransaction({ signatures: [new Uint8Array(64).fill(1)], message }));
}

const blockOf = ({ chain }: ManualChain) =>
  chain.history.block(chain.at("processed").slot)?.transactions.map(({ signature }) => signature) ?? [];

test("batches are handed over while earlier ones run, and a slot's end waits for these and not for what is queued", async () => {
  const { manual, machine } = await fundedChain();
  await using _ = manual;
  const gate = Promise.withResolvers<void>();
  machine.gate = gate.promise;
  const sent = payments(manual, 400);
  for (const transaction of sent) manual.chain.submit(transaction);
  await Promise.resolve();
  expect(machine.batches).toEqual([64, 64, 64]);
  const closed = manual.chain.closeSlot();
  gate.resolve();
  await closed;
  const first = blockOf(manual);
  expect(first).toEqual(sent.slice(0, 192).map(({ id }) => id));
  await manual.closeSlots(1);
  expect([...first, ...blockOf(manual)]).toEqual(sent.map(({ id }) => id));
});

test("a transaction that is under way lands once, however often it comes meanwhile", async () => {
  const { manual, machine } = await fundedChain();
  await using _ = manual;
  const gate = Promise.withResolvers<void>();
  machine.gate = gate.promise;
  const [transaction] = payments(manual, 1);
  if (transaction === undefined) throw new Error("one payment was made");
  for (let times = 0; times < 3; times += 1) {
    manual.chain.submit(transaction);
    await Promise.resolve();
  }
  gate.resolve();
  await manual.closeSlots(1);
  expect(machine.batches).toEqual([1]);
  expect(blockOf(manual)).toEqual([transaction.id]);
});

test("a simulation sees a frozen slot, also while the machine works", async () => {
  const { manual, machine } = await fundedChain();
  await using _ = manual;
  const [transaction, later] = payments(manual, 2, payers[0]);
  if (transaction === undefined || later === undefined) throw new Error("two payments were made");
  const simulate = () => manual.chain.simulate({ transaction: later, commitment: "processed", checkAge: true });
  const before = await simulate();
  const gate = Promise.withResolvers<void>();
  machine.gate = gate.promise;
  manual.chain.submit(transaction);
  await Promise.resolve();
  expect(machine.batches).toEqual([1]);
  gate.resolve();
  // The machine runs the payment before the simulation, and its result is not recorded yet when that begins.
  const during = await simulate();
  expect(during.postBalances).toEqual(before.postBalances);
});

test("a transaction that may carry a nonce waits for all that is under way", async () => {
  const { manual, machine } = await fundedChain();
  await using _ = manual;
  const { chain } = manual;
  const payer = Keypair.generate();
  const { publicKey: me } = payer;
  const advance = SystemProgram.nonceAdvance({ noncePubkey: Keypair.generate().publicKey, authorizedPubkey: me });
  const gate = Promise.withResolvers<void>();
  machine.gate = gate.promise;
  for (const transaction of payments(manual, 1)) chain.submit(transaction);
  await Promise.resolve();
  chain.submit(signed(payer, chain.at("processed").blockhash, advance));
  await Promise.resolve();
  expect({ batches: machine.batches, pending: chain.facts.pending }).toEqual({ batches: [1], pending: 1 });
  gate.resolve();
  await manual.closeSlots(1);
  expect(chain.facts.pending).toBe(0);
});

test("a transaction that uses a lookup table waits for what may change one, and for nothing else", async () => {
  const { manual, machine } = await fundedChain();
  await using _ = manual;
  const { chain } = manual;
  const payer = Keypair.generate();
  manual.fund(payer, 10n * sol);
  await manual.closeSlots(1);
  const { blockhash, slot } = chain.at("processed");
  const parties = { authority: payer.publicKey, payer: payer.publicKey };
  const [create, table] = AddressLookupTableProgram.createLookupTable({ ...parties, recentSlot: Number(slot) - 1 });
  const addresses = [Keypair.generate().publicKey];
  const extend = AddressLookupTableProgram.extendLookupTable({ ...parties, lookupTable: table, addresses });
  chain.submit(signed(payer, blockhash, create, extend));
  await manual.closeSlots(1);
  const use = withLookup(payer.publicKey.toBytes(), blockhash, table.toBytes());
  const others = payments(manual, 2);
  machine.batches.length = 0;
  const gate = Promise.withResolvers<void>();
  machine.gate = gate.promise;
  for (const transaction of others.slice(0, 1)) chain.submit(transaction);
  await Promise.resolve();
  chain.submit(use, true);
  await Promise.resolve();
  expect(machine.batches).toEqual([1, 1]);
  gate.resolve();
  await manual.closeSlots(1);
  expect(blockOf(manual)).toContain(use.id);
  const again = Promise.withResolvers<void>();
  machine.gate = again.promise;
  chain.submit(signed(payer, blockhash, extend));
  await Promise.resolve();
  chain.submit(withLookup(payer.publicKey.toBytes(), chain.at("processed").blockhash, table.toBytes()), true);
  await Promise.resolve();
  expect({ batches: machine.batches, pending: chain.facts.pending }).toEqual({ batches: [1, 1, 1], pending: 1 });
  again.resolve();
  await manual.closeSlots(1);
});

test("a transaction that ends the machine is dropped when it has run alone twice; those beside it land once", async () => {
  const { manual, machine } = await fundedChain();
  await using _ = manual;
  const sent = payments(manual, 100);
  const deadly = sent[40];
  if (deadly === undefined) throw new Error("a hundred payments were made");
  machine.deadly = deadly.bytes;
  for (const transaction of sent) manual.chain.submit(transaction);
  await manual.closeSlots(1);
  expect(blockOf(manual)).toEqual(sent.filter(({ id }) => id !== deadly.id).map(({ id }) => id));
  // Once in its batch, and twice alone.
  expect(machine.deaths).toBe(3);
  expect(manual.chain.facts).toMatchObject({ dangerous: 1, rebuilds: 3, pending: 0 });
});

test("a block takes 60 million cost units and 24 million of one account; what has no room lands in the next one", async () => {
  const { manual, machine } = await fundedChain();
  await using _ = manual;
  machine.units = 1_400_000n;
  for (const transaction of payments(manual, 40, payers[0], mostUnits)) manual.chain.submit(transaction);
  const landed: number[] = [];
  for (let slot = 0; slot < 3; slot += 1) {
    await manual.closeSlots(1);
    landed.push(blockOf(manual).length);
  }
  // Each uses the units, 720 for its signature, 600 for its locks, and 11 for data and accounts.
  expect(landed).toEqual([17, 17, 6]);
  for (let index = 0; index < 60; index += 1) {
    const payer = payers[index % payers.length] ?? receiver;
    const { blockhash } = manual.chain.at("processed");
    manual.chain.submit(airdropTransaction(payer, payer.publicKey, 1n, blockhash, mostUnits + index));
  }
  await manual.closeSlots(1);
  expect(blockOf(manual).length).toBe(42);
  await manual.closeSlots(1);
  expect(blockOf(manual).length).toBe(18);
});
