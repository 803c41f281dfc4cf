import { engineLimits } from "@sluice/contract/engine";
import type { Address } from "@sluice/wire/identifiers";
import { parseTransaction, type Transaction } from "@sluice/wire/transaction";
import type { AccountCache } from "../accounts/account-cache.ts";
import type { AccountEntry } from "../accounts/account-entry.ts";
import type { AccountSupply } from "../accounts/account-supply.ts";
import { nameOfBytes } from "../accounts/key-name.ts";
import type { BundleFailure, SimulatedBundle } from "../simulation.ts";
import { fixedCostUnits, messageFees } from "./fees.ts";
import { mayDeploy, writeLocks } from "./locks.ts";
import { LookupTable, type TableFault } from "./lookup-table.ts";
import { nonceAccount } from "./nonce.ts";
import { PreparedBundle, type PreparedTransaction } from "./prepared-bundle.ts";

/** Account data that one bundle may load. Source: MAX_LOADED_ACCOUNTS_DATA_SIZE_BYTES, which is one transaction's. */
const LOADED_BYTES_MAX = 64 * 1_024 * 1_024;

/** A bundle whose transactions were parsed. */
export interface ParsedBundle {
  readonly id: string;
  readonly transactions: readonly Transaction[];
}

export type Resolution =
  | { readonly kind: "prepared"; readonly bundle: PreparedBundle }
  | { readonly kind: "failed"; readonly failure: BundleFailure }
  /** Accounts that have to be read before anything can be said. */
  | { readonly kind: "wants"; readonly entries: readonly AccountEntry[] };

interface Fault {
  readonly reason: BundleFailure["reason"];
  readonly error: string;
}

export function failureOf(
  index: number,
  transaction: Transaction | null,
  fault: Fault,
  logs: readonly string[] = [],
): BundleFailure {
  return { ok: false, ...fault, index, signature: transaction?.id ?? null, logs };
}

/** Parses a bundle strictly: nothing else ever reaches a machine, which may abort on what is not canonical. */
export function parseBundle(bundle: SimulatedBundle): ParsedBundle | BundleFailure {
  const transactions: Transaction[] = [];
  const seen = new Set<string>();
  if (bundle.transactions.length === 0 || bundle.transactions.length > engineLimits.simulatedTransactions) {
    throw new RangeError(`a bundle of ${bundle.transactions.length} transactions`);
  }
  for (const [index, bytes] of bundle.transactions.entries()) {
    const parsed = parseTransaction(bytes);
    if (!parsed.ok) return failureOf(index, null, { reason: "malformed_transaction", error: parsed.fault });
    const signature = nameOfBytes(parsed.transaction.signatureBytes(0));
    if (seen.has(signature)) {
      return failureOf(index, parsed.transaction, { reason: "duplicate_transaction", error: "AlreadyProcessed" });
    }
    seen.add(signature);
    transactions.push(parsed.transaction);
  }
  return { id: bundle.id, transactions };
}

/** What is gathered over the transactions of one bundle. */
class Gathering {
  readonly wanted = new Set<AccountEntry>();
  /** Every account that it locks, and whether for writing. */
  readonly locks = new Map<AccountEntry, boolean>();
  readonly tables = new Set<AccountEntry>();
  readonly code = new Set<AccountEntry>();
  readonly transactions: PreparedTransaction[] = [];
  tipMask = 0;
  loadsTipAccount = -1;
  fees = 0n;
  fixedCostUnits = 0;
  unitLimit = 0;
  mayDeploy = false;
}

export interface ResolverDependencies {
  readonly cache: AccountCache;
  readonly supply: AccountSupply;
  readonly tipAccounts: readonly Uint8Array[];
  isRecentBlockhash(blockhash: Address): boolean;
}

/** Finds every account that a bundle runs on, and what it locks, from what is known now. */
export class Resolver {
  readonly #deps: ResolverDependencies;
  readonly #tips: ReadonlyMap<string, number>;

  constructor(deps: ResolverDependencies) {
    this.#deps = deps;
    this.#tips = new Map(deps.tipAccounts.map((key, index) => [nameOfBytes(key), index]));
  }

  /** Wants whatever is not known as of `slot` or later. */
  resolve(parsed: ParsedBundle, slot: bigint): Resolution {
    const gathering = new Gathering();
    for (const [index, transaction] of parsed.transactions.entries()) {
      const fault = this.#transaction(transaction, slot, gathering);
      // What is wrong may be so because a table is not known as it is now.
      if (fault !== null && gathering.wanted.size === 0) {
        return { kind: "failed", failure: failureOf(index, transaction, fault) };
      }
    }
    const held = [...gathering.locks.keys(), ...gathering.tables, ...gathering.code];
    let bytes = 0;
    for (const { space } of held) bytes += space;
    const last = parsed.transactions.length - 1;
    const failed = (fault: Fault): Resolution => {
      return { kind: "failed", failure: failureOf(last, parsed.transactions[last] ?? null, fault) };
    };
    if (bytes > LOADED_BYTES_MAX) {
      return failed({ reason: "simulation_failed", error: "MaxLoadedAccountsDataSizeExceeded" });
    }
    if (gathering.wanted.size > 0) return { kind: "wants", entries: [...gathering.wanted] };
    if (gathering.tipMask === 0 && gathering.loadsTipAccount >= 0) {
      const error = `transaction ${gathering.loadsTipAccount} names a tip account by a lookup table only`;
      return failed({ reason: "tip_account_via_lookup_table", error });
    }
    return { kind: "prepared", bundle: prepared(parsed.id, gathering) };
  }

