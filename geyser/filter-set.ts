import { packAccount, type SlotStatus } from "@sluice/encode/updates";
import { accountFilter, type Slicing, slicing } from "./account-filter.ts";
import type { FilteredAccount, FilteredTransaction, SlotContent, UpdateContent } from "./content.ts";
import { type CuckooFilter, cuckooFilter } from "./cuckoo-filter.ts";
import { addressList, FilterFault, requireAny, requireCount } from "./filter-fault.ts";
import type { FilterLimits } from "./limits.ts";
import type { BlocksRequest, SlotsRequest, SubscribeRequest } from "./requests.ts";
import { TransactionFilter } from "./transaction-filter.ts";

export type Commitment = "processed" | "confirmed" | "finalized";

/** An update for a stream: the names of the filters that it matched, and what it holds. */
export type FilteredUpdate = readonly [names: readonly string[], content: UpdateContent];

type Filters<T> = readonly (readonly [name: string, matches: (item: T) => boolean])[];

const namesOf = <T>(filters: Filters<T>, item: T): string[] =>
  filters.filter(([, matches]) => matches(item)).map(([name]) => name);

const levels: Readonly<Record<string, Commitment>> = {
  PROCESSED: "processed",
  CONFIRMED: "confirmed",
  FINALIZED: "finalized",
};

/** @throws {FilterFault} for a number that no level has */
export function commitmentOf(value: string | number | undefined): Commitment {
  if (value === undefined) return "processed";
  const level = levels[value];
  if (level === undefined) throw new FilterFault(`failed to create CommitmentLevel from ${value}`);
  return level;
}

/** Slot statuses that every stream may have; the others only those at processed. */
const rebuilt: ReadonlySet<SlotStatus> = new Set(["processed", "confirmed", "finalized"]);

interface BlockFilter {
  readonly name: string;
  readonly include: ReadonlySet<string>;
  readonly cuckoo: CuckooFilter | null;
  readonly transactions: boolean;
  readonly accounts: boolean;
  readonly entries: boolean;
}

function blockFilter([name, request]: readonly [string, BlocksRequest], limits: FilterLimits["blocks"]): BlockFilter {
  const shown = {
    transactions: request.include_transactions ?? true,
    accounts: request.include_accounts ?? false,
    entries: request.include_entries ?? false,
  };
  const allowed = {
    transactions: limits.includeTransactions,
    accounts: limits.includeAccounts,
    entries: limits.includeEntries,
  };
  for (const part of ["transactions", "accounts", "entries"] as const) {
    if (shown[part] && !allowed[part]) throw new FilterFault(`\`include_${part}\` is not allowed`);
  }
  const cuckoo = cuckooFilter(request.cuckoo_account_include, limits.cuckooBytesMax);
  requireAny(request.account_include.length === 0 && cuckoo === null, limits.includeAny);
  const include = addressList(request.account_include, limits.includeMax, limits.includeReject);
  return { name, include, cuckoo, ...shown };
}

function slotFilter(request: SlotsRequest, commitment: Commitment): (status: SlotStatus) => boolean {
  const { filter_by_commitment: exact = false, interslot_updates: interslot = false } = request;
  return (status) => {
    if (exact) return status === commitment;
    return rebuilt.has(status) || (interslot && commitment === "processed");
  };
}

/** Accounts and entries, of their own or in blocks, and statuses of slots before they are processed. */
export interface FilterNeeds {
  readonly accounts: boolean;
  readonly entries: boolean;
  readonly interslot: boolean;
}

/** The filters of both kinds that a transaction matches. */
export interface MatchedTransaction {
  readonly transaction: FilteredTransaction;
  readonly names: readonly string[];
  readonly statusNames: readonly string[];
}

/** All filters of a stream, as its last request has them. */
export class FilterSet {
  readonly commitment: Commitment;
  readonly transactions: readonly TransactionFilter[];
  readonly statuses: readonly TransactionFilter[];
  readonly #accounts: Filters<FilteredAccount>;
  readonly #slots: Filters<SlotStatus>;
  readonly #interslot: boolean;
  readonly #blocks: readonly BlockFilter[];
  readonly #metas: readonly string[];
  readonly #entries: readonly string[];
  readonly #slice: Slicing;
  readonly #slices: boolean;

