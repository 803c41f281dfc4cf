import { afterEach, describe, expect, test } from "bun:test";
import type { Svm, SvmOutcome, SvmTransaction } from "@sluice/svm/bank";
import { LiteSvmMachine } from "@sluice/svm/testing/litesvm-machine";
import { decodeTipPaymentConfig, tipPrograms } from "@sluice/wire/accounts/tips";
import type { Address } from "@sluice/wire/identifiers";
import { programs } from "@sluice/wire/programs";
import type { Transaction } from "@sluice/wire/transaction";
import { ComputeBudgetProgram, Keypair, PublicKey, SystemProgram, TransactionInstruction } from "@solana/web3.js";
import { distributionAddress, tipAccounts, tipPaymentConfigAddress } from "../../consensus/tips/tip-programs.ts";
import { startMachine } from "../../machine/index.ts";
import { killMachine } from "../../machine/testing/kill-machine.ts";
import { type ManualChain, signed, signedBy, startManualChain } from "../../testing/chain.ts";
import type { BundlePacket } from "./insertion.ts";

const sol = 1_000_000_000n;
const signaturesFee = 5_000n;

let stack = new AsyncDisposableStack();
afterEach(async () => {
  await stack.disposeAsync();
  stack = new AsyncDisposableStack();
});

interface TrafficAccounts {
  readonly manual: ManualChain;
  readonly payer: Keypair;
  readonly other: Keypair;
}

/** A machine on which everything uses all units that a transaction may have. */
class GreedyMachine extends LiteSvmMachine {
  override async execute(
    transactions: readonly SvmTransaction[],
    nextNonce: Uint8Array,
  ): Promise<readonly SvmOutcome[]> {
    const outcomes = await super.execute(transactions, nextNonce);
    return outcomes.map((outcome) => ({ ...outcome, computeUnitsConsumed: 1_390_000n }));
  }
}

async function cast(validators = 1, machine: Svm = new LiteSvmMachine()): Promise<TrafficAccounts> {
  const manual = stack.use(await startManualChain({ validators, slotsPerEpoch: 432n }, machine));
  const [payer, other] = [Keypair.generate(), Keypair.generate()];
  manual.fund(payer, 1_000n * sol);
  manual.fund(other, 1_000n * sol);
  await manual.closeSlots(1);
  return { manual, payer, other };
}

const blockhash = ({ chain }: ManualChain) => chain.at("processed").blockhash;

function transfer(from: Keypair, to: PublicKey, lamports: bigint) {
  return SystemProgram.transfer({ fromPubkey: from.publicKey, toPubkey: to, lamports });
}

function pays(
  { manual }: TrafficAccounts,
  from: Keypair,
  lamports: bigint,
  to = Keypair.generate().publicKey,
): Transaction {
  return signed(from, blockhash(manual), transfer(from, to, lamports));
}

const packets = (transactions: readonly Transaction[]): BundlePacket[] =>
  transactions.map(({ bytes }) => ({ data: bytes, isDiscarded: false }));

function send({ chain }: ManualChain, transactions: readonly Transaction[], leader: string | null = null) {
  const insertion = chain.bundles.submit(packets(transactions), leader);
  return insertion.ok ? null : insertion.code;
}

const ids = (transactions: readonly Transaction[]): string[] => transactions.map(({ id }) => id);

const landed = ({ chain }: ManualChain): string[] =>
  chain.history.block(chain.at("processed").slot)?.transactions.map(({ signature }) => signature) ?? [];

const lamportsOf = ({ chain }: ManualChain, key: PublicKey | string): bigint =>
  chain.accounts.newest(typeof key === "string" ? key : key.toBase58())?.lamports ?? 0n;

