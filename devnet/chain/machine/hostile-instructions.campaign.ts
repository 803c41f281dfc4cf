import type { Svm } from "@sluice/svm/bank";
import { LiteSvmMachine } from "@sluice/svm/testing/litesvm-machine";
import { addressBytes } from "@sluice/wire/base58";
import { ByteWriter } from "@sluice/wire/bytes";
import { programs, sysvars } from "@sluice/wire/programs";
import { encodeMessage, parseTransaction, type Transaction } from "@sluice/wire/transaction";
import type { Chain } from "../bank/chain.ts";
import { startManualChain } from "../testing/chain.ts";
import { startMachine } from "./index.ts";

/** A small seeded generator (mulberry32): a seed replays a run. */
function generator(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

function pick<Item>(random: (below: number) => number, items: readonly Item[]): Item {
  const item = items[random(items.length)];
  if (item === undefined) throw new Error("nothing to pick from");
  return item;
}

/** Instruction data: a tag of one, four or eight bytes that programs know, then noise that leans towards edges. */
function instructionData(random: (below: number) => number): Uint8Array {
  const writer = new ByteWriter();
  const tag = random(40);
  if (random(3) === 0) writer.u8(tag);
  else writer.u32(tag);
  const fields = random(8);
  for (let field = 0; field < fields; field += 1) {
    const kind = random(5);
    if (kind === 0) writer.u64(pick(random, [0n, 1n, 10_000_000n, 0x7fff_ffff_ffff_ffffn, 0xffff_ffff_ffff_ffffn]));
    else if (kind === 1) writer.u32(pick(random, [0, 1, 80, 200, 0xffff_ffff]));
    else if (kind === 2) writer.u8(random(256));
    else if (kind === 3) writer.bytes(new Uint8Array(32).fill(random(256)));
    else writer.bytes(Uint8Array.from({ length: random(24) }, () => random(256)));
  }
  return writer.finish();
}

interface TrafficAccounts {
  readonly payer: Uint8Array;
  readonly blockhash: Uint8Array;
  readonly keys: readonly Uint8Array[];
  /** Those of the keys that are programs. */
  readonly callable: ReadonlySet<Uint8Array>;
}

/** A transaction that the strict parser takes and whose instructions mean anything at all; null when it is too long. */
function hostileTransaction(random: (below: number) => number, cast: TrafficAccounts): Transaction | null {
  const chosen = new Map<string, Uint8Array>();
  const count = 2 + random(12);
  for (let tries = 0; tries < count; tries += 1) {
    const key = pick(random, cast.keys);
    chosen.set(Buffer.from(key).toString("hex"), key);
  }
  chosen.delete(Buffer.from(cast.payer).toString("hex"));
  const staticKeys = [cast.payer, ...chosen.values()];
  const callable = staticKeys.flatMap((key, index) => (index > 0 && cast.callable.has(key) ? [index] : []));
  const signers = 1 + random(Math.min(4, staticKeys.length));
  const instructions = Array.from({ length: 1 + random(4) }, () => ({
    programIndex: callable.length > 0 && random(10) > 0 ? pick(random, callable) : 1 + random(staticKeys.length),
    accountIndexes: Array.from({ length: random(9) }, () => random(staticKeys.length)),
    data: instructionData(random),
  }));
  const message = encodeMessage({
    version: pick(random, ["legacy", 0] as const),
    numRequiredSignatures: signers,
    numReadonlySignedAccounts: random(signers),
    numReadonlyUnsignedAccounts: random(staticKeys.length - signers + 1),
    staticKeys,
    blockhash: cast.blockhash,
    instructions,
  });
  const writer = new ByteWriter().u8(signers);
  for (let signer = 0; signer < signers; signer += 1) {
    writer.bytes(Uint8Array.from({ length: 64 }, () => random(256)));
  }
  const parsed = parseTransaction(writer.bytes(message).finish());
  return parsed.ok ? parsed.transaction : null;
}

function accountsOf(chain: Chain): TrafficAccounts {
  const { faucet, validators } = chain.genesis;
  const [validator] = validators;
  const called = Object.values(programs).map((address) => addressBytes(address));
  const named = [...Object.values(sysvars), validator.vote, validator.stake, validator.identity];
  const fresh = Array.from({ length: 12 }, (_, index) => new Uint8Array(32).fill(index + 1));
  return {
    payer: faucet.publicKey,
    blockhash: addressBytes(chain.at("processed").blockhash),
    keys: [...called, ...called, ...named.map((address) => addressBytes(address)), ...fresh],
    callable: new Set(called),
  };
}

/** So many hostile transactions, less those that would be too long, for a chain as it stands now. */
export function hostileTransactions(seed: number, count: number, chain: Chain): Transaction[] {
  const random = generator(seed);
  const cast = accountsOf(chain);
  return Array.from({ length: count }, () => hostileTransaction(random, cast) ?? []).flat();
}

interface Tally {
  sent: number;
  landed: number;
  succeeded: number;
  unbalanced: number;
}

/** One chain lives through this many transactions: sooner or later one of them takes the payer's account away. */
const transactionsPerChain = 1_000;
const transactionsPerSlot = 100;

async function runOneChain(random: (below: number) => number, n: number, tally: Tally, svm: Svm): Promise<void> {
  await using manual = await startManualChain({ slotsMax: 300 }, svm);
  const { chain } = manual;
  const end = tally.sent + n;
  while (tally.sent < end) {
    const cast = accountsOf(chain);
    for (let sent = 0; sent < transactionsPerSlot && tally.sent < end; sent += 1) {
      const transaction = hostileTransaction(random, cast);
      if (transaction === null) continue;
      chain.submit(transaction, true);
      tally.sent += 1;
    }
    await manual.closeSlots(1);
    for (const executed of chain.history.block(chain.at("processed").slot)?.transactions ?? []) {
      const sum = (balances: readonly bigint[]) => balances.reduce((total, balance) => total + balance, 0n);
      tally.landed += 1;
      if (executed.error === null) tally.succeeded += 1;
      if (sum(executed.preBalances) - sum(executed.postBalances) !== executed.fee) tally.unbalanced += 1;
    }
  }
}

/**
 * Runs `n` transactions of arbitrary instructions, as if all their signers had signed: programs, sysvars and accounts
 * of genesis may be called, passed and written. Every other chain has its machine in a separate process. The machine
 * must go on, most must land, and every one that landed must keep the sum of its lamports less its fee.
 */
export async function run({ n, seed }: { n: number; seed: number }): Promise<{ passed: boolean; summary: string }> {
  const random = generator(seed);
  const tally: Tally = { sent: 0, landed: 0, succeeded: 0, unbalanced: 0 };
  let ended = 0;
  for (let chains = 0; tally.sent < n; chains += 1) {
    const process = chains % 2 === 1 ? await startMachine() : null;
    const most = Math.min(transactionsPerChain, n - tally.sent);
    await runOneChain(random, most, tally, process ?? new LiteSvmMachine());
    ended += process?.facts.ended ?? 0;
  }
  const { sent, landed, succeeded, unbalanced } = tally;
  const counts = `${sent} transactions, ${landed} landed, ${succeeded} succeeded, ${unbalanced} unbalanced`;
  return { passed: landed > n / 4 && unbalanced === 0 && ended === 0, summary: `${counts}, ${ended} machines ended` };
}