  /** @throws {FilterFault} */
  constructor(request: SubscribeRequest, limits: FilterLimits) {
    this.commitment = commitmentOf(request.commitment);
    const entriesOf = <T>(named: { readonly [name: string]: T }, max: number): [string, T][] => {
      const entries = Object.entries(named);
      requireCount(entries.length, max, "filters/data_slices");
      for (const [name] of entries) {
        const size = Buffer.byteLength(name);
        if (size <= limits.nameBytesMax) continue;
        throw new FilterFault(`oversized filter name (max allowed size ${limits.nameBytesMax}), found ${size}`);
      }
      return entries;
    };
    this.#accounts = entriesOf(request.accounts, limits.accounts.max).map(([name, each]) => {
      const matches = accountFilter(each, limits.accounts);
      return [name, ({ update }) => matches(update)];
    });
    this.#slots = entriesOf(request.slots, limits.slots.max).map(([name, each]) => {
      return [name, slotFilter(each, this.commitment)];
    });
    this.#interslot = this.#slots.some(([, matches]) => matches("createdBank"));
    const ofTransactions = (named: SubscribeRequest["transactions"]) =>
      entriesOf(named, limits.transactions.max).map(
        ([name, each]) => new TransactionFilter(name, each, limits.transactions),
      );
    this.transactions = ofTransactions(request.transactions);
    this.statuses = ofTransactions(request.transactions_status);
    this.#blocks = entriesOf(request.blocks, limits.blocks.max).map((each) => blockFilter(each, limits.blocks));
    this.#metas = entriesOf(request.blocks_meta, limits.blocksMeta.max).map(([name]) => name);
    this.#entries = entriesOf(request.entry, limits.entries.max).map(([name]) => name);
    this.#slice = slicing(request.accounts_data_slice, limits.accounts);
    this.#slices = request.accounts_data_slice.length > 0;
  }

  /** What it asks for that only a node knows: blocks do not hold it. */
  get needs(): FilterNeeds {
    return {
      accounts: this.#accounts.length > 0 || this.#blocks.some(({ accounts }) => accounts),
      entries: this.#entries.length > 0 || this.#blocks.some(({ entries }) => entries),
      interslot: this.#interslot,
    };
  }

  /** Whether any status of a slot may be asked for. */
  get hasSlots(): boolean {
    return this.#slots.length > 0;
  }

  get hasBlocks(): boolean {
    return this.#blocks.length > 0;
  }

  get hasMetas(): boolean {
    return this.#metas.length > 0;
  }

  /** The names of the filters that a slot's status matches. */
  slotNames(status: SlotStatus): readonly string[] {
    return namesOf(this.#slots, status);
  }

  /** The transactions that match a filter, in their order. */
  *matched(transactions: Iterable<FilteredTransaction>): Generator<MatchedTransaction> {
    if (this.transactions.length === 0 && this.statuses.length === 0) return;
    for (const transaction of transactions) {
      const names = matchingNames(this.transactions, transaction);
      const statusNames = matchingNames(this.statuses, transaction);
      if (names.length > 0 || statusNames.length > 0) yield { transaction, names, statusNames };
    }
  }

  /**
   * What a stream is told of a slot at its commitment, before the slot's status, in the order of a real server.
   *
   * @param matched - what `matched` gives for all transactions of the slot, where it is known
   */
  *updates(
    content: SlotContent,
    matched: Iterable<MatchedTransaction> = this.matched(content.transactions),
  ): Generator<FilteredUpdate> {
    for (const account of this.#accounts.length === 0 ? [] : content.accounts) yield* this.ofAccount(account);
    for (const each of matched) yield* ofMatched(each);
    if (this.#entries.length > 0) for (const { packed } of content.entries) yield* this.ofEntry(packed);
    yield* this.ofBlock(content);
    if (this.#metas.length > 0) yield* this.ofMeta(content.packedMeta);
  }

  *ofAccount(account: FilteredAccount): Generator<FilteredUpdate> {
    const names = namesOf(this.#accounts, account);
    if (names.length === 0) return;
    yield [names, [this.#slices ? packAccount(this.#slice(account.update)) : account.packed]];
  }

  *ofTransaction(transaction: FilteredTransaction): Generator<FilteredUpdate> {
    for (const each of this.matched([transaction])) yield* ofMatched(each);
  }

  /** @param packed - an entry as an update */
  *ofEntry(packed: Uint8Array): Generator<FilteredUpdate> {
    if (this.#entries.length > 0) yield [this.#entries, [packed]];
  }

  *ofBlock(content: SlotContent): Generator<FilteredUpdate> {
    for (const filter of this.#blocks) yield [[filter.name], this.#block(filter, content)];
  }

  /** @param packed - a block's meta as an update */
  *ofMeta(packed: Uint8Array): Generator<FilteredUpdate> {
    if (this.#metas.length > 0) yield [this.#metas, [packed]];
  }

  #block({ include, cuckoo, ...shown }: BlockFilter, content: SlotContent): UpdateContent {
    // Who asks for no account in particular is shown all, and no key need be looked at.
    const isAny = include.size === 0 && cuckoo === null;
    const isAsked = (keys: Iterable<string>): boolean =>
      isAny || Iterator.from(keys).some((key) => include.has(key) || cuckoo?.(key) === true);
    const accounts = shown.accounts ? content.accounts.filter(({ update }) => isAsked([update.address])) : [];
    const { transactions } = content;
    return content.packBlock({
      transactions: !shown.transactions ? [] : isAny ? transactions : transactions.filter(({ keys }) => isAsked(keys)),
      accounts: accounts.map(({ update }) => this.#slice(update)),
      entries: shown.entries ? content.entries : [],
    });
  }
}

function* ofMatched({ transaction, names, statusNames }: MatchedTransaction): Generator<FilteredUpdate> {
  if (names.length > 0) yield [names, transaction.asTransaction];
  if (statusNames.length > 0) yield [statusNames, transaction.asStatus];
}

function matchingNames(filters: readonly TransactionFilter[], transaction: FilteredTransaction): string[] {
  return filters.filter((filter) => filter.matches(transaction)).map(({ name }) => name);
}
