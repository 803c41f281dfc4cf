import { beforeEach, expect, test } from "bun:test";
import { InvariantError } from "@sluice/lib";
import { addressBytes } from "@sluice/wire/base58";
import { programs } from "@sluice/wire/programs";
import { Keypair, PublicKey, SystemProgram, Transaction } from "@solana/web3.js";
import { nativeAccount } from "../native/accounts.ts";
import { executeBundle, simulateBundle } from "./bundle.ts";
import { type CoreTransaction, keyAt, LiteSvmCore } from "./core.ts";

const sol = 1_000_000_000n;
const fee = 5_000n;
const nonce = new Uint8Array(32);
const [payer, other] = [Keypair.generate(), Keypair.generate()];
let core: LiteSvmCore;

beforeEach(() => {
  core = new LiteSvmCore();
  for (const { publicKey } of [payer, other]) core.write(publicKey.toBytes(), system(10n * sol));
});

const system = (lamports: bigint) =>
  nativeAccount({ lamports, owner: addressBytes(programs.system), data: new Uint8Array(), executable: false });
const balances = () => [payer, other].map(({ publicKey }) => core.account(publicKey.toBytes())?.lamports() ?? 0n);

/** A payment; `claimedFee` is what the bank says that it costs. */
function pay(lamports: bigint, claimedFee = fee): CoreTransaction {
  const transfer = SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: other.publicKey, lamports });
  const transaction = new Transaction({ feePayer: payer.publicKey, recentBlockhash: PublicKey.default.toBase58() });
  transaction.add(transfer).sign(payer);
  const bytes = new Uint8Array(transaction.serialize());
  // Head of a legacy transaction of one signature; the payer's key and the receiver's follow.
  const writable = [keyAt(bytes, 69, 0), keyAt(bytes, 69, 1)];
  const form = { verify: false, movesLamportsOnly: false, isLegacy: true, nonceIndex: -1, lifetimeStart: 165 };
  return { bytes, writable, fee: claimedFee, ...form };
}

test("a bundle that lands takes its fees from the sum of its accounts, and nothing else", () => {
  const outcomes = executeBundle([pay(sol), pay(2n * sol)], nonce, core);
  expect(outcomes.map(({ ran }) => ran.error)).toEqual([null, null]);
  expect(balances()).toEqual([7n * sol - 2n * fee, 13n * sol]);
});

test("a transaction that fails pays its fee: its payer's balance is told, and nothing else was written", () => {
  const { ran, writes, balances: told } = core.execute(pay(100n * sol), nonce);
  expect([ran.included, ran.error]).toEqual([true, { InstructionError: [0, { Custom: 1 }] }]);
  expect([writes, told]).toEqual([[], [{ index: 0, lamports: 10n * sol - fee }]]);
  expect(balances()).toEqual([10n * sol - fee, 10n * sol]);
});

test("of a transaction that moves lamports alone the balances are told, of any other the accounts", () => {
  const moved = core.execute({ ...pay(sol), movesLamportsOnly: true }, nonce);
  expect(moved.writes).toEqual([]);
  expect(moved.balances.map(({ lamports }) => lamports)).toEqual([9n * sol - fee, 11n * sol]);
  const other = core.execute(pay(sol), nonce);
  expect([other.writes.length, other.balances]).toEqual([2, []]);
});

test("a bundle of which one transaction fails leaves every account as it was, its fees too", () => {
  const outcomes = executeBundle([pay(sol), pay(100n * sol), pay(2n * sol)], nonce, core);
  expect(outcomes).toHaveLength(2);
  expect(outcomes[1]?.ran.error).toEqual({ InstructionError: [0, { Custom: 1 }] });
  expect(balances()).toEqual([10n * sol, 10n * sol]);
});

test("a bundle that changes the sum of its accounts is a defect: it throws, and every account is as it was", () => {
  expect(() => executeBundle([pay(sol, fee + 1n)], nonce, core)).toThrow(InvariantError);
  expect(balances()).toEqual([10n * sol, 10n * sol]);
});

test("a simulated bundle runs on the accounts laid over the newest state, and leaves neither", () => {
  const overlay = [{ key: payer.publicKey.toBytes(), account: system(50n * sol) }];
  const outcomes = simulateBundle([pay(40n * sol)], overlay, nonce, core);
  expect(outcomes.map(({ ran }) => ran.error)).toEqual([null]);
  expect(balances()).toEqual([10n * sol, 10n * sol]);
});