describe("a bundle runs whole", () => {
  test("in order and next to each other, in the midst of ordinary traffic of the same accounts", async () => {
    const all = await cast();
    const { manual, payer, other } = all;
    const ordinary = (count: number) => Array.from({ length: count }, (_, at) => pays(all, other, sol + BigInt(at)));
    const before = ordinary(40);
    for (const transaction of before) manual.chain.submit(transaction);
    const relay = Keypair.generate();
    // Each needs what the one before it paid.
    const bundle = [
      pays(all, payer, 3n * sol, relay.publicKey),
      pays(all, relay, 2n * sol, other.publicKey),
      pays(all, other, sol, relay.publicKey),
    ];
    expect(send(manual, bundle)).toBeNull();
    const after = ordinary(10);
    for (const transaction of after) manual.chain.submit(transaction);
    await manual.closeSlots(1);
    const block = landed(manual);
    expect(block.length).toBe(53);
    const at = block.indexOf(bundle[0]?.id ?? "");
    expect(block.slice(at, at + 3)).toEqual(ids(bundle));
    expect(manual.chain.bundles.facts).toMatchObject({ landed: 1, waiting: 0, dropped: {} });
  });

  for (const position of [0, 1, 2, 3, 4]) {
    test(`or not at all: failing at position ${position} it leaves nothing, no fee taken`, async () => {
      const all = await cast();
      const { manual, payer, other } = all;
      const relay = Keypair.generate();
      const sound = [
        pays(all, payer, 5n * sol, relay.publicKey),
        pays(all, relay, sol, other.publicKey),
        pays(all, relay, sol + 1n, other.publicKey),
        pays(all, other, sol, Keypair.generate().publicKey),
      ];
      const bad = pays(all, payer, 5_000n * sol);
      const bundle = sound.toSpliced(position, 0, bad);
      const total = manual.chain.accounts.lamports;
      const held = [payer, other, relay].map(({ publicKey }) => lamportsOf(manual, publicKey));
      expect(send(manual, bundle)).toBeNull();
      await manual.closeSlots(1);
      expect(landed(manual)).toEqual([]);
      expect([payer, other, relay].map(({ publicKey }) => lamportsOf(manual, publicKey))).toEqual(held);
      expect(manual.chain.accounts.lamports).toBe(total);
      expect(manual.chain.bundles.facts).toMatchObject({ landed: 0, waiting: 0, dropped: { failed: 1 } });
      // The machine holds the same as the bank: what was left is spent to the last lamport.
      const rest = lamportsOf(manual, payer.publicKey) - signaturesFee;
      const last = pays(all, payer, rest);
      expect(send(manual, [last])).toBeNull();
      await manual.closeSlots(1);
      expect(landed(manual)).toEqual([last.id]);
    });
  }

  test("and once: what is delivered twice is dropped the second time, whole", async () => {
    const all = await cast();
    const { manual, payer } = all;
    const bundle = [pays(all, payer, sol), pays(all, payer, 2n * sol)];
    send(manual, bundle);
    send(manual, bundle);
    await manual.closeSlots(1);
    send(manual, [pays(all, payer, 3n * sol), ...bundle]);
    await manual.closeSlots(1);
    expect(landed(manual)).toEqual([]);
    expect(manual.chain.bundles.facts).toMatchObject({ landed: 1, dropped: { refused: 2 } });
  });

  test("and not beside itself: one whose transaction landed alone leaves nothing, and the other way round it lands once", async () => {
    const all = await cast();
    const { manual, payer } = all;
    const [first, second, third] = [pays(all, payer, sol), pays(all, payer, 2n * sol), pays(all, payer, 3n * sol)];
    manual.chain.submit(second);
    await manual.chain.settled();
    expect(send(manual, [first, second])).toBeNull();
    expect(send(manual, [third])).toBeNull();
    manual.chain.submit(third);
    await manual.closeSlots(1);
    expect(landed(manual)).toEqual(ids([second, third]));
  });

  test("with the accounts that a failed one made gone again", async () => {
    const all = await cast();
    const { manual, payer } = all;
    const account = Keypair.generate();
    const create = SystemProgram.createAccount({
      fromPubkey: payer.publicKey,
      newAccountPubkey: account.publicKey,
      lamports: Number(sol),
      space: 36,
      programId: new PublicKey(programs.bpfLoaderUpgradeable),
    });
    const made = signedBy([payer, account], blockhash(manual), create);
    send(manual, [made, pays(all, payer, 5_000n * sol)]);
    await manual.closeSlots(1);
    expect(landed(manual)).toEqual([]);
    expect(manual.chain.accounts.newest(account.publicKey.toBase58())).toBeNull();
    // It may be made again, which it could not if the machine still had it.
    manual.chain.submit(made);
    await manual.closeSlots(1);
    expect(landed(manual)).toEqual([made.id]);
    expect(lamportsOf(manual, account.publicKey)).toBe(sol);
  });
});

