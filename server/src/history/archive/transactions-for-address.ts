import { historyDays, type PlatformTier } from "@sluice/contract/tiers";
import { encodeTransaction, type JsonObject, type JsonValue, unpackTransaction } from "@sluice/encode";
import { isSignature } from "@sluice/wire/identifiers";
import { anyTransaction, type ChainReads, type FoundTransactions, type TransactionPlace } from "../../ledger/index.ts";
import type { NodeAnswer } from "../../upstreams/index.ts";
import type { ArchiveQuestion } from "./blocks.ts";
import { integerOf } from "./call-config.ts";
import { signatureRecord } from "./lists.ts";
import { contextNotReached, unknownTransaction, unsupportedVersion, valueAnswer } from "./node-answers.ts";

const signaturesMax = 1_000;
const fullMax = 100;
const slotMax = 2n ** 64n - 1n;
const lastIndex = 0xffff_ffff;

/** What a filter allows of places: after `low` and before `high`, neither included. */
interface Bounds {
  low: TransactionPlace | null;
  high: TransactionPlace | null;
}

/** A parameter that the caller has to mend; its text names it. */
class InvalidFilter extends Error {}

/** The answer, or why there is none. */
export type ForAddress =
  | { readonly ok: true; readonly answer: NodeAnswer }
  | { readonly ok: false; readonly code: "INVALID_PARAMS" | "TIER_REQUIRED"; readonly message: string };

const isObject = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const isAfter = (one: TransactionPlace, other: TransactionPlace): boolean =>
  one.slot > other.slot || (one.slot === other.slot && one.index > other.index);

function raise(bounds: Bounds, low: TransactionPlace | null): void {
  if (low === null) return;
  if (bounds.low === null || isAfter(low, bounds.low)) bounds.low = low;
}

function lower(bounds: Bounds, high: TransactionPlace): void {
  if (bounds.high === null || isAfter(bounds.high, high)) bounds.high = high;
}

const comparisons = ["gt", "gte", "lt", "lte"] as const;

/** The members of a comparison; a name that is none is refused, so that no filter is silently left out. */
function membersOf(filters: JsonObject, name: string, allowed: readonly string[]): [string, JsonValue][] {
  const value = filters[name] ?? null;
  if (value === null) return [];
  if (!isObject(value)) throw new InvalidFilter(`filters.${name} must be an object`);
  const members = Object.entries(value).filter((member): member is [string, JsonValue] => (member[1] ?? null) !== null);
  const unknown = members.find(([member]) => !allowed.includes(member));
  if (unknown !== undefined) throw new InvalidFilter(`filters.${name} has no member ${unknown[0].slice(0, 32)}`);
  return members;
}

function wholeNumber(path: string, value: JsonValue): bigint {
  const number = integerOf(value);
  if (number === null || number < 0n || number > slotMax) throw new InvalidFilter(`${path} must be a whole number`);
  return number;
}

/** The last place before a slot; null before the first. */
const beforeSlot = (slot: bigint): TransactionPlace | null =>
  slot === 0n ? null : { slot: slot - 1n, index: lastIndex };
const lastOf = (slot: bigint): TransactionPlace => ({ slot, index: lastIndex });

function boundBySlot(bounds: Bounds, filters: JsonObject): void {
  for (const [member, value] of membersOf(filters, "slot", comparisons)) {
    const slot = wholeNumber(`filters.slot.${member}`, value);
    if (member === "gt") raise(bounds, lastOf(slot));
    else if (member === "gte") raise(bounds, beforeSlot(slot));
    else if (member === "lt") lower(bounds, { slot, index: 0 });
    else if (slot < slotMax) lower(bounds, { slot: slot + 1n, index: 0 });
  }
}

