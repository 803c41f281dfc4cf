import { systemClock } from "@sluice/lib";
import { programs } from "@sluice/wire/programs";
import type { Transaction } from "@sluice/wire/transaction";
import { Keypair, PublicKey, SystemProgram } from "@solana/web3.js";
import { signed } from "../../../../devnet/chain/testing/chain.ts";
import { Traffic } from "../../../../devnet/chain/traffic/traffic.ts";
import { processLog } from "../../../../devnet/log.ts";
import { TextRandom } from "../../../../devnet/random.ts";
import { type SimulatedChain, startSimulatedChain, tipAccounts } from "./testing/chain-harness.ts";
import { describeLanded } from "./testing/landed.ts";
import { describeOutcome } from "./testing/outcomes.ts";

const sol = 1_000_000_000n;
const bundleMax = 5;
const payersMax = 8;
/** Of a slot's own transactions, beside the traffic. */
const ownMax = 12;
const perSecond = 100;

/** Errors of transactions that never enter a block, so that the chain has no record of them. */
const neverLands = /AccountNotFound|InsufficientFundsForFee|InvalidAccountForFee|AlreadyProcessed|BlockhashNotFound/;

/** Payments of which some fail: too large, without a payer's account, repeated; and tips of every size. */
function ownTransactions(world: SimulatedChain, payers: readonly Keypair[], draw: TextRandom): Transaction[] {
  const { blockhash } = world.manual.chain.at("processed");
  const created: Transaction[] = [];
  for (let count = 0; count < ownMax; count += 1) {
    const kind = draw.below(8);
    const payer = kind === 0 ? Keypair.generate() : (draw.pick(payers) ?? Keypair.generate());
    const to = draw.below(2) === 0 ? Keypair.generate().publicKey : new PublicKey(draw.pick(tipAccounts) ?? "");
    const lamports = kind === 1 ? 10n ** 18n : kind === 2 ? 1n : BigInt(draw.magnitude(6, 9));
    const pay = SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: to, lamports });
    const again = kind === 3 ? created.at(-1) : undefined;
    created.push(again ?? signed(payer, blockhash, pay));
  }
  return created;
}

/** Programs that look at the slot's number or at what opening a slot writes: a bundle runs on the slot before. */
const slotDependent: ReadonlySet<string> = new Set([programs.stake, programs.addressLookupTable]);

function dependsOnSlot({ message }: Transaction): boolean {
  return message.instructions.some(({ programIndex }) => slotDependent.has(message.address(programIndex)));
}

interface Bundle {
  readonly transactions: readonly Transaction[];
  readonly outcome: string;
}

/** Bundles of random length, in the order in which the chain runs their transactions. */
async function simulateBlock(
  world: SimulatedChain,
  transactions: readonly Transaction[],
  draw: TextRandom,
): Promise<Bundle[]> {
  const { simulator, manual } = world;
  await using block = simulator.openBlock(manual.chain.openSlot);
  const groups: Transaction[][] = [];
  for (let at = 0; at < transactions.length; at += groups.at(-1)?.length ?? 1) {
    groups.push(transactions.slice(at, at + 1 + draw.below(bundleMax)));
  }
  const bundles = groups.map((group, index) => ({ id: `${index}`, transactions: group.map(({ bytes }) => bytes) }));
  const outcomes = await block.apply(bundles);
  return groups.map((group, index) => ({ transactions: group, outcome: describeOutcome(outcomes[index]) }));
}

/** Compares until a bundle fails: the chain keeps what ran before in it, and from there on the states differ. */
function compare(world: SimulatedChain, bundles: readonly Bundle[], tally: Tally): void {
  for (const { transactions, outcome } of bundles) {
    tally.bundles += 1;
    tally.transactions += transactions.length;
    const landed = describeLanded(world.manual, transactions);
    if (landed === outcome) {
      if (outcome.startsWith("ok")) continue;
      tally.failed += 1;
      return;
    }
    if (transactions.some(dependsOnSlot)) {
      tally.slotDependent += 1;
      return;
    }
    const isRepeated = outcome.startsWith("duplicate_transaction") || outcome.includes("AlreadyProcessed");
    const agrees = landed.startsWith("not landed") ? neverLands.test(outcome) : isRepeated;
    tally.failed += 1;
    if (!agrees) tally.errors.push(`${outcome} but ${landed}`);
    return;
  }
}

interface Tally {
  transactions: number;
  bundles: number;
  failed: number;
  /** Bundles whose outcome differs because a slot lies between. */
  slotDependent: number;
  readonly errors: string[];
}

/**
 * Runs the development chain's traffic (payments, tokens, swaps, NFTs, stakes, lookup tables, priority fees) and
 * payments that fail as bundles of a block, and then on the chain: each bundle succeeds with the units, fees, tip and
 * write locks that its transactions then had, or fails at the same transaction with the same error. `n` transactions.
 */
export async function run({ n, seed }: { n: number; seed: number }): Promise<{ passed: boolean; summary: string }> {
  await using world = await startSimulatedChain();
  const { manual } = world;
  const draw = new TextRandom(`simulator-fidelity/${seed}`);
  const payers = Array.from({ length: payersMax }, () => Keypair.generate());
  const submitted: Transaction[] = [];
  using _traffic = new Traffic(
    { transactionsPerSecond: perSecond, seed: String(seed), slotMs: 0 },
    {
      chain: manual.chain,
      clock: systemClock,
      log: processLog("campaign"),
      submitted: (_kind, transaction) => submitted.push(transaction),
    },
  );
  for (const payer of payers) manual.fund(payer, 1_000n * sol);
  const tally: Tally = { transactions: 0, bundles: 0, failed: 0, slotDependent: 0, errors: [] };
  let pending: readonly Bundle[] = [];
  while (tally.transactions < n && tally.errors.length < 10) {
    submitted.length = 0;
    // What was simulated lands, and the traffic hands in the next slot's share.
    await world.closeSlots(1);
    compare(world, pending, tally);
    const own = ownTransactions(world, payers, draw);
    for (const transaction of own) manual.chain.submit(transaction);
    pending = await simulateBlock(world, [...submitted, ...own], draw);
  }
  const { transactions, bundles, failed, errors } = tally;
  const other = `${tally.slotDependent} otherwise because a slot lies between`;
  const summary = `${transactions} transactions in ${bundles} bundles, ${failed} of which failed as on the chain, ${other}`;
  return { passed: errors.length === 0 && failed > 0, summary: [summary, ...errors].join("\n") };
}