describe("a bundle is not let in", () => {
  const calls = (program: string) => new TransactionInstruction({ programId: new PublicKey(program), keys: [] });

  test("when it is empty, too large, discarded, unsigned, malformed or twice the same", async () => {
    const all = await cast();
    const { manual, payer } = all;
    const sound = pays(all, payer, sol);
    const spoilt = Uint8Array.from(sound.bytes);
    spoilt[5] = (spoilt[5] ?? 0) ^ 1;
    const refusal = (received: readonly BundlePacket[]) => {
      const insertion = manual.chain.bundles.submit(received, null);
      return insertion.ok ? null : [insertion.code, insertion.index];
    };
    const [good = { data: spoilt, isDiscarded: true }] = packets([sound]);
    expect(refusal([])).toEqual(["EmptyBatch", null]);
    const six = Array.from({ length: 6 }, (_, at) => pays(all, payer, sol + BigInt(at)));
    expect(refusal(packets(six))).toEqual(["BundleTooLarge", null]);
    expect(refusal([good, { data: sound.bytes, isDiscarded: true }])).toEqual(["PacketMarkedDiscard", 1]);
    expect(refusal([good, { data: spoilt, isDiscarded: false }])).toEqual(["SignatureFailure", 1]);
    expect(refusal([good, { data: sound.bytes.subarray(1), isDiscarded: false }])).toEqual(["PacketFilterError", 1]);
    expect(refusal([good, good])).toEqual(["DuplicateTransaction", 1]);
    await manual.closeSlots(1);
    expect(landed(manual)).toEqual([]);
  });

  test("when it names the tip payment program, though it may pay to a tip account", async () => {
    const all = await cast();
    const { manual, payer } = all;
    const names = signed(payer, blockhash(manual), calls(tipPrograms.payment));
    expect(send(manual, [pays(all, payer, sol), names])).toBe("PacketFilterError");
    const tip = pays(all, payer, sol, new PublicKey(tipAccounts[0] ?? ""));
    expect(send(manual, [tip])).toBeNull();
    await manual.closeSlots(1);
    expect(landed(manual)).toEqual([tip.id]);
  });

  test("when as many wait as may", async () => {
    const all = await cast(5);
    const { manual, payer } = all;
    const later = leaderAfter(manual);
    const bundle = [pays(all, payer, sol)];
    for (let sent = 0; sent < 1_000; sent += 1) expect(send(manual, bundle, later)).toBeNull();
    expect(send(manual, bundle, later)).toBe("ContainerFull");
  });
});

/** The identity that leads next after the one that leads now. */
function leaderAfter({ chain }: ManualChain): string {
  const now = chain.cluster.leaderOf(chain.openSlot);
  for (let slot = chain.openSlot; ; slot += 1n) {
    const leader = chain.cluster.leaderOf(slot);
    if (leader !== now) return leader;
  }
}

