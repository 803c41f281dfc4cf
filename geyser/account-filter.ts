import type { AccountUpdate } from "@sluice/encode/updates";
import { isTokenAccountAt } from "@sluice/wire/accounts/token";
import { decodeBase58 } from "@sluice/wire/base58";
import { cuckooFilter } from "./cuckoo-filter.ts";
import { addressList, FilterFault, requireAny, requireCount } from "./filter-fault.ts";
import type { FilterLimits } from "./limits.ts";
import type { AccountsFilterRequest, AccountsRequest, SliceRequest } from "./requests.ts";

const filtersMax = 4;
/** Of what a memcmp compares with: decoded, and as text. Source: yellowstone-grpc, the accounts filter. */
const comparedBytesMax = 128;
const base58CharactersMax = 175;
const base64CharactersMax = 172;

type Test = (update: AccountUpdate) => boolean;

function comparedBytes(memcmp: NonNullable<AccountsFilterRequest["memcmp"]>): Uint8Array {
  if (memcmp.bytes !== undefined) return memcmp.bytes;
  if (memcmp.base58 !== undefined) {
    if (memcmp.base58.length > base58CharactersMax) throw new FilterFault("data too large");
    const decoded = decodeBase58(memcmp.base58);
    if (decoded === null) throw new FilterFault("invalid base58");
    return decoded;
  }
  if (memcmp.base64 === undefined) throw new FilterFault("data for memcmp should be defined");
  if (memcmp.base64.length > base64CharactersMax) throw new FilterFault("data too large");
  try {
    return Uint8Array.fromBase64(memcmp.base64, { lastChunkHandling: "strict" });
  } catch {
    throw new FilterFault("invalid base64");
  }
}

function memcmpTest(memcmp: NonNullable<AccountsFilterRequest["memcmp"]>): Test {
  const bytes = comparedBytes(memcmp);
  if (bytes.length > comparedBytesMax) throw new FilterFault("data too large");
  const offset = BigInt(memcmp.offset);
  return ({ account: { data } }) => {
    if (offset + BigInt(bytes.length) > BigInt(data.length)) return false;
    const at = Number(offset);
    return bytes.every((byte, index) => data[at + index] === byte);
  };
}

const comparisons = {
  eq: (lamports: bigint, other: bigint) => lamports === other,
  ne: (lamports: bigint, other: bigint) => lamports !== other,
  lt: (lamports: bigint, other: bigint) => lamports < other,
  gt: (lamports: bigint, other: bigint) => lamports > other,
} as const;

function lamportsTest(request: NonNullable<AccountsFilterRequest["lamports"]>): Test {
  for (const name of ["eq", "ne", "lt", "gt"] as const) {
    const text = request[name];
    if (text === undefined) continue;
    const other = BigInt(text);
    return ({ account }) => comparisons[name](account.lamports, other);
  }
  throw new FilterFault("cmp for lamports should be defined");
}

function testOf(request: AccountsFilterRequest): Test {
  const { memcmp, datasize, token_account_state: tokenState, lamports } = request;
  if (memcmp !== undefined && memcmp !== null) return memcmpTest(memcmp);
  if (datasize !== undefined) {
    const length = BigInt(datasize);
    return ({ account }) => BigInt(account.data.length) === length;
  }
  if (tokenState !== undefined) {
    if (!tokenState) throw new FilterFault("token_account_state only allowed to be true");
    return ({ account: { data } }) => isTokenAccountAt(data, 0, data.length);
  }
  if (lamports !== undefined && lamports !== null) return lamportsTest(lamports);
  throw new FilterFault("filter should be defined");
}

/**
 * Whether an account matches: all that the filter names must hold, and one of each list.
 *
 * @throws {FilterFault}
 */
export function accountFilter(request: AccountsRequest, limits: FilterLimits["accounts"]): Test {
  const cuckoo = cuckooFilter(request.cuckoo_accounts_filter, limits.cuckooBytesMax);
  const { account: accounts, owner: owners, filters, nonempty_txn_signature: signed } = request;
  requireAny(accounts.length === 0 && owners.length === 0 && cuckoo === null, limits.any);
  const addresses = addressList(accounts, limits.accountMax, limits.accountReject);
  const programs = addressList(owners, limits.ownerMax, limits.ownerReject);
  if (filters.length > filtersMax) throw new FilterFault(`Too many filters provided; max ${filtersMax}`);
  if (filters.filter(({ datasize }) => datasize !== undefined).length > 1) {
    throw new FilterFault("datasize used more than once");
  }
  const tests = filters.map(testOf);
  const isAnyAddress = addresses.size === 0 && cuckoo === null;
  return (update) =>
    (isAnyAddress || addresses.has(update.address) || cuckoo?.(update.address) === true) &&
    (programs.size === 0 || programs.has(update.account.owner)) &&
    (signed === undefined || signed === (update.signature !== null)) &&
    tests.every((test) => test(update));
}

/** Cuts data down to the slices: those that reach beyond its end are left out, the others stand one after another. */
export type Slicing = (update: AccountUpdate) => AccountUpdate;

export function slicing(requests: readonly SliceRequest[], limits: FilterLimits["accounts"]): Slicing {
  requireCount(requests.length, limits.dataSliceMax, "filters/data_slices");
  const slices = requests.map(({ offset, length }) => ({
    start: BigInt(offset),
    end: BigInt(offset) + BigInt(length),
  }));
  for (const [index, { start }] of slices.entries()) {
    const before = slices[index - 1];
    if (before === undefined) continue;
    if (start < before.start) throw new FilterFault("failed to create filter: data slices out of order");
    if (start < before.end) throw new FilterFault("failed to create filter: data slices overlapped");
  }
  if (slices.length === 0) return (update) => update;
  return (update) => {
    const { account } = update;
    const within = slices.filter(({ end }) => end <= BigInt(account.data.length));
    const parts = within.map(({ start, end }) => account.data.subarray(Number(start), Number(end)));
    return { ...update, account: { ...account, data: new Uint8Array(Buffer.concat(parts)) } };
  };
}
