import { afterAll, beforeAll, expect, test } from "bun:test";
import { encodeMessage, encodeTransaction, type Transaction } from "@sluice/wire/transaction";
import {
  AddressLookupTableProgram,
  Keypair,
  NONCE_ACCOUNT_LENGTH,
  NonceAccount,
  PublicKey,
  SystemProgram,
  TransactionMessage,
  VersionedTransaction,
} from "@solana/web3.js";
import { signed, signedBy } from "../../../../devnet/chain/testing/chain.ts";
import type { SimulatedBundle } from "./simulation.ts";
import { type SimulatedChain, startSimulatedChain, tipAccounts } from "./testing/chain-harness.ts";
import { describeOutcome } from "./testing/outcomes.ts";

const sol = 1_000_000_000n;
const fee = 5_000;
const payer = Keypair.generate();
const other = Keypair.generate();
let world: SimulatedChain;

beforeAll(async () => {
  world = await startSimulatedChain();
  world.manual.fund(payer, 100n * sol);
  world.manual.fund(other, 100n * sol);
  await world.closeSlots(2);
});
afterAll(() => world[Symbol.asyncDispose]());

const tip = new PublicKey(tipAccounts[0] ?? "");
const blockhash = () => world.manual.chain.at("processed").blockhash;
const pay = (from: Keypair, to: PublicKey, lamports: number | bigint) =>
  SystemProgram.transfer({ fromPubkey: from.publicKey, toPubkey: to, lamports });
const payment = (from: Keypair, to: PublicKey, lamports: number | bigint) =>
  signed(from, blockhash(), pay(from, to, lamports));
const bundleOf = (...transactions: readonly Transaction[]): SimulatedBundle => ({
  id: "bundle",
  transactions: transactions.map(({ bytes }) => bytes),
});
const simulated = async (...transactions: readonly Transaction[]) =>
  describeOutcome(await world.simulator.simulate(bundleOf(...transactions)));
const fresh = () => Keypair.generate().publicKey;

/** Runs instructions on the chain. */
async function land(signers: readonly [Keypair, ...Keypair[]], ...instructions: Parameters<typeof signedBy>[2][]) {
  const transaction = signedBy(signers, blockhash(), ...instructions);
  world.manual.chain.submit(transaction);
  await world.closeSlots(1);
  expect(world.manual.chain.history.transaction(transaction.id)?.executed.error).toBeNull();
}

test("an outcome has the gain of the tip accounts, units, fees, locks and signatures", async () => {
  const to = fresh();
  const transactions = [
    signed(payer, blockhash(), pay(payer, to, 2_000_000), pay(payer, tip, 7_000)),
    payment(payer, tip, 500),
  ];
  const outcome = await world.simulator.simulate(bundleOf(...transactions));
  expect(outcome).toEqual({
    ok: true,
    tip: 7_500n,
    computeUnits: 450,
    costUnits: 450 + 2 * 720 + 5 * 300 + 6 + 3 + 2 * 8,
    fees: 10_000n,
    writes: expect.arrayContaining([payer.publicKey.toBase58(), to.toBase58(), tip.toBase58()]),
    reads: ["11111111111111111111111111111111"] as never,
    signatures: transactions.map(({ id }) => id),
    slot: world.manual.chain.at("processed").slot,
  });
});

test("a bundle fails at the transaction that fails, and has no effects, fees included", async () => {
  for (const position of [0, 1, 2, 3, 4]) {
    const transactions = Array.from({ length: 5 }, (_, index) =>
      payment(payer, tip, index === position ? 1_000n * sol : 1_000_000n + BigInt(index)),
    );
    const outcome = await world.simulator.simulate(bundleOf(...transactions));
    expect(describeOutcome(outcome)).toBe(`simulation_failed ${position} {"InstructionError":[0,{"Custom":1}]}`);
    expect("logs" in outcome && outcome.logs.some((line) => line.includes("insufficient lamports"))).toBe(true);
  }
  // Everything that the payer has, to the last lamport.
  const all = world.manual.chain.account(payer.publicKey.toBase58(), "processed")?.lamports ?? 0n;
  expect(await simulated(payment(payer, other.publicKey, all - BigInt(fee)))).toStartWith("ok");
});