describe("a bundle is for its leader alone", () => {
  test("it waits for the leader's slot when that is near", async () => {
    const all = await cast(5);
    const { manual, payer } = all;
    const later = leaderAfter(manual);
    const bundle = [pays(all, payer, sol), pays(all, payer, 2n * sol)];
    expect(send(manual, bundle, later)).toBeNull();
    while (manual.chain.cluster.leaderOf(manual.chain.openSlot) !== later) {
      expect(manual.chain.bundles.facts).toMatchObject({ waiting: 1, landed: 0 });
      await manual.closeSlots(1);
    }
    await manual.closeSlots(1);
    const { slot } = manual.chain.at("processed");
    expect(landed(manual)).toEqual(ids(bundle));
    expect(manual.chain.cluster.leaderOf(slot)).toBe(later);
    expect(manual.chain.cluster.leaderOf(slot - 1n)).not.toBe(later);
  });

  test("it is dropped when the leader is far away", async () => {
    const all = await cast(32);
    const { manual, payer } = all;
    const { chain } = manual;
    const near = new Set(Array.from({ length: 20 }, (_, at) => chain.cluster.leaderOf(chain.openSlot + BigInt(at))));
    const far = chain.genesis.validators.find(({ identity }) => !near.has(identity));
    if (far === undefined) throw new Error("all are near");
    expect(send(manual, [pays(all, payer, sol)], far.identity)).toBeNull();
    await manual.closeSlots(1);
    expect(chain.bundles.facts).toMatchObject({ waiting: 0, landed: 0, dropped: { "leader far away": 1 } });
  });

  test("one that could not run in any slot of its leader's turn is dropped when the next turn is far away", async () => {
    const all = await cast(32);
    const { manual, payer } = all;
    const { chain } = manual;
    const leader = chain.cluster.leaderOf(chain.openSlot);
    // Who cannot be paid stops every bundle of the slot.
    chain.blockBuilder = () => ({ address: programs.token, commissionPercent: 5n });
    expect(send(manual, [pays(all, payer, sol)], leader)).toBeNull();
    const isNear = () =>
      Array.from({ length: 20 }, (_, at) => chain.cluster.leaderOf(chain.openSlot + BigInt(at))).includes(leader);
    while (isNear()) {
      expect(chain.bundles.facts.waiting).toBe(1);
      await manual.closeSlots(1);
    }
    expect(chain.bundles.facts).toMatchObject({ waiting: 0, landed: 0, dropped: { "leader far away": 1 } });
  });

  test("one for which the block has no room waits for the next slot and lands whole", async () => {
    const all = await cast(1, new GreedyMachine());
    const { manual, payer } = all;
    const { chain } = manual;
    const limit = ComputeBudgetProgram.setComputeUnitLimit({ units: 1_400_000 });
    const greedy = Array.from({ length: 20 }, (_, at) =>
      signed(payer, blockhash(manual), limit, transfer(payer, Keypair.generate().publicKey, sol + BigInt(at))),
    );
    // Of one account's transactions a block takes 24 million units: seventeen of these, and no bundle of three more.
    for (const transaction of greedy.slice(0, 15)) chain.submit(transaction);
    await chain.settled();
    const bundle = greedy.slice(15, 18);
    expect(send(manual, bundle)).toBeNull();
    await chain.settled();
    expect(chain.bundles.facts).toMatchObject({ landed: 0, kept: 1, waiting: 1 });
    // What was reserved for a part of it is given back: two single ones still fit.
    for (const transaction of greedy.slice(18)) chain.submit(transaction);
    await manual.closeSlots(1);
    expect(landed(manual)).toEqual(ids(greedy.toSpliced(15, 3)));
    await manual.closeSlots(1);
    expect(landed(manual)).toEqual(ids(bundle));
    expect(chain.bundles.facts).toMatchObject({ landed: 1, kept: 1, waiting: 0 });
  });
});

