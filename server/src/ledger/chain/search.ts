import type { Clock } from "@sluice/lib";
import type { LedgerConnection } from "../connection.ts";
import { LedgerQueryError } from "../errors.ts";
import { reparsesTable } from "../parsed-tables.ts";
import { versionOrder } from "./parsed-store.ts";
import {
  eachOnce,
  greatest,
  least,
  lookupSettings,
  ofChain,
  type PlaceRange,
  placeList,
  rangeCondition,
  type SlotWindow,
  slotList,
  sorted,
  type TransactionPlace,
} from "./statements.ts";
import type { TransactionReads } from "./transaction-reads.ts";

/** What a search asks of transactions; what is null does not matter, and the rest must all hold. */
export interface TransactionConditions {
  /** Each of them is named by the transaction; the first one should be the rarest. */
  readonly accounts: readonly string[];
  readonly program: string | null;
  readonly feePayer: string | null;
  readonly success: boolean | null;
  /** The name of the error. */
  readonly error: string | null;
  readonly votes: boolean | null;
  readonly feeMin: bigint | null;
  readonly feeMax: bigint | null;
  /** One movement for which all of these hold; of native currency where there is no mint. */
  readonly movement: {
    readonly mint: string | null;
    readonly amountMin: bigint | null;
    readonly amountMax: bigint | null;
    /** One sent to the other. */
    readonly between: readonly [string, string] | null;
  } | null;
  /** Types of the parsers, and the names of programs and markets that they give. */
  readonly types: readonly string[] | null;
  readonly sources: readonly string[] | null;
  /** Rows of the parsers of this version and newer ones say types and sources; older ones may say wrong ones. */
  readonly parserVersion: number;
}

export const anyTransaction: TransactionConditions = {
  accounts: [],
  program: null,
  feePayer: null,
  success: null,
  error: null,
  votes: null,
  feeMin: null,
  feeMax: null,
  movement: null,
  types: null,
  sources: null,
  parserVersion: 0,
};

export interface FoundTransactions {
  /** In the order of the search; fewer than asked for where `next` is not null and time was up. */
  readonly places: readonly TransactionPlace[];
  /** The search goes on behind it; null where nothing is left. */
  readonly next: TransactionPlace | null;
}

/** Milliseconds after which a search answers with what it has found. */
export const searchAnswerMs = 4_000;

/** Bounds of one search, which goes on from its cursor at the next call. */
const searchLimits = {
  /** Transactions of an address that one statement looks at. */
  candidates: 2_000,
  /** Slots that the first statement of a scan looks at, and the most that one does. */
  slotsFirst: 2_048n,
  slotsMax: 1_048_576n,
  /** Seconds of one statement; a scan that takes longer is repeated over fewer slots. */
  statementSeconds: 3,
} as const;

const settings = {
  ...lookupSettings,
  // Scans may wait for look-ups, and use what is left of the machine.
  priority: 2,
  max_threads: 2,
  max_execution_time: searchLimits.statementSeconds,
  max_memory_usage: 512 * 1024 * 1024,
} as const;

/** Too slow, or too many rows: the same statement over fewer slots may do. */
const overLimit: ReadonlySet<number> = new Set([158, 159, 160, 191, 241, 307]);

const lastIndex = 0xffff_ffff;

/**
 * Finds transactions in the order of the chain. With an account, the transactions of that account are looked at, page
 * by page; without one, windows of slots. Each call is bounded in time, and its `next` is where another goes on.
 */
export class TransactionSearch {
  readonly #connection: LedgerConnection;
  readonly #transactions: TransactionReads;
  readonly #clock: Pick<Clock, "monotonic">;

  constructor(connection: LedgerConnection, transactions: TransactionReads, clock: Pick<Clock, "monotonic">) {
    this.#connection = connection;
    this.#transactions = transactions;
    this.#clock = clock;
  }

