import type { BankMachine } from "@sluice/svm/bank";
import { TextRandom } from "../../random.ts";
import { GenesisKeypair } from "../model/keypair.ts";
import { airdropTransaction } from "../rpc/airdrop.ts";
import { type ManualChain, startManualChain } from "../testing/chain.ts";
import { startMachine } from "./index.ts";
import { killMachine } from "./testing/kill-machine.ts";

const sol = 1_000_000_000n;
const payers = 16;
/** Payments of one slot, and how often the machine is killed in one at most. */
const paymentsMax = 400;
const killsMax = 2;
/** Half of each fee is burned, and the rest is the validator's. */
const burnedLamports = 2_500n;

interface Sent {
  readonly signatures: string[];
  lamports: bigint;
}

/** One slot: payments that come in spurts, kills between them, and its end at any moment of all this. */
async function runSlot(
  manual: ManualChain,
  svm: BankMachine,
  cast: TrafficAccounts,
  draw: TextRandom,
  sent: Sent,
): Promise<void> {
  const { chain } = manual;
  const { blockhash } = chain.at("processed");
  const payments = 1 + draw.below(paymentsMax);
  const kills = draw.below(killsMax + 1);
  const killAt = new Set(Array.from({ length: kills }, () => draw.below(payments)));
  for (let index = 0; index < payments; index += 1) {
    const payer = cast.payers[sent.signatures.length % payers] ?? cast.receiver;
    const lamports = 1_000_000n + BigInt(sent.signatures.length);
    const transaction = airdropTransaction(payer, cast.receiver.publicKey, lamports, blockhash, 0);
    chain.submit(transaction, draw.below(2) === 0);
    sent.signatures.push(transaction.id);
    sent.lamports += lamports;
    // A turn of the event loop: batches go out and answers come in.
    if (draw.below(40) === 0) await Bun.sleep(0);
    if (killAt.has(index)) killMachine(svm);
  }
  if (draw.below(2) === 0) await chain.settled();
  await chain.closeSlot();
}

interface TrafficAccounts {
  readonly payers: readonly GenesisKeypair[];
  readonly receiver: GenesisKeypair;
}

/** The differences at the end, in a few words; empty when there are none. */
function faultsOf({ chain }: ManualChain, cast: TrafficAccounts, lamportsBefore: bigint, sent: Sent): string[] {
  const slots = chain.history.slots(2n, chain.at("processed").slot, 1_000_000);
  const landed = slots.flatMap((slot) => chain.history.block(slot)?.transactions ?? []);
  const faults: string[] = [];
  const signatures = new Set(landed.map(({ signature }) => signature));
  if (signatures.size !== landed.length) faults.push(`${landed.length - signatures.size} landed twice`);
  if (landed.length !== sent.signatures.length) faults.push(`${landed.length} of ${sent.signatures.length} landed`);
  if (landed.some(({ error }) => error !== null)) faults.push("some failed");
  const received = chain.account(cast.receiver.address, "processed")?.lamports ?? 0n;
  if (received !== sent.lamports) faults.push(`${received} lamports were received, not ${sent.lamports}`);
  const burned = lamportsBefore - chain.accounts.lamports;
  if (burned !== BigInt(landed.length) * burnedLamports) faults.push(`${burned} lamports were burned`);
  const { pending, dropped, dangerous } = chain.facts;
  if (pending + dropped + dangerous > 0) faults.push(`${pending} pending, ${dropped} dropped, ${dangerous} dangerous`);
  return faults;
}

/**
 * Sends about `n` payments while the machine's process is killed again and again, in the middle of batches and between
 * them. Each must land once, no lamport be lost, no slot be stuck.
 */
export async function run({ n, seed }: { n: number; seed: number }): Promise<{ passed: boolean; summary: string }> {
  const svm = await startMachine();
  const draw = new TextRandom(`machine-kills/${seed}`);
  await using manual = await startManualChain({ pendingMax: 1_000_000, transactionsMax: n + 10_000 }, svm);
  const { chain } = manual;
  const cast = {
    payers: Array.from({ length: payers }, (_, index) => new GenesisKeypair("payers", String(index))),
    receiver: new GenesisKeypair("receiver", "0"),
  };
  const { blockhash } = chain.at("processed");
  for (const { publicKey } of cast.payers) {
    chain.submit(airdropTransaction(chain.genesis.faucet, publicKey, 100_000n * sol, blockhash, 0));
  }
  await manual.closeSlots(1);
  const lamportsBefore = chain.accounts.lamports;
  const sent: Sent = { signatures: [], lamports: 0n };
  while (sent.signatures.length < n) await runSlot(manual, svm, cast, draw, sent);
  await manual.closeSlots(1);
  const faults = faultsOf(manual, cast, lamportsBefore, sent);
  const { ended } = svm.facts;
  const summary = `${sent.signatures.length} payments, ${ended} kills, ${chain.at("processed").slot} slots`;
  return { passed: faults.length === 0 && ended > 0, summary: [summary, ...faults].join("; ") };
}
