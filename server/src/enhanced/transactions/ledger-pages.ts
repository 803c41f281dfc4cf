import type { Network } from "@sluice/contract/tiers";
import { type ConfirmedTransaction, unpackTransaction } from "@sluice/encode";
import type { Clock } from "@sluice/lib";
import { parserVersion, TransactionView } from "@sluice/parser";
import { MalformedBytes } from "@sluice/wire/bytes";
import type {
  ChainOrder,
  ChainReads,
  PlaceRange,
  SlotWindow,
  TransactionBodyRow,
  TransactionPlace,
} from "../../ledger/index.ts";
import type { EnhancedEvents } from "../events.ts";

/** A transaction of the ledger, ready to be parsed. */
export interface LedgerTransaction {
  readonly row: TransactionBodyRow;
  readonly view: TransactionView;
}

export interface LedgerQuestion {
  readonly network: Network;
  /** Of which each transaction names one. */
  readonly addresses: readonly string[];
  /** Null where nothing is in it. */
  readonly window: SlotWindow | null;
  readonly order: ChainOrder;
  /** Where the page begins and where the list ends, neither included. */
  readonly after: TransactionPlace | null;
  readonly until: TransactionPlace | null;
  /** Items that are left out at the beginning: those of a transaction that the page before has shown. */
  readonly skip: number;
  readonly limit: number;
  /** What the type and source of a transaction must be; null for any. */
  readonly filter: { readonly type: string | null; readonly source: string | null };
}

/** Where the next page begins. */
export interface PageEnd {
  readonly after: TransactionPlace | null;
  readonly skip: number;
}

export interface LedgerPage<Item> {
  readonly items: readonly Item[];
  /** Null on the last page. A page may have fewer items than its limit, or none, while there are more. */
  readonly next: PageEnd | null;
  /** Transactions that were looked at. */
  readonly scanned: number;
}

export interface LedgerPagesDependencies {
  readonly chain: Pick<ChainReads, "activity" | "transactions">;
  readonly clock: Pick<Clock, "monotonic">;
  readonly events: Pick<EnhancedEvents, "readFailed">;
}

/** Bounds of one page, which the next one goes on from. */
const scanBounds = {
  /** Milliseconds after which a page ends with what it has found. */
  answerMs: 4_000,
  /** Transactions that one page looks at. */
  transactions: 1_000,
  /** Transactions that one statement reads: a body is a kilobyte, and to parse it takes a fifth of a millisecond. */
  chunk: 100,
} as const;

const lastIndex = 0xffff_ffff;

/** Pages of what transactions of addresses are made into, from the ledger, bounded in time and number. */
export class LedgerPages {
  readonly #dependencies: LedgerPagesDependencies;

  constructor(dependencies: LedgerPagesDependencies) {
    this.#dependencies = dependencies;
  }

  /**
   * One page. `itemsOf` makes items of a transaction, none of one that does not belong to the list; a page is cut
   * between the items of one transaction where they are many. Throws LedgerUnavailableError, LedgerQueryError.
   */
  async read<Item>(
    question: LedgerQuestion,
    itemsOf: (transaction: LedgerTransaction) => readonly Item[],
  ): Promise<LedgerPage<Item>> {
    const { clock } = this.#dependencies;
    const untilMs = clock.monotonic() + scanBounds.answerMs;
    const items: Item[] = [];
    let { after, skip } = question;
    let scanned = 0;
    for (;;) {
      const limit = Math.min(scanBounds.chunk, scanBounds.transactions - scanned);
      const { places, isLast } = await this.#places(question, after, limit);
      for (const transaction of await this.#transactions(question, places)) {
        const made = itemsOf(transaction);
        const room = question.limit - items.length;
        if (made.length - skip > room) {
          items.push(...made.slice(skip, skip + room));
          return { items, next: { after: before(transaction.row, question.order), skip: skip + room }, scanned };
        }
        items.push(...made.slice(skip));
        skip = Math.max(0, skip - made.length);
        if (items.length >= question.limit) {
          const isEnd = isLast && isSame(transaction.row, places.at(-1));
          return { items, next: isEnd ? null : { after: placeOf(transaction.row), skip: 0 }, scanned };
        }
      }
      scanned += places.length;
      if (isLast) return { items, next: null, scanned };
      after = places.at(-1) ?? after;
      if (scanned >= scanBounds.transactions || clock.monotonic() >= untilMs) {
        return { items, next: { after, skip: 0 }, scanned };
      }
    }
  }

