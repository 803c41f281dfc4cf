import type { CreditsDependencies, CreditsStore } from "./interfaces.ts";
import type { StoreWork } from "./store-work.ts";
import type { Tally, TallyEntry } from "./tally.ts";

/** Books that the store has and nobody here knows, settled at the end; if there are more the next start finds them. */
const unknownMax = 1_000;

/** A sequence of leases of one account's month, and what was spent of them. */
export interface Book {
  readonly accountId: string;
  readonly month: string;
  readonly entry: TallyEntry;
  /** Leases under way on it. */
  flights: number;
  /** Whether the store was asked for anything on it. */
  isAsked: boolean;
  /** Whether the store is known to have it. */
  isEntered: boolean;
  /**
   * Whether a lease on it failed, so that the store may have granted more than is known here; "past" when the store has
   * answered since.
   */
  doubt: "none" | "present" | "past";
}

/**
 * The books of this process. A closed one is settled: the store then charges what was spent on it and nothing else, be
 * it that leases were left over, or granted without our learning of it. Settling can be said any number of times, so it
 * is until the store has answered.
 */
export class LeaseAccounts {
  readonly #tally: Tally;
  readonly #store: CreditsStore;
  readonly #log: CreditsDependencies["log"];
  readonly #work: StoreWork;
  readonly #closed = new Set<Book>();
  readonly #settling = new Set<Book>();
  #hasWarned = false;

  constructor(dependencies: Pick<CreditsDependencies, "store" | "log" | "tally"> & { work: StoreWork }) {
    this.#tally = dependencies.tally;
    this.#store = dependencies.store;
    this.#log = dependencies.log;
    this.#work = dependencies.work;
  }

  /** Null when the tally has no room. */
  open(accountId: string, month: string): Book | null {
    const entry = this.#tally.open();
    if (entry === null) return null;
    return { accountId, month, entry, flights: 0, isAsked: false, isEntered: false, doubt: "none" };
  }

  /** Rejects as the store does; what it granted all the same is found when the book is settled. */
  async lease(book: Book, want: bigint, allowance: bigint | null): Promise<bigint> {
    book.flights += 1;
    book.isAsked = true;
    try {
      const granted = await this.#store.lease(book.accountId, book.month, want, allowance, this.#nameOf(book));
      if (granted > 0n) book.isEntered = true;
      if (book.doubt === "present") book.doubt = "past";
      return granted;
    } catch (error) {
      book.doubt = "present";
      throw error;
    } finally {
      book.flights -= 1;
      if (this.#closed.has(book)) this.#settle(book);
    }
  }

  /** Nothing is spent on the book any more. */
  close(book: Book): void {
    if (!book.isAsked && book.entry.spent === 0) {
      this.#tally.free(book.entry);
      return;
    }
    this.#closed.add(book);
    this.#settle(book);
  }

  /** Tries again what could not be settled. */
  retry(): void {
    this.#hasWarned = false;
    for (const book of this.#closed) this.#settle(book);
  }

  /**
   * Settles what the store still has open of this process although all books are closed: leases that it granted after it
   * had failed, on books that were settled before. False when there may be more. Rejects as the store does.
   */
  async settleUnknown(): Promise<boolean> {
    const { holder } = this.#tally;
    const open = await this.#store.openBooks(holder, unknownMax);
    await Promise.all(
      open.map(({ accountId, month, number }) => this.#store.settle(accountId, month, { holder, number }, 0n)),
    );
    return open.length < unknownMax;
  }

  /** Closed books that are not settled yet. */
  get unsettled(): number {
    return this.#closed.size;
  }

  #nameOf(book: Book): { holder: string; number: number } {
    return { holder: this.#tally.holder, number: book.entry.number };
  }

  #settle(book: Book): void {
    if (book.flights > 0 || this.#settling.has(book)) return;
    this.#settling.add(book);
    this.#work.follow(this.#settleNow(book));
  }

  async #settleNow(book: Book): Promise<void> {
    const { accountId, month, entry } = book;
    const spent = BigInt(entry.spent);
    try {
      // Unlimited usage that was never told has no book there yet; told twice, it is set right by settling.
      if (!book.isEntered && spent > 0n) {
        await this.#store.lease(accountId, month, spent, null, this.#nameOf(book));
        book.isEntered = true;
      }
      await this.#store.settle(accountId, month, this.#nameOf(book), spent);
      this.#closed.delete(book);
      this.#tally.free(entry);
    } catch (error) {
      if (!this.#hasWarned) this.#log.warn({ error, accountId, month }, "leased credits could not be settled");
      this.#hasWarned = true;
    } finally {
      this.#settling.delete(book);
    }
  }
}