test("a wrong signature has its own reason, in any transaction", async () => {
  const good = payment(payer, tip, 1_000);
  const bad = payment(payer, tip, 2_000).bytes.slice();
  bad[20] = (bad[20] ?? 0) ^ 1;
  const outcome = await world.simulator.simulate({ id: "x", transactions: [good.bytes, bad] });
  expect(describeOutcome(outcome)).toBe("signature_invalid 1 SignatureFailure");
});

test("bytes that are not canonical and repeated transactions never reach a machine", async () => {
  const { bytes } = payment(payer, tip, 1_000);
  const trailing = new Uint8Array([...bytes, 0]);
  expect(describeOutcome(await world.simulator.simulate({ id: "x", transactions: [trailing] }))).toBe(
    "malformed_transaction 0 TRAILING_BYTES",
  );
  expect(describeOutcome(await world.simulator.simulate({ id: "x", transactions: [bytes, bytes] }))).toBe(
    "duplicate_transaction 1 AlreadyProcessed",
  );
  expect(world.simulator.simulate({ id: "x", transactions: [] })).rejects.toThrow(RangeError);
});

test("a payer without an account, an unknown blockhash and an unsupported version are refused", async () => {
  expect(await simulated(payment(Keypair.generate(), tip, 1))).toBe("simulation_failed 0 AccountNotFound");
  expect(await simulated(signed(payer, fresh().toBase58(), pay(payer, tip, 1)))).toBe(
    "blockhash_expired 0 BlockhashNotFound",
  );
  const staticKeys = [payer.publicKey.toBytes(), tip.toBytes(), SystemProgram.programId.toBytes()];
  const message = encodeMessage({
    ...{ version: 1, numRequiredSignatures: 1, numReadonlySignedAccounts: 0, numReadonlyUnsignedAccounts: 1 },
    ...{ staticKeys, blockhash: new PublicKey(blockhash()).toBytes() },
    instructions: [{ programIndex: 2, accountIndexes: [0, 1], data: pay(payer, tip, 1_000).data }],
  });
  const bytes = encodeTransaction({ message, signatures: [new Uint8Array(64)] });
  const outcome = await world.simulator.simulate({ id: "x", transactions: [bytes] });
  expect(describeOutcome(outcome)).toMatch(/^(signature_invalid|simulation_failed) 0/);
});

test("in a block each bundle runs on the effects of those before it, and attempts have none", async () => {
  await using block = world.simulator.openBlock(10n);
  const heir = Keypair.generate();
  const inherit = bundleOf(payment(payer, heir.publicKey, 50n * sol));
  const spend = bundleOf(payment(heir, tip, 10n * sol));
  const spendTooMuch = bundleOf(payment(heir, tip, 45n * sol));
  expect((await block.attempt([inherit, spend])).map(describeOutcome)).toEqual([
    expect.stringMatching(/^ok/),
    "simulation_failed 0 AccountNotFound",
  ]);
  expect((await block.apply([inherit, spend, spendTooMuch])).map((each) => each.ok)).toEqual([true, true, false]);
  expect((await block.attempt([spendTooMuch])).map((each) => each.ok)).toEqual([false]);
  // A slot goes by in which the payer's account changes; what the block wrote stays over it.
  await land([other], pay(other, payer.publicKey, 1));
  expect((await block.attempt([spend])).map((each) => each.ok)).toEqual([true]);
  expect(describeOutcome(await world.simulator.simulate(spend))).toBe("simulation_failed 0 AccountNotFound");
  await using another = world.simulator.openBlock(11n);
  expect((await another.attempt([spend])).map(describeOutcome)).toEqual(["simulation_failed 0 AccountNotFound"]);
});

test("bundles of a closed block are answered with session_over", async () => {
  const block = world.simulator.openBlock(12n);
  await block[Symbol.asyncDispose]();
  expect((await block.apply([bundleOf(payment(payer, tip, 1_000))])).map(describeOutcome)).toEqual([
    "unavailable session_over",
  ]);
});