describe("before a leader's first bundle of a slot the tips change hands", () => {
  const builder = (address: string, commissionPercent = 10n) => ({ address: address as Address, commissionPercent });
  const configOf = ({ chain }: ManualChain) => {
    const account = chain.accounts.newest(tipPaymentConfigAddress);
    return account === null ? null : decodeTipPaymentConfig(account.data);
  };

  test("earlier tips go to the receiver and builder of before, later ones to the new ones", async () => {
    const all = await cast();
    const { manual, payer } = all;
    const { chain } = manual;
    const [leader] = chain.genesis.validators;
    const { address: receiver } = distributionAddress(leader.voteBytes, 0n);
    const [tipAccount = ""] = tipAccounts;
    const tip = () => pays(all, payer, sol, new PublicKey(tipAccount));
    const [first, second] = [Keypair.generate().publicKey.toBase58(), Keypair.generate().publicKey.toBase58()];
    chain.blockBuilder = () => builder(first);
    const held = lamportsOf(manual, receiver);
    send(manual, [tip()]);
    await manual.closeSlots(1);
    expect(configOf(manual)).toMatchObject({ tipReceiver: receiver, blockBuilder: first });
    expect(configOf(manual)?.blockBuilderCommissionPercent).toBe(10n);
    chain.blockBuilder = () => builder(second, 50n);
    const total = chain.accounts.lamports;
    send(manual, [tip()]);
    await manual.closeSlots(1);
    expect([first, second].map((key) => lamportsOf(manual, key))).toEqual([sol / 10n, 0n]);
    expect(lamportsOf(manual, receiver) - held).toBe((sol * 9n) / 10n);
    // Nothing but half of the fee is burned.
    expect(total - chain.accounts.lamports).toBe(signaturesFee / 2n);
  });

  test("once a slot, and not at all without a bundle", async () => {
    const all = await cast();
    const { manual, payer } = all;
    const before = configOf(manual)?.blockBuilder;
    const key = Keypair.generate().publicKey.toBase58();
    manual.chain.blockBuilder = () => builder(key);
    await manual.closeSlots(2);
    expect(configOf(manual)?.blockBuilder).toBe(before ?? ("" as Address));
    send(manual, [pays(all, payer, sol)]);
    await manual.closeSlots(1);
    expect(configOf(manual)?.blockBuilder).toBe(key as Address);
  });

  test("a builder that is one of the tip programs' own accounts costs no lamport", async () => {
    for (const own of [tipPaymentConfigAddress, ...tipAccounts.slice(0, 2)]) {
      const all = await cast();
      const { manual, payer } = all;
      const { chain } = manual;
      const tip = () => pays(all, payer, sol, new PublicKey(tipAccounts[1] ?? ""));
      chain.blockBuilder = () => builder(own);
      send(manual, [tip()]);
      await manual.closeSlots(1);
      chain.blockBuilder = () => builder(Keypair.generate().publicKey.toBase58());
      const total = chain.accounts.lamports;
      send(manual, [tip()]);
      await manual.closeSlots(1);
      expect(total - chain.accounts.lamports).toBe(signaturesFee / 2n);
      expect(chain.bundles.facts.landed).toBe(2);
    }
  });

  test("while a builder cannot be paid no bundle runs; they wait", async () => {
    const all = await cast();
    const { manual, payer } = all;
    const { chain } = manual;
    chain.blockBuilder = () => builder(programs.token);
    const bundle = [pays(all, payer, sol)];
    send(manual, bundle);
    await manual.closeSlots(2);
    expect(chain.bundles.facts).toMatchObject({ waiting: 1, landed: 0 });
    chain.blockBuilder = () => null;
    await manual.closeSlots(2);
    expect(landed(manual)).toEqual(ids(bundle));
  });
});

describe("a machine that ends during a bundle", () => {
  /** Is killed as soon as it was handed a bundle, so many times. */
  async function mortalMachine(deaths: number): Promise<Svm> {
    const machine = await startMachine();
    const executeBundle = machine.executeBundle.bind(machine);
    let left = deaths;
    machine.executeBundle = (...bundle) => {
      if (left > 0) killMachine(machine);
      left -= 1;
      return executeBundle(...bundle);
    };
    return machine;
  }

  for (const [deaths, fate] of [
    [1, "runs again and lands whole when it ended once"],
    [2, "is dropped whole when it ended twice"],
  ] as const) {
    test(`takes all of it with it: the bundle ${fate}`, async () => {
      const all = await cast(1, await mortalMachine(deaths));
      const { manual, payer, other } = all;
      const ordinary = [pays(all, other, sol), pays(all, other, 2n * sol)];
      const bundle = [pays(all, payer, sol), pays(all, payer, 2n * sol)];
      const total = manual.chain.accounts.lamports;
      expect(send(manual, bundle)).toBeNull();
      for (const transaction of ordinary) manual.chain.submit(transaction);
      await manual.closeSlots(1);
      const whole = [...(deaths === 1 ? bundle : []), ...ordinary];
      expect(landed(manual)).toEqual(ids(whole));
      expect(total - manual.chain.accounts.lamports).toBe((BigInt(whole.length) * signaturesFee) / 2n);
      const { landed: count, dropped } = manual.chain.bundles.facts;
      expect([count, dropped]).toEqual(deaths === 1 ? [1, {}] : [0, { dangerous: 1 }]);
      expect(manual.chain.facts.machine.ended).toBe(deaths);
    });
  }
});