  async #places(question: LedgerQuestion, after: TransactionPlace | null, limit: number) {
    const { network, addresses, window, order, until } = question;
    if (window === null) return { places: [], isLast: true };
    const range: PlaceRange = { network, order, after, limit, ...windowUntil(window, order, until) };
    const places = await this.#dependencies.chain.activity.places(range, addresses);
    const within = until === null ? places : places.filter((place) => isBefore(place, until, order));
    return { places: within, isLast: within.length < limit };
  }

  /** The transactions of places, without those whose type the ledger knows to be another by this very parser. */
  async #transactions(
    { network, order, filter }: LedgerQuestion,
    places: readonly TransactionPlace[],
  ): Promise<LedgerTransaction[]> {
    const { chain } = this.#dependencies;
    const wanted =
      filter.type === null && filter.source === null ? places : await this.#wanted(network, places, filter);
    const rows = await chain.transactions.bodies(network, wanted, order);
    return rows.flatMap((row) => {
      const view = this.#viewOf(row);
      return view === null ? [] : [{ row, view }];
    });
  }

  async #wanted(
    network: Network,
    places: readonly TransactionPlace[],
    { type, source }: LedgerQuestion["filter"],
  ): Promise<readonly TransactionPlace[]> {
    const known = await this.#dependencies.chain.activity.typesOf(network, places);
    const others = new Set(
      known
        .filter(({ version }) => version === parserVersion)
        .filter((each) => (type !== null && each.type !== type) || (source !== null && each.source !== source))
        .map(({ slot, index }) => `${slot} ${index}`),
    );
    return places.filter(({ slot, index }) => !others.has(`${slot} ${index}`));
  }

  /** Null for a body that cannot be read, which is counted and left out. */
  #viewOf({ body }: TransactionBodyRow): TransactionView | null {
    try {
      const transaction: ConfirmedTransaction = unpackTransaction(body);
      return new TransactionView(transaction);
    } catch (error) {
      if (!(error instanceof MalformedBytes || error instanceof TypeError)) throw error;
      this.#dependencies.events.readFailed("PARSING_FAILED");
      return null;
    }
  }
}

const placeOf = ({ slot, index }: TransactionPlace): TransactionPlace => ({ slot, index });
const isSame = (one: TransactionPlace, other: TransactionPlace | undefined): boolean =>
  one.slot === other?.slot && one.index === other.index;

/** Whether a place comes before another in an order. */
function isBefore(one: TransactionPlace, other: TransactionPlace, order: ChainOrder): boolean {
  const isLower = one.slot < other.slot || (one.slot === other.slot && one.index < other.index);
  return order === "asc" ? isLower : !isLower && !isSame(one, other);
}

/** The place behind which a page begins with this very transaction; null where it is the first of the chain. */
function before({ slot, index }: TransactionPlace, order: ChainOrder): TransactionPlace | null {
  if (order === "desc") return { slot, index: index + 1 };
  if (index > 0) return { slot, index: index - 1 };
  return slot === 0n ? null : { slot: slot - 1n, index: lastIndex };
}

/** The window without what lies beyond the end of the list. */
function windowUntil({ from, to }: SlotWindow, order: ChainOrder, until: TransactionPlace | null): SlotWindow {
  if (until === null) return { from, to };
  return order === "asc"
    ? { from, to: to < until.slot ? to : until.slot }
    : { from: from > until.slot ? from : until.slot, to };
}
