import type { ConfirmedBlock, ConfirmedTransaction } from "@sluice/encode";
import type { Random } from "@sluice/lib";
import { programs } from "@sluice/wire/programs";
import { built, key, tokens, u64 } from "../../../../parser/testing/built.ts";

/** Accounts and programs from which blocks and filters are drawn. */
export const drawnAccounts = Array.from({ length: 12 }, (_, index) => key(index + 1));
export const drawnPrograms = [programs.system, key(101), key(102)];
export const drawnMints = [key(50), key(51)];

const below = (random: Random, bound: number): number => Math.floor(random.next() * bound);
export const oneOf = <T>(random: Random, items: readonly T[]): T => items[below(random, items.length)] as T;
export const chance = (random: Random, share: number): boolean => random.next() < share;

function distinct(random: Random, count: number): string[] {
  const drawn = new Set<string>();
  while (drawn.size < count) drawn.add(oneOf(random, drawnAccounts));
  return [...drawn];
}

function drawVote(random: Random): ConfirmedTransaction {
  const [voter, account] = distinct(random, 2);
  return built({
    keys: [voter ?? "", account ?? "", programs.vote],
    calls: [{ program: 2, accounts: [1, 0], data: [12, 0, 0, 0] }],
    meta: { preBalances: [100_000n, 50n, 1n], postBalances: [95_000n, 50n, 1n] },
  });
}

/** A transaction with a durable nonce, which moves nothing and may fail. */
function drawDurable(random: Random): ConfirmedTransaction {
  const [payer = "", nonce = "", written = ""] = distinct(random, 3);
  const program = oneOf(random, drawnPrograms.slice(1));
  return built({
    keys: [payer, nonce, written, programs.system, program],
    calls: [
      { program: 3, accounts: [1, 0], data: [4, 0, 0, 0] },
      { program: 4, accounts: [2, 0], data: [1] },
    ],
    meta: {
      error: chance(random, 0.5) ? { InstructionError: [1, "Custom"] } : null,
      preBalances: [100_000n, 50n, 70n, 1n, 1n],
      postBalances: [95_000n, 50n, 70n, 1n, 1n],
    },
  });
}

/**
 * A transfer of lamports between two of some accounts, sometimes with tokens; it may fail, create or close an account,
 * or leave all balances but the payer's as they were.
 */
export function drawTransaction(random: Random): ConfirmedTransaction {
  if (chance(random, 0.15)) return drawVote(random);
  if (chance(random, 0.1)) return drawDurable(random);
  const accounts = distinct(random, 2 + below(random, 3));
  const program = oneOf(random, drawnPrograms);
  const failed = chance(random, 0.25);
  const before = accounts.map((_, index) => (index === 0 ? 1_000_000n : BigInt(below(random, 3)) * 1_000n));
  const after = [...before];
  after[0] = (before[0] ?? 0n) - 5_000n;
  const kind = failed ? 1 : random.next();
  const lamports = kind < 0.4 ? BigInt(1 + below(random, 5)) * 1_000n : kind < 0.6 ? -(before[1] ?? 0n) : 0n;
  after[0] -= lamports;
  after[1] = (before[1] ?? 0n) + lamports;
  const amounts = chance(random, 0.3) && !failed ? [BigInt(below(random, 4)), BigInt(below(random, 4))] : null;
  const mint = oneOf(random, drawnMints);
  return built({
    keys: [...accounts, program],
    calls: [{ program: accounts.length, accounts: [0, 1], data: [2, 0, 0, 0, ...u64(lamports > 0n ? lamports : 0n)] }],
    meta: {
      error: failed ? oneOf(random, ["AccountInUse", { InstructionError: [0, "Custom"] }] as const) : null,
      preBalances: [...before, 1n],
      postBalances: [...after, 1n],
      preTokenBalances: amounts === null ? [] : [tokens(1, amounts[0] ?? 0n, { mint })],
      postTokenBalances: amounts === null ? [] : [tokens(1, amounts[1] ?? 0n, { mint })],
    },
  });
}

export const drawBlock = (random: Random, slot: bigint, transactions: number): ConfirmedBlock => ({
  slot,
  parentSlot: slot - 1n,
  blockhash: key(200),
  previousBlockhash: key(199),
  blockTime: 1_790_000_000n,
  blockHeight: slot,
  transactions: Array.from({ length: transactions }, () => drawTransaction(random)),
  rewards: [],
});