/** Blocks are found by their first second: what is before it is before all of that second's. */
async function boundByTime(
  bounds: Bounds,
  filters: JsonObject,
  firstSlotSince: (seconds: bigint) => Promise<bigint | null>,
): Promise<void> {
  const members = membersOf(filters, "blockTime", [...comparisons, "eq"]);
  const since = async (seconds: bigint): Promise<bigint> => (await firstSlotSince(seconds)) ?? slotMax;
  for (const [member, value] of members) {
    const seconds = wholeNumber(`filters.blockTime.${member}`, value);
    if (member === "gte" || member === "eq") raise(bounds, beforeSlot(await since(seconds)));
    if (member === "gt") raise(bounds, beforeSlot(await since(seconds + 1n)));
    if (member === "lt") lower(bounds, { slot: await since(seconds), index: 0 });
    if (member === "lte" || member === "eq") lower(bounds, { slot: await since(seconds + 1n), index: 0 });
  }
}

/** Null once all signatures are known; the first that is not, else. */
async function boundBySignature(
  bounds: Bounds,
  filters: JsonObject,
  placeOf: (signature: string) => Promise<TransactionPlace | null>,
): Promise<string | null> {
  for (const [member, value] of membersOf(filters, "signature", comparisons)) {
    if (!isSignature(value)) throw new InvalidFilter(`filters.signature.${member} must be a signature`);
    const place = await placeOf(value);
    if (place === null) return value;
    const { slot, index } = place;
    if (member === "gt") raise(bounds, place);
    else if (member === "gte") raise(bounds, index === 0 ? beforeSlot(slot) : { slot, index: index - 1 });
    else if (member === "lt") lower(bounds, place);
    else lower(bounds, { slot, index: index + 1 });
  }
  return null;
}

function placeOfToken(token: string): TransactionPlace {
  const [, slot = "", index = ""] = /^(0|[1-9][0-9]{0,19}):(0|[1-9][0-9]{0,9})$/.exec(token) ?? [];
  const place = { slot: BigInt(slot === "" ? slotMax + 1n : slot), index: Number(index) };
  if (place.slot > slotMax || place.index > lastIndex)
    throw new InvalidFilter("paginationToken is none of this method");
  return place;
}

function choice<T extends string>(filters: JsonObject, name: string, values: readonly T[]): T | null {
  const value = filters[name] ?? null;
  if (value === null) return null;
  const found = values.find((each) => each === value);
  if (found === undefined) throw new InvalidFilter(`filters.${name} must be one of ${values.join(", ")}`);
  return found;
}

const knownFilters = new Set(["blockTime", "signature", "slot", "status", "tokenAccounts"]);

/** The filters of a call. @throws {InvalidFilter} */
function filtersOf({ config }: ArchiveQuestion): JsonObject {
  const filters = config.object("filters");
  if (filters === null) throw new InvalidFilter("filters must be an object");
  const unknown = Object.keys(filters).find((name) => !knownFilters.has(name));
  if (unknown !== undefined) throw new InvalidFilter(`filters has no member ${unknown.slice(0, 32)}`);
  return filters;
}

const outcomes = { any: null, succeeded: true, failed: false } as const;

/**
 * getTransactionsForAddress: signatures or whole transactions of an address, filtered, in either order, page by page.
 * Source: @solana/kit 8, rpc-api. `seenFrom` is the first slot that the caller's tier sees.
 */
export async function transactionsForAddress(
  chain: ChainReads,
  question: ArchiveQuestion,
  { tier, seenFrom }: { readonly tier: PlatformTier; readonly seenFrom: bigint },
): Promise<ForAddress> {
  try {
    return await answer(chain, question, { tier, seenFrom });
  } catch (error) {
    if (!(error instanceof InvalidFilter)) throw error;
    return { ok: false, code: "INVALID_PARAMS", message: `Invalid params: ${error.message}` };
  }
}