  /**
   * Where types or sources are asked for, transactions of which no row of the parsers says them are found as well: the
   * caller parses these. Throws LedgerUnavailableError; LedgerQueryError when even a single slot is too much.
   */
  async find(
    range: PlaceRange,
    conditions: TransactionConditions,
    answerMs: number = searchAnswerMs,
  ): Promise<FoundTransactions> {
    if (range.from > range.to) return { places: [], next: null };
    const untilMs = this.#clock.monotonic() + answerMs;
    const [address, ...others] = [
      ...conditions.accounts,
      ...(conditions.feePayer === null ? [] : [conditions.feePayer]),
      ...(conditions.program === null ? [] : [conditions.program]),
    ];
    const isAddressAlone = others.length === 0 && address !== undefined && isOnlySuccess(conditions, address);
    if (isAddressAlone) return await this.#ofAddress(range, address, conditions.success);
    const parsedBelow = asksParsed(conditions) ? await this.#parsedBelow(range.network) : 0n;
    const match: Match = (part, among) => this.#matching(part, { conditions, among, parsedBelow });
    if (address === undefined) return await this.#scan(range, untilMs, match);
    return await this.#amongAddress(range, { address, success: conditions.success, untilMs }, match);
  }

  /**
   * Transactions that name a wallet or move tokens of an account that it owns. Throws as `find`.
   */
  ofOwner(range: PlaceRange, owner: string, success: boolean | null): Promise<FoundTransactions> {
    if (range.from > range.to) return Promise.resolve({ places: [], next: null });
    return this.#scan(range, this.#clock.monotonic() + searchAnswerMs, async (part) => {
      const { condition, parameters } = rangeCondition(part);
      const within = `network = {network:String} AND ${condition}`;
      const outcome = success === null ? "" : ` AND success = ${success}`;
      return await this.#places(
        `SELECT slot, transaction_index FROM transactions PREWHERE ${within} ` +
          "AND (slot, transaction_index) GLOBAL IN (" +
          `SELECT slot, transaction_index FROM transactions_by_address WHERE ${within} AND address = {owner:String} ` +
          "UNION DISTINCT " +
          `SELECT slot, transaction_index FROM token_movements WHERE ${within} ` +
          "AND (from_owner = {owner:String} OR to_owner = {owner:String})) " +
          `WHERE ${ofChain}${outcome} ${sorted(part.order)} LIMIT {limit:UInt32}`,
        { ...parameters, owner, limit: part.limit },
      );
    });
  }

  async #ofAddress(range: PlaceRange, address: string, success: boolean | null): Promise<FoundTransactions> {
    const places = await this.#transactions.ofAddress(range, address, success);
    return { places, next: places.length < range.limit ? null : (places.at(-1) ?? null) };
  }

  /** Looks at the transactions of an address, so many at a time. */
  async #amongAddress(
    range: PlaceRange,
    { address, success, untilMs }: { readonly address: string; readonly success: boolean | null; untilMs: number },
    match: Match,
  ): Promise<FoundTransactions> {
    const places: TransactionPlace[] = [];
    let after = range.after;
    for (;;) {
      const page = { ...range, after, limit: searchLimits.candidates };
      const candidates = await this.#transactions.ofAddress(page, address, success);
      const [first, last] = [candidates[0], candidates.at(-1)];
      if (first === undefined || last === undefined) return { places, next: null };
      const [from, to] = first.slot < last.slot ? [first.slot, last.slot] : [last.slot, first.slot];
      const limit = range.limit - places.length;
      const part = { ...range, from, to, after: null, limit };
      places.push(...(await eachOnce(part, (each) => match(each, candidates))));
      if (places.length >= range.limit) return { places, next: places.at(-1) ?? null };
      if (candidates.length < searchLimits.candidates) return { places, next: null };
      after = last;
      if (this.#clock.monotonic() >= untilMs) return { places, next: after };
    }
  }

  /** Looks at windows of slots, larger ones while little is found. */
  async #scan(range: PlaceRange, untilMs: number, match: Match): Promise<FoundTransactions> {
    const isDown = range.order === "desc";
    const places: TransactionPlace[] = [];
    let { after } = range;
    let width: bigint = searchLimits.slotsFirst;
    for (;;) {
      const start = startOf(range, after);
      if (start < range.from || start > range.to) return { places, next: null };
      const window = isDown
        ? { from: greatest(range.from, start - width + 1n), to: start }
        : { from: start, to: least(range.to, start + width - 1n) };
      const part = { ...range, ...window, after, limit: range.limit - places.length };
      const found = await eachOnce(part, (each) => match(each, null)).catch((error: unknown) => {
        if (width === 1n || !(error instanceof LedgerQueryError && overLimit.has(error.engineCode))) throw error;
        return null;
      });
      if (found === null) {
        width = greatest(1n, width / 8n);
      } else {
        places.push(...found);
        if (places.length >= range.limit) return { places, next: places.at(-1) ?? null };
        after = isDown ? { slot: window.from, index: 0 } : { slot: window.to, index: lastIndex };
        width = least(searchLimits.slotsMax, width * 4n);
      }
      if (this.#clock.monotonic() >= untilMs) return { places, next: after };
    }
  }

  /** Places in a range at which all conditions hold; `among` narrows it further. */
  async #matching(
    range: PlaceRange,
    {
      conditions,
      among,
      parsedBelow,
    }: {
      readonly conditions: TransactionConditions;
      readonly among: readonly TransactionPlace[] | null;
      readonly parsedBelow: bigint;
    },
  ): Promise<TransactionPlace[]> {
    const { condition, parameters } = rangeCondition(range);
    const where = [ofChain];
    const values: Record<string, unknown> = { ...parameters, limit: range.limit };
    addOwnConditions(conditions, where, values);
    const narrowed = among === null ? "" : ` AND (slot, transaction_index) IN (${placeList(among)})`;
    const within = `network = {network:String} AND ${condition}${narrowed}`;
    addMovement(conditions.movement, { within, where, values });
    if (asksParsed(conditions)) {
      const blocks = { from: greatest(parsedBelow, parameters.from), to: parameters.to, among };
      addParsed(conditions, { within, where, values }, blocks);
    }
    return await this.#places(
      `SELECT slot, transaction_index FROM transactions PREWHERE ${within} WHERE ${where.join(" AND ")} ` +
        `${sorted(range.order)} LIMIT {limit:UInt32}`,
      values,
    );
  }

  /** The slot below which every transaction has a row of some version of the parsers. */
  async #parsedBelow(network: PlaceRange["network"]): Promise<bigint> {
    const [row] = await this.#connection.query<{ next_slot: string }>(
      `SELECT next_slot FROM ${reparsesTable.name} FINAL WHERE network = {network:String} AND id = {id:String}`,
      { network, id: versionOrder },
      settings,
    );
    return BigInt(row?.next_slot ?? 0);
  }

  async #places(sql: string, values: Readonly<Record<string, unknown>>): Promise<TransactionPlace[]> {
    const rows = await this.#connection.query<{ slot: string; transaction_index: number }>(sql, values, settings);
    return rows.map(({ slot, transaction_index: index }) => ({ slot: BigInt(slot), index }));
  }
}

