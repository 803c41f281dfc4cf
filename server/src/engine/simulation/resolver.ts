import { engineLimits } from "@sluice/contract/engine";
import type { Address } from "@sluice/wire/identifiers";
import { type Message, parseTransaction, type Transaction } from "@sluice/wire/transaction";
import { type AccountCache, type AccountEntry, nameOfBytes } from "./account-cache.ts";
import type { AccountSupply } from "./account-supply.ts";
import { fixedCostUnits, messageFees } from "./fees.ts";
import { LookupTable, mayDeploy, nonceAccount, type TableError, writeLocks } from "./message-rules.ts";
import { type FailureReason, failureOf, unavailable } from "./outcome.ts";
import { PreparedBundle, type PreparedTransaction } from "./prepared-bundle.ts";
import type { BundleFailure, BundleUnavailable, SimulatedBundle } from "./simulation.ts";

/** Account data that one bundle may load. Source: MAX_LOADED_ACCOUNTS_DATA_SIZE_BYTES, which is one transaction's. */
const loadedBytesMax = 64 * 1_024 * 1_024;

/** A bundle whose transactions were parsed. */
export interface ParsedBundle {
  readonly id: string;
  readonly transactions: readonly Transaction[];
}

export type BundleResolution =
  | { readonly kind: "prepared"; readonly bundle: PreparedBundle }
  | { readonly kind: "failed"; readonly failure: BundleFailure }
  /** Accounts that must be read first. */
  | { readonly kind: "needs"; readonly entries: readonly AccountEntry[] };

/**
 * Parses a bundle strictly: LiteSVM may abort its process on bytes that are not canonical, so no others reach a
 * machine.
 * @throws {RangeError} for a bundle without transactions or with more than are simulated.
 */