async function answer(
  chain: ChainReads,
  question: ArchiveQuestion,
  { tier, seenFrom }: { readonly tier: PlatformTier; readonly seenFrom: bigint },
): Promise<ForAddress> {
  const { network, newest, config } = question;
  const filters = filtersOf(question);
  const isFull = config.text("transactionDetails") === "full";
  const most = isFull ? fullMax : signaturesMax;
  const limit = Math.min(Number(config.integer("limit") ?? most), most);
  const order = config.text("sortOrder") === "asc" ? ("asc" as const) : ("desc" as const);
  const success = outcomes[choice(filters, "status", ["any", "succeeded", "failed"]) ?? "any"];
  const tokenAccounts = choice(filters, "tokenAccounts", ["none", "balanceChanged", "all"]) ?? "none";
  if (tokenAccounts === "all") {
    throw new InvalidFilter("filters.tokenAccounts all is not indexed here; use none or balanceChanged");
  }
  if ((config.integer("minContextSlot") ?? 0n) > newest) return { ok: true, answer: contextNotReached(newest) };
  const bounds: Bounds = { low: null, high: null };
  boundBySlot(bounds, filters);
  await boundByTime(bounds, filters, (seconds) => chain.firstSlotSince(network, seconds));
  const unknown = await boundBySignature(bounds, filters, (each) => chain.transactions.placeOf(network, each));
  if (unknown !== null) return { ok: true, answer: unknownTransaction(unknown) };
  const isOlder = seenFrom > 0n && bounds.high !== null && !isAfter(bounds.high, { slot: seenFrom, index: 0 });
  if (isOlder || (bounds.low !== null && bounds.low.slot + 1n < seenFrom)) {
    const message = `The tier ${tier} sees the history of the last ${historyDays[tier]} days`;
    return { ok: false, code: "TIER_REQUIRED", message };
  }
  const token = config.text("paginationToken");
  if (token !== null) (order === "desc" ? lower : raise)(bounds, placeOfToken(token));
  const { low, high } = bounds;
  const from = low === null || low.slot < seenFrom ? seenFrom : low.slot;
  const to = high === null || high.slot > newest ? newest : high.slot;
  const range = { network, order, from, to, after: order === "desc" ? high : low, limit };
  const address = config.textAt(0);
  const found: FoundTransactions =
    from > to
      ? { places: [], next: null }
      : tokenAccounts === "balanceChanged"
        ? await chain.ofOwner(range, address, success)
        : await chain.find(range, { ...anyTransaction, accounts: [address], success });
  const isWithin = (place: TransactionPlace): boolean =>
    (low === null || isAfter(place, low)) && (high === null || isAfter(high, place));
  const places = found.places.filter(isWithin);
  const next = places.length < found.places.length ? null : found.next;
  const paginationToken = next === null ? null : `${next.slot}:${next.index}`;
  const data = isFull
    ? await fullRecords(chain, question, { places, order })
    : await rowRecords(chain, question, { places, order });
  if (typeof data === "number") return { ok: true, answer: unsupportedVersion(data) };
  return { ok: true, answer: valueAnswer({ data, paginationToken }) };
}

interface Listed {
  readonly places: readonly TransactionPlace[];
  readonly order: "asc" | "desc";
}

async function rowRecords(chain: ChainReads, { network, held }: ArchiveQuestion, { places, order }: Listed) {
  const rows = await chain.transactions.rows(network, places, order);
  return rows.map((row) => signatureRecord(row, row.slot < held.finalBefore, true));
}

/** Whole transactions; the version of the first that the caller does not take. */
async function fullRecords(chain: ChainReads, { network, config }: ArchiveQuestion, { places, order }: Listed) {
  const rows = await chain.transactions.bodies(network, places, order);
  const records: JsonObject[] = [];
  for (const { slot, index, blockTime, body } of rows) {
    const encoded = encodeTransaction(unpackTransaction(body), {
      encoding: config.encoding,
      maxSupportedTransactionVersion: config.versionMax,
    });
    if (!encoded.ok) return encoded.version;
    records.push({ slot, transactionIndex: index, blockTime, ...encoded.value });
  }
  return records;
}