/** Places of a range that match, of those in a list where there is one. */
type Match = (range: PlaceRange, among: readonly TransactionPlace[] | null) => Promise<TransactionPlace[]>;

const asksParsed = ({ types, sources }: TransactionConditions): boolean => types !== null || sources !== null;

/** The slot in which a page begins. */
function startOf({ from, to, order }: PlaceRange, after: TransactionPlace | null): bigint {
  if (order === "desc") {
    if (after === null || after.slot > to) return to;
    // Before the first transaction of a slot comes the slot before.
    return after.index === 0 ? after.slot - 1n : after.slot;
  }
  if (after === null || after.slot < from) return from;
  return after.index === lastIndex ? after.slot + 1n : after.slot;
}

/** Whether nothing is asked beside an address and success, so that the table of addresses answers by itself. */
function isOnlySuccess(conditions: TransactionConditions, address: string): boolean {
  const { program, feePayer, error, votes, feeMin, feeMax, movement, types, sources } = conditions;
  // An account of a transaction need not be a program that it calls, nor its payer.
  if (program === address || feePayer === address) return false;
  return [error, votes, feeMin, feeMax, movement, types, sources].every((each) => each === null);
}

/** Conditions that a transaction's own row answers. */
function addOwnConditions(conditions: TransactionConditions, where: string[], values: Record<string, unknown>): void {
  const { accounts, program, feePayer, success, error, votes, feeMin, feeMax } = conditions;
  const add = (name: string, value: unknown, condition: string): void => {
    if (value === null) return;
    values[name] = value;
    where.push(condition);
  };
  for (const [index, account] of accounts.entries()) {
    add(`account${index}`, account, `has(accounts, {account${index}:String})`);
  }
  add("program", program, "has(program_ids, {program:String})");
  add("feePayer", feePayer, "fee_payer = {feePayer:String}");
  // An error is its name as JSON text, or an object whose one member has the name.
  add(
    "error",
    error,
    `(error = concat('"', {error:String}, '"') OR startsWith(error, concat('{"', {error:String}, '":')))`,
  );
  add("feeMin", feeMin, "fee >= {feeMin:UInt64}");
  add("feeMax", feeMax, "fee <= {feeMax:UInt64}");
  if (success !== null) where.push(`success = ${success}`);
  if (votes !== null) where.push(`is_vote = ${votes}`);
}

