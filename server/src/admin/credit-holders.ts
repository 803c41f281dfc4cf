import type { CreditStore, HeldLeaseBook, State } from "../state/index.ts";

/** What one process holds of one account's month. */
export interface HeldCredits {
  readonly process: string;
  readonly meter: string;
  readonly account_id: string;
  readonly month: string;
  /** Credits, or requests; a decimal. */
  readonly amount: string;
  /** When it last leased some, ISO 8601; null where that is not known. */
  readonly leased_at: string | null;
  /** Whether the process is this one, or registered on the database. */
  readonly alive: boolean;
}

export interface SettleWish {
  /** Null settles those of every process. */
  readonly process: string | null;
  /** What was leased on it later than so many seconds ago stays; at least `ageMinSeconds`. */
  readonly olderThanSeconds: number;
  /** Whether what was held counts as used, or goes back to the account. */
  readonly outcome: "used" | "returned";
}

/**
 * A process that lives leases again, or gives back what it holds, within seconds. One that has done neither for this
 * long is dead, also where its registration ended because the database was away.
 */
export const ageMinSeconds = 600;

type Meters = Pick<State, "credits" | "requests" | "served" | "processes">;

interface HolderDependencies {
  readonly state: Meters;
  readonly clock: { readonly now: () => number };
  /** The holder of this process. */
  readonly processId: string;
}

const pageSize = 1_000;
const pagesMax = 1_000;

const metersOf = ({ credits, requests, served }: Meters): readonly (readonly [string, CreditStore])[] => [
  ["credits", credits],
  ["oracle", requests.oracle],
  ["oracle-v2", requests["oracle-v2"]],
  ["served", served],
];

async function* heldBooks(store: CreditStore): AsyncGenerator<HeldLeaseBook> {
  let after: HeldLeaseBook | null = null;
  for (let page = 0; page < pagesMax; page += 1) {
    const books: readonly HeldLeaseBook[] = await store.heldBooks(after, pageSize);
    yield* books;
    after = books.at(-1) ?? null;
    if (books.length < pageSize) return;
  }
}

const heldOf = (meter: string, book: HeldLeaseBook, alive: boolean): HeldCredits => ({
  process: book.holder,
  meter,
  account_id: book.accountId,
  month: book.month,
  amount: String(book.leased),
  leased_at: book.leasedAt === null ? null : new Date(book.leasedAt).toISOString(),
  alive,
});

async function livingProcesses({ state, processId }: HolderDependencies): Promise<ReadonlySet<string>> {
  return new Set([processId, ...(await state.processes.list()).map(({ id }) => id)]);
}

/** Everything that processes hold of accounts, dead or alive. */
export async function listHolders(dependencies: HolderDependencies): Promise<readonly HeldCredits[]> {
  const living = await livingProcesses(dependencies);
  const held: HeldCredits[] = [];
  for (const [meter, store] of metersOf(dependencies.state)) {
    for await (const book of heldBooks(store)) held.push(heldOf(meter, book, living.has(book.holder)));
  }
  return held;
}

/** Whether a process runs, as far as this one can tell. */
export async function isAlive(process: string, dependencies: HolderDependencies): Promise<boolean> {
  return (await livingProcesses(dependencies)).has(process);
}

/**
 * Closes what processes that are not there any more hold. Each book is closed once, so a run that ended half-way is
 * continued by the next, and a process that comes back all the same finds nothing to settle.
 */
export async function settleHolders(
  { process, olderThanSeconds, outcome }: SettleWish,
  dependencies: HolderDependencies,
): Promise<readonly HeldCredits[]> {
  const { state, clock } = dependencies;
  const living = await livingProcesses(dependencies);
  const before = clock.now() - Math.max(olderThanSeconds, ageMinSeconds) * 1_000;
  const settled: HeldCredits[] = [];
  for (const [meter, store] of metersOf(state)) {
    for await (const book of heldBooks(store)) {
      const { holder, number, accountId, month, leasedAt } = book;
      if (living.has(holder) || (process !== null && holder !== process)) continue;
      // What an earlier version has leased tells no time: it is settled only where its process is named.
      if (leasedAt === null ? process === null : leasedAt > before) continue;
      const spent = outcome === "used" ? null : 0n;
      const closed = await store.settle(accountId, month, { holder, number }, spent);
      if (closed !== null) settled.push(heldOf(meter, book, false));
    }
  }
  return settled;
}
