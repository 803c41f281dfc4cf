import type { CreditsStore } from "./interfaces.ts";
import type { LeftTally } from "./tally.ts";

export interface Settlement {
  /** Lease accounts that were closed. */
  readonly books: number;
  /** Credits that were given back. */
  readonly returned: bigint;
  /** Credits that stay charged although it is not known whether they were spent. */
  readonly unproved: bigint;
}

const booksPerStep = 500;
/** More lease accounts than one process can have open. */
const stepsMax = 1_000;

/**
 * Settles the lease accounts of a holder that is dead. With its tally each is charged what was spent on it; without one
 * (null) whatever was leased may have been spent, and stays charged. Each lease account is closed by the first that
 * comes, so several may do this at once, and again. Rejects as the store does, with part of the lease accounts settled.
 */
export async function settleHolder(
  holder: string,
  tally: LeftTally | null,
  store: Pick<CreditsStore, "openBooks" | "settle">,
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
  return { books, returned, unproved };
}
