import type { Advance } from "./advances.ts";
import type { CreditsStore } from "./interfaces.ts";
import type { LeftTally } from "./tally.ts";

export interface Settlement {
  /** Lease accounts that were closed. */
  readonly books: number;
  /** Credits that were given back. */
  readonly returned: bigint;
  /** Credits that stay charged although it is not known whether they were spent. */
  readonly unproved: bigint;
  /** Credits of advances that are charged now. */
  readonly advanced: bigint;
}

/** What a dead process has left on its data directory. */
export interface Remains {
  /** Null where it does not prove what was spent. */
  readonly left: LeftTally | null;
  readonly advances: readonly Advance[];
}

const booksPerStep = 500;
/** More lease accounts than one process can have open. */
const stepsMax = 1_000;

/**
 * Settles the lease accounts of a holder that is dead. With its tally each is charged what was spent on it; without one
 * (null) whatever was leased may have been spent, and stays charged. Each lease account is closed by the first that
 * comes, so several may do this at once, and again. Its advances are charged in the same way: what was spent, or all of
 * them. Rejects as the store does, with part of it done.
 */
export async function settleHolder(
  holder: string,
  { left: tally, advances }: Remains,
  store: Pick<CreditsStore, "openBooks" | "settle" | "bookAdvance">,
): Promise<Settlement> {
  let books = 0;
  let returned = 0n;
  let unproved = 0n;
  for (let step = 0; step < stepsMax; step += 1) {
    const open = await store.openBooks(holder, booksPerStep);
    if (open.length === 0) break;
    const outcomes = await Promise.allSettled(
      open.map(async ({ accountId, month, number, leased }) => {
        const spent = tally === null ? null : BigInt(tally.spent(number));
        const unspent = await store.settle(accountId, month, { holder, number }, spent);
        tally?.strike(number);
        if (unspent === null) return;
        books += 1;
        returned += unspent;
        if (tally === null) unproved += leased;
      }),
    );
    const failed = outcomes.find((outcome) => outcome.status === "rejected");
    if (failed !== undefined) throw failed.reason;
  }
  let advanced = 0n;
  for (const { number, credits, accountId, month } of advances) {
    const spent = BigInt(tally === null ? credits : tally.spent(number));
    if (spent === 0n) continue;
    const isCharged = await store.bookAdvance({ holder, number, accountId, month, spent });
    tally?.strike(number);
    if (!isCharged) continue;
    advanced += spent;
    if (tally === null) unproved += spent;
  }
  return { books, returned, unproved, advanced };
}