function parseBundle(bundle: SimulatedBundle): ParsedBundle | BundleFailure {
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

/** What is collected over the transactions of one bundle. */
class Gathering {
  /** The slot for which accounts must be known. */
  readonly slot: bigint;
  readonly needed = new Set<AccountEntry>();
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

  constructor(slot: bigint) {
    this.slot = slot;
  }
}

export interface ResolverDependencies {
  readonly cache: AccountCache;
  readonly supply: AccountSupply;
  readonly tipAccounts: readonly Uint8Array[];
  isRecentBlockhash(blockhash: Address): boolean;
}

/** Finds every account that a bundle runs on, and its locks, from the accounts that are known now. */
export class Resolver {
  readonly #dependencies: ResolverDependencies;
  readonly #tips: ReadonlyMap<string, number>;

  constructor(dependencies: ResolverDependencies) {
    this.#dependencies = dependencies;
    this.#tips = new Map(dependencies.tipAccounts.map((key, index) => [nameOfBytes(key), index]));
  }

  /** Needs every account that is not known for `slot` or a later one. */
  resolve(parsed: ParsedBundle, slot: bigint): BundleResolution {
    const gathering = new Gathering(slot);
    for (const [index, transaction] of parsed.transactions.entries()) {
      const reason = this.#transaction(transaction, gathering);
      // The reason may be that a table is not known as it is now.
      if (reason !== null && gathering.needed.size === 0) {
        return { kind: "failed", failure: failureOf(index, transaction, reason) };
      }
    }
    const held = [...gathering.locks.keys(), ...gathering.tables, ...gathering.code];
    let bytes = 0;
    for (const { space } of held) bytes += space;
    const last = parsed.transactions.length - 1;
    const failed = (reason: FailureReason): BundleResolution => {
      return { kind: "failed", failure: failureOf(last, parsed.transactions[last] ?? null, reason) };
    };
    if (bytes > loadedBytesMax) {
      return failed({ reason: "simulation_failed", error: "MaxLoadedAccountsDataSizeExceeded" });
    }
    if (gathering.needed.size > 0) return { kind: "needs", entries: [...gathering.needed] };
    if (gathering.tipMask === 0 && gathering.loadsTipAccount >= 0) {
      const error = `transaction ${gathering.loadsTipAccount} names a tip account by a lookup table only`;
      return failed({ reason: "tip_account_via_lookup_table", error });
    }
    return { kind: "prepared", bundle: prepared(parsed.id, gathering) };
  }

  #need(entry: AccountEntry, gathering: Gathering): void {
    const { supply, cache } = this.#dependencies;
    const { slot } = gathering;
    if (!supply.isFresh(entry, slot)) gathering.needed.add(entry);
    if (entry.programData === null) return;
    const code = cache.of(entry.programData);
    if (gathering.code.has(code)) return;
    gathering.code.add(code);
    if (!supply.isFresh(code, slot)) gathering.needed.add(code);
  }

  #transaction(transaction: Transaction, gathering: Gathering): FailureReason | null {
    const { message, bytes } = transaction;
    const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const keysStart = message.keyBytes(0).byteOffset - bytes.byteOffset;
    const keys: AccountEntry[] = [];
    for (let index = 0; index < message.staticKeyCount; index += 1) {
      keys.push(this.#dependencies.cache.at(buffer, keysStart + index * 32));
    }
    const error = message.totalKeyCount > keys.length ? this.#load(transaction, keys, gathering) : null;
    for (const entry of keys) this.#need(entry, gathering);
    if (error !== null) return { reason: "simulation_failed", error };
    if (keys.length > engineLimits.accountLocks) {
      return { reason: "account_locks_exceeded", error: "TooManyAccountLocks" };
    }
    if (keys.length > message.staticKeyCount && new Set(keys).size !== keys.length) {
      return { reason: "simulation_failed", error: "AccountLoadedTwice" };
    }
    const locks = writeLocks(message, keys);
    const isRecent = this.#dependencies.isRecentBlockhash(message.blockhash);
    const nonce = isRecent ? null : nonceAccount(message, keys, locks);
    if (nonce === null && !isRecent) {
      return { reason: "blockhash_expired", error: "BlockhashNotFound" };
    }
    const lifetimeStart = message.blockhashBytes.byteOffset - bytes.byteOffset;
    gathering.transactions.push({ transaction, lifetimeStart, nonce });
    this.#count(message, { keys, locks }, gathering);
    return null;
  }

  /** Adds the keys that lookup tables name: writable ones first, then the others. */
  #load(transaction: Transaction, keys: AccountEntry[], gathering: Gathering): TableError | null {
    const { cache, supply } = this.#dependencies;
    const tables: LookupTable[] = [];
    const { lookups } = transaction.message;
    const entries = lookups.map(({ tableBytes }) => cache.of(tableBytes));
    for (const entry of entries) {
      gathering.tables.add(entry);
      if (!supply.isFresh(entry, gathering.slot)) gathering.needed.add(entry);
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
    message: Message,
    { keys, locks }: { readonly keys: readonly AccountEntry[]; readonly locks: readonly boolean[] },
    gathering: Gathering,
  ): void {
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

/**
 * Rounds of reading that one bundle may need: its keys, the keys that lookup tables name, the code of the programs
 * among those, that code whole, and two more for what changes meanwhile.
 */
const roundsMax = 6;

export interface PreparerDependencies {
  readonly supply: AccountSupply;
  readonly resolver: Resolver;
  /** Accounts that every bundle runs on. */
  readonly always: readonly AccountEntry[];
  readonly newestSlot: () => bigint;
}

export type Preparation =
  | { readonly ok: true; readonly bundle: PreparedBundle }
  | { readonly ok: false; readonly outcome: BundleFailure | BundleUnavailable };

/** Reads the accounts of a bundle that are not known for the newest slot, until it can be handed to a machine. */
export class Preparer {
  readonly #dependencies: PreparerDependencies;
  /**
   * By the list of transactions, which is one object from admission to the end: each auction that it wins runs it
   * again.
   */
  readonly #parsed = new WeakMap<SimulatedBundle["transactions"], ParsedBundle>();

  constructor(dependencies: PreparerDependencies) {
    this.#dependencies = dependencies;
  }

  async prepare(bundle: SimulatedBundle): Promise<Preparation> {
    const parsed = this.#parse(bundle);
    if ("ok" in parsed) return { ok: false, outcome: parsed };
    const { supply, resolver, always, newestSlot } = this.#dependencies;
    // Accounts of later slots are not waited for, so that this ends while slots go on.
    const slot = newestSlot();
    for (let round = 0; round < roundsMax; round += 1) {
      const resolution = resolver.resolve(parsed, slot);
      if (resolution.kind === "failed") return { ok: false, outcome: resolution.failure };
      const stale = always.filter((entry) => !supply.isFresh(entry, slot));
      if (resolution.kind === "prepared" && stale.length === 0) return { ok: true, bundle: resolution.bundle };
      if (resolution.kind === "prepared") resolution.bundle.release();
      const needed = resolution.kind === "needs" ? resolution.entries : [];
      if (!(await supply.read([...new Set([...needed, ...stale])]))) break;
    }
    return { ok: false, outcome: unavailable("no_accounts") };
  }

  #parse(bundle: SimulatedBundle): ParsedBundle | BundleFailure {
    const known = this.#parsed.get(bundle.transactions);
    if (known?.id === bundle.id) return known;
    const parsed = parseBundle(bundle);
    if (!("ok" in parsed)) this.#parsed.set(bundle.transactions, parsed);
    return parsed;
  }
}