/** A statement while its conditions are added, and the range of places that its subqueries look at. */
interface Statement {
  readonly within: string;
  readonly where: string[];
  readonly values: Record<string, unknown>;
}

/**
 * The row of the newest version decides; of a block that left the chain none does. Where that row is of an older
 * version than the caller's, or a block lacks rows, nothing is decided and the place is found.
 */
function addParsed(
  { types, sources, parserVersion }: TransactionConditions,
  { within, where, values }: Statement,
  { from, to, among }: SlotWindow & { readonly among: readonly TransactionPlace[] | null },
): void {
  values["parserVersion"] = parserVersion;
  const parts: string[] = [];
  if (types !== null) {
    values["types"] = types;
    parts.push("type IN {types:Array(String)}");
  }
  if (sources !== null) {
    values["sources"] = sources;
    parts.push("source IN {sources:Array(String)}");
  }
  const found =
    "(slot, transaction_index, blockhash) GLOBAL IN (SELECT slot, transaction_index, blockhash FROM parsed FINAL " +
    `WHERE ${within} AND (version < {parserVersion:UInt32} OR (${parts.join(" AND ")})))`;
  if (from > to) {
    where.push(found);
    return;
  }
  Object.assign(values, { blocksFrom: from, blocksTo: to });
  const slots =
    "network = {network:String} AND slot >= {blocksFrom:UInt64} AND slot <= {blocksTo:UInt64}" +
    (among === null ? "" : ` AND slot IN (${slotList([...new Set(among.map(({ slot }) => slot))])})`);
  // Votes have rows only where the operator wants them. A block has its rows at once, so that their number tells.
  const lacking =
    "SELECT slot, blockhash FROM (" +
    "SELECT slot, blockhash, any(transactions) - any(votes) AS expected, 0 AS told FROM blocks " +
    `WHERE ${slots} GROUP BY slot, blockhash UNION ALL ` +
    `SELECT slot, blockhash, 0 AS expected, count() AS told FROM parsed FINAL WHERE ${slots} GROUP BY slot, blockhash) ` +
    "GROUP BY slot, blockhash HAVING sum(expected) > sum(told)";
  where.push(`(${found} OR (NOT is_vote AND (slot, blockhash) GLOBAL IN (${lacking})))`);
}

function addMovement(movement: TransactionConditions["movement"], { within, where, values }: Statement): void {
  if (movement === null) return;
  const { mint, amountMin, amountMax, between } = movement;
  const [from, to] = mint === null ? ["from_account", "to_account"] : ["from_owner", "to_owner"];
  const parts: string[] = [];
  if (mint !== null) {
    values["mint"] = mint;
    parts.push("mint = {mint:String}");
  }
  if (amountMin !== null) {
    values["amountMin"] = amountMin;
    parts.push("amount >= {amountMin:UInt64}");
  }
  if (amountMax !== null) {
    values["amountMax"] = amountMax;
    parts.push("amount <= {amountMax:UInt64}");
  }
  if (between !== null) {
    [values["one"], values["other"]] = between;
    const way = (one: string, other: string): string => `(${from} = {${one}:String} AND ${to} = {${other}:String})`;
    parts.push(`(${way("one", "other")} OR ${way("other", "one")})`);
  }
  const table = mint === null ? "native_movements" : "token_movements";
  where.push(
    `(slot, transaction_index) GLOBAL IN (SELECT slot, transaction_index FROM ${table} PREWHERE ${within} ` +
      `WHERE ${[ofChain, ...parts].join(" AND ")})`,
  );
}