test("keys of lookup tables are locks, and a tip account that only a table names does not count", async () => {
  const [create, table] = AddressLookupTableProgram.createLookupTable({
    authority: payer.publicKey,
    payer: payer.publicKey,
    recentSlot: world.manual.chain.at("processed").slot - 1n,
  });
  const to = fresh();
  const addresses = [tip, to];
  const extend = AddressLookupTableProgram.extendLookupTable({
    ...{ authority: payer.publicKey, payer: payer.publicKey, lookupTable: table, addresses },
  });
  await land([payer], create, extend);
  const viaTable = (...instructions: ReturnType<typeof pay>[]): SimulatedBundle => {
    const state = { deactivationSlot: 2n ** 64n - 1n, lastExtendedSlot: 0, lastExtendedSlotStartIndex: 0, addresses };
    const message = new TransactionMessage({
      ...{ payerKey: payer.publicKey, recentBlockhash: blockhash(), instructions },
    }).compileToV0Message([{ key: table, state, isActive: () => true }]);
    const transaction = new VersionedTransaction(message);
    transaction.sign([payer]);
    return { id: "table", transactions: [transaction.serialize()] };
  };
  const loaded = await world.simulator.simulate(viaTable(pay(payer, to, 2_000_000)));
  expect(loaded.ok && [...loaded.writes].toSorted()).toEqual(
    [payer.publicKey.toBase58(), to.toBase58()].toSorted() as never,
  );
  const tipped = await world.simulator.simulate(viaTable(pay(payer, tip, 5_000)));
  expect(describeOutcome(tipped)).toStartWith("tip_account_via_lookup_table 0");
  const direct = payment(payer, tip, 3_000);
  const both = await world.simulator.simulate({
    id: "both",
    transactions: [...viaTable(pay(payer, tip, 5_000)).transactions, direct.bytes],
  });
  // The balance moves by both once the account is locked by a key of the transaction's own.
  expect(both.ok && both.tip).toBe(8_000n);
});

test("a durable nonce replaces a blockhash once, and once in a block", async () => {
  const nonce = Keypair.generate();
  const create = SystemProgram.createNonceAccount({
    fromPubkey: payer.publicKey,
    noncePubkey: nonce.publicKey,
    authorizedPubkey: payer.publicKey,
    lamports: 2_000_000,
  });
  await land([payer, nonce], ...create.instructions);
  const advance = SystemProgram.nonceAdvance({ noncePubkey: nonce.publicKey, authorizedPubkey: payer.publicKey });
  const data = world.manual.chain.account(nonce.publicKey.toBase58(), "processed")?.data ?? new Uint8Array();
  expect(data.length).toBe(NONCE_ACCOUNT_LENGTH);
  const value = NonceAccount.fromAccountData(data).nonce;
  const durable = (lamports: number, lifetime = value) => signed(payer, lifetime, advance, pay(payer, tip, lamports));
  expect(await simulated(durable(1_000))).toStartWith("ok tip=1000");
  expect(await simulated(durable(1_000, fresh().toBase58()))).toBe("blockhash_expired 0 BlockhashNotFound");
  expect(await simulated(durable(1_000), durable(2_000))).toBe("blockhash_expired 1 BlockhashNotFound");
  await using block = world.simulator.openBlock(20n);
  const [first, second] = await block.apply([bundleOf(durable(1_000)), bundleOf(durable(2_000))]);
  expect([describeOutcome(first), describeOutcome(second)]).toEqual([
    expect.stringMatching(/^ok/),
    "blockhash_expired 0 BlockhashNotFound",
  ]);
});

test("accounts are read once a slot, together, for any number of bundles", async () => {
  await world.closeSlots(1);
  const { reads } = world.source;
  reads.length = 0;
  const bundles = Array.from({ length: 20 }, (_, index) => bundleOf(payment(payer, tip, 1_000 + index)));
  await Promise.all(bundles.map((bundle) => world.simulator.simulate(bundle)));
  await Promise.all(bundles.map((bundle) => world.simulator.simulate(bundle)));
  expect(reads.length).toBe(1);
  expect(new Set(reads[0]?.addresses).size).toBe(reads[0]?.addresses.length ?? 0);
  await world.closeSlots(1);
  await world.simulator.simulate(bundleOf(payment(payer, tip, 1_000)));
  expect(reads.length).toBe(2);
});

test("a bundle whose accounts cannot be read is unavailable, and the next one succeeds", async () => {
  await world.closeSlots(1);
  world.source.fails = true;
  expect(await simulated(payment(payer, tip, 1_000))).toBe("unavailable no_accounts");
  world.source.fails = false;
  expect(await simulated(payment(payer, tip, 1_000))).toStartWith("ok");
});
