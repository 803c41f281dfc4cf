import { packAccount, packBlockUpdate, type SlotStatus } from "@sluice/encode/updates";
import type { Commitment } from "../model/index.ts";
import { accountFilter, type Slicing, slicing } from "./account-filter.ts";
import { addressList, FilterFault, requireAny, requireCount, requireNoCuckoo } from "./filter-fault.ts";
import type { FilterLimits } from "./limits.ts";
import type { BlocksRequest, SlotsRequest, SubscribeRequest } from "./requests.ts";
import type { RecordedAccount, RecordedTransaction, SlotRecord } from "./slot-record.ts";
import { transactionFilter } from "./transaction-filter.ts";

/** An update for a stream: the names of the filters that it matched, and what it holds. */
export type FilteredUpdate = readonly [names: readonly string[], content: Uint8Array];

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
  readonly transactions: boolean;
  readonly accounts: boolean;
  readonly entries: boolean;
}

function blockFilter([name, request]: readonly [string, BlocksRequest], limits: FilterLimits["blocks"]): BlockFilter {
  requireNoCuckoo(request.cuckoo_account_include);
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
  requireAny(request.account_include.length === 0, limits.includeAny);
  const include = addressList(request.account_include, limits.includeMax, limits.includeReject);
  return { name, include, ...shown };
}

function slotFilter(request: SlotsRequest, commitment: Commitment): (status: SlotStatus) => boolean {
  const { filter_by_commitment: exact = false, interslot_updates: interslot = false } = request;
  return (status) => {
    if (exact) return status === commitment;
    return rebuilt.has(status) || (interslot && commitment === "processed");
  };
}

/** All filters of a stream, as its last request has them. */
export class FilterSet {
  readonly commitment: Commitment;
  readonly #accounts: Filters<RecordedAccount>;
  readonly #slots: Filters<SlotStatus>;
  readonly #transactions: Filters<RecordedTransaction>;
  readonly #statuses: Filters<RecordedTransaction>;
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
    const ofTransactions = (named: SubscribeRequest["transactions"]) =>
      entriesOf(named, limits.transactions.max).map(([name, each]) => {
        return [name, transactionFilter(each, limits.transactions)] as const;
      });
    this.#transactions = ofTransactions(request.transactions);
    this.#statuses = ofTransactions(request.transactions_status);
    this.#blocks = entriesOf(request.blocks, limits.blocks.max).map((each) => blockFilter(each, limits.blocks));
    this.#metas = entriesOf(request.blocks_meta, limits.blocksMeta.max).map(([name]) => name);
    this.#entries = entriesOf(request.entry, limits.entries.max).map(([name]) => name);
    this.#slice = slicing(request.accounts_data_slice, limits.accounts);
    this.#slices = request.accounts_data_slice.length > 0;
  }

  /** The names of the filters that a slot's status matches. */
  slotNames(status: SlotStatus): readonly string[] {
    return namesOf(this.#slots, status);
  }

  /** What a stream is told of a slot at its commitment, before the slot's status, in the order of a real server. */
  *updates(record: SlotRecord): Generator<FilteredUpdate> {
    for (const account of record.accounts) {
      const names = namesOf(this.#accounts, account);
      if (names.length === 0) continue;
      yield [names, this.#slices ? packAccount(this.#slice(account.update)) : account.packed];
    }
    for (const transaction of record.transactions) {
      const names = namesOf(this.#transactions, transaction);
      if (names.length > 0) yield [names, transaction.asTransaction];
      const statusNames = namesOf(this.#statuses, transaction);
      if (statusNames.length > 0) yield [statusNames, transaction.asStatus];
    }
    if (this.#entries.length > 0) for (const { packed } of record.entries) yield [this.#entries, packed];
    for (const filter of this.#blocks) yield [[filter.name], this.#block(filter, record)];
    if (this.#metas.length > 0) yield [this.#metas, record.packedMeta];
  }

  #block({ include, ...shown }: BlockFilter, record: SlotRecord): Uint8Array {
    const isAsked = (keys: Iterable<string>): boolean =>
      include.size === 0 || Iterator.from(keys).some((key) => include.has(key));
    const transactions = shown.transactions ? record.transactions.filter(({ keys }) => isAsked(keys)) : [];
    const accounts = shown.accounts ? record.accounts.filter(({ update }) => isAsked([update.address])) : [];
    return packBlockUpdate({
      block: record.block,
      transactions: transactions.map(({ packed }) => packed),
      accounts: accounts.map(({ update }) => this.#slice(update)),
      entries: shown.entries ? record.entries.map(({ update }) => update) : [],
      executedTransactionCount: record.transactions.length,
      updatedAccountCount: record.accounts.length,
      entriesCount: record.entries.length,
    });
  }
}