  #want(entry: AccountEntry, slot: bigint, gathering: Gathering): void {
    const { supply, cache } = this.#deps;
    if (!supply.isFresh(entry, slot)) gathering.wanted.add(entry);
    if (entry.programData === null) return;
    const code = cache.of(entry.programData);
    if (gathering.code.has(code)) return;
    gathering.code.add(code);
    if (!supply.isFresh(code, slot)) gathering.wanted.add(code);
  }

  #transaction(transaction: Transaction, slot: bigint, gathering: Gathering): Fault | null {
    const { message, bytes } = transaction;
    const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const keysStart = message.keyBytes(0).byteOffset - bytes.byteOffset;
    const keys: AccountEntry[] = [];
    for (let index = 0; index < message.staticKeyCount; index += 1) {
      keys.push(this.#deps.cache.at(buffer, keysStart + index * 32));
    }
    const fault = message.totalKeyCount > keys.length ? this.#load(transaction, slot, keys, gathering) : null;
    for (const entry of keys) this.#want(entry, slot, gathering);
    if (fault !== null) return { reason: "simulation_failed", error: fault };
    if (keys.length > engineLimits.accountLocks) {
      return { reason: "account_locks_exceeded", error: "TooManyAccountLocks" };
    }
    if (keys.length > message.staticKeyCount && new Set(keys).size !== keys.length) {
      return { reason: "simulation_failed", error: "AccountLoadedTwice" };
    }
    const locks = writeLocks(message, keys);
    const isRecent = this.#deps.isRecentBlockhash(message.blockhash);
    const nonce = isRecent ? null : nonceAccount(message, keys, locks);
    if (nonce === null && !isRecent) {
      return { reason: "blockhash_expired", error: "BlockhashNotFound" };
    }
    const lifetimeStart = message.blockhashBytes.byteOffset - bytes.byteOffset;
    gathering.transactions.push({ transaction, lifetimeStart, nonce });
    this.#count(transaction, keys, locks, gathering);
    return null;
  }

  /** Adds the keys that lookup tables name: writable ones first, then the others. */
  #load(transaction: Transaction, slot: bigint, keys: AccountEntry[], gathering: Gathering): TableFault | null {
    const { cache, supply } = this.#deps;
    const tables: LookupTable[] = [];
    const { lookups } = transaction.message;
    const entries = lookups.map(({ tableBytes }) => cache.of(tableBytes));
    for (const entry of entries) {
      gathering.tables.add(entry);
      if (!supply.isFresh(entry, slot)) gathering.wanted.add(entry);
    }
    for (const { account } of entries) {
      const table = LookupTable.of(account);
      if (typeof table === "string") return table;
      tables.push(table);
    }
    for (const part of ["writableIndexes", "readonlyIndexes"] as const) {
      for (const [index, table] of tables.entries()) {
        const indexes = lookups[index]?.[part] ?? new Uint8Array();
        if (!table.each(indexes, (data, start) => keys.push(cache.at(data, start)))) {
          return "InvalidAddressLookupTableIndex";
        }
      }
    }
    return null;
  }

  #count(
    transaction: Transaction,
    keys: readonly AccountEntry[],
    locks: readonly boolean[],
    gathering: Gathering,
  ): void {
    const { message } = transaction;
    let writes = 0;
    for (const [index, entry] of keys.entries()) {
      if (locks[index] !== true) {
        if (!gathering.locks.has(entry)) gathering.locks.set(entry, false);
        continue;
      }
      writes += 1;
      gathering.locks.set(entry, true);
      const tip = this.#tips.get(entry.name);
      if (tip === undefined) continue;
      if (index < message.staticKeyCount) gathering.tipMask |= 1 << tip;
      else gathering.loadsTipAccount = gathering.transactions.length - 1;
    }
    const fees = messageFees(message, keys);
    gathering.fees += fees.lamports;
    gathering.unitLimit += fees.unitLimit;
    gathering.fixedCostUnits += fixedCostUnits(message, fees, { writeLocks: writes, accounts: keys });
    gathering.mayDeploy ||= mayDeploy(keys);
  }
}

function prepared(id: string, gathering: Gathering): PreparedBundle {
  const [writes, reads]: [AccountEntry[], AccountEntry[]] = [[], []];
  for (const [entry, isWritten] of gathering.locks) (isWritten ? writes : reads).push(entry);
  const { transactions, tipMask, fees, unitLimit, fixedCostUnits, mayDeploy } = gathering;
  const [tables, code] = [[...gathering.tables], [...gathering.code]];
  const figures = { tipMask, fees, unitLimit, fixedCostUnits, mayDeploy };
  return new PreparedBundle({ id, transactions, writes, reads, tables, code, ...figures });
}
