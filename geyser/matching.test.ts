import { expect, test } from "bun:test";
import { programs } from "@sluice/wire/programs";
import { accountFilter } from "./account-filter.ts";
import type { FilteredTransaction } from "./content.ts";
import { FilterSet } from "./filter-set.ts";
import { defaultFilterLimits } from "./limits.ts";
import type { AccountsFilterRequest, AccountsRequest, SlotsRequest, TransactionsRequest } from "./requests.ts";
import { TransactionFilter } from "./transaction-filter.ts";

type AccountUpdate = Parameters<ReturnType<typeof accountFilter>>[0];
const [alice, bob, carol] = [programs.stake, programs.vote, programs.memo];
const signature = "1".repeat(64);

const update: AccountUpdate = {
  slot: 7n,
  address: alice,
  account: { lamports: 10n, owner: programs.system, executable: false, rentEpoch: 0n, data: Uint8Array.of(1, 2, 3) },
  writeVersion: 1n,
  signature: null,
};

function takes(filter: Partial<AccountsRequest>, changes: Partial<AccountUpdate> = {}): boolean {
  const request = { account: [], owner: [], filters: [], ...filter };
  return accountFilter(request, defaultFilterLimits.accounts)({ ...update, ...changes });
}
const passes = (...filters: AccountsFilterRequest[]): boolean => takes({ filters });

test("an account matches where one of its addresses, one of its owners and all tests hold", () => {
  expect([takes({}), takes({ account: [alice] }), takes({ account: [bob, alice] }), takes({ account: [bob] })]).toEqual(
    [...[true, true, true, false]],
  );
  expect([takes({ owner: [programs.system] }), takes({ owner: [bob] })]).toEqual([true, false]);
  expect(takes({ account: [alice], owner: [bob] })).toBe(false);
  expect(takes({ account: [alice], owner: [programs.system], filters: [{ datasize: "3" }] })).toBe(true);
  expect(passes({ datasize: "3" }, { lamports: { eq: "11" } })).toBe(false);
});

test("an account is asked for by whether a transaction wrote it", () => {
  const written = { signature: new Uint8Array(64) } as Partial<AccountUpdate>;
  expect([takes({ nonempty_txn_signature: true }), takes({ nonempty_txn_signature: true }, written)]).toEqual([
    ...[false, true],
  ]);
  expect([takes({ nonempty_txn_signature: false }), takes({ nonempty_txn_signature: false }, written)]).toEqual([
    ...[true, false],
  ]);
});

test("tests of an account compare its size, its lamports and its bytes, and never read beyond its end", () => {
  expect([passes({ datasize: "3" }), passes({ datasize: "4" })]).toEqual([true, false]);
  const lamports = (name: string, value: string): boolean => passes({ lamports: { [name]: value } });
  expect(["9", "10", "11"].map((value) => lamports("eq", value))).toEqual([false, true, false]);
  expect(["9", "10", "11"].map((value) => lamports("ne", value))).toEqual([true, false, true]);
  expect(["9", "10", "11"].map((value) => lamports("lt", value))).toEqual([false, false, true]);
  expect(["9", "10", "11"].map((value) => lamports("gt", value))).toEqual([true, false, false]);
  const bytes = (offset: string, ...values: number[]): boolean =>
    passes({ memcmp: { offset, bytes: Uint8Array.from(values) } });
  expect([bytes("0", 1), bytes("1", 2, 3), bytes("1", 2, 4), bytes("2", 3, 0), bytes("3", 0)]).toEqual([
    ...[true, true, false, false, false],
  ]);
  expect([bytes("3"), bytes("4"), bytes("18446744073709551615", 1)]).toEqual([true, false, false]);
});

/** Alice's tokens change hands, Bob's stay, and Carol's account is closed. */
const transaction: FilteredTransaction = {
  signature,
  isVote: false,
  failed: true,
  keys: new Set([programs.token]),
  preTokenBalances: [
    { accountIndex: 1, owner: alice, amount: "5" },
    { accountIndex: 2, owner: bob, amount: "7" },
    { accountIndex: 3, owner: carol, amount: "0" },
    { accountIndex: 4, owner: null, amount: "1" },
  ] as unknown as FilteredTransaction["preTokenBalances"],
  postTokenBalances: [
    { accountIndex: 1, owner: alice, amount: "4" },
    { accountIndex: 2, owner: bob, amount: "7" },
  ] as unknown as FilteredTransaction["postTokenBalances"],
  packed: new Uint8Array(),
  asTransaction: [],
  asStatus: [],
};

function matches(filter: Partial<TransactionsRequest>): boolean {
  const request = { account_include: [], account_exclude: [], account_required: [], ...filter };
  return new TransactionFilter("t", request, defaultFilterLimits.transactions).matches(transaction);
}

test("a transaction matches by its kind, its signature and its keys", () => {
  expect([matches({}), matches({ vote: false }), matches({ vote: true })]).toEqual([true, true, false]);
  expect([matches({ failed: true }), matches({ failed: false })]).toEqual([true, false]);
  expect([matches({ signature }), matches({ signature: `${signature.slice(1)}2` })]).toEqual([true, false]);
  const { token, system } = programs;
  expect([matches({ account_include: [system, token] }), matches({ account_include: [system] })]).toEqual([
    ...[true, false],
  ]);
  expect([matches({ account_required: [token] }), matches({ account_required: [token, system] })]).toEqual([
    ...[true, false],
  ]);
  expect([matches({ account_exclude: [system] }), matches({ account_exclude: [token] })]).toEqual([true, false]);
});

test("owners of token balances count as keys where that is asked for: all, or those whose balance changed", () => {
  const owners = [alice, bob, carol];
  const of = (filter: Partial<TransactionsRequest>) =>
    owners.map((owner) => matches({ account_include: [owner], ...filter }));
  expect(of({})).toEqual([false, false, false]);
  expect(of({ token_accounts: "ALL" })).toEqual([true, true, true]);
  expect(of({ token_accounts: "BALANCE_CHANGED" })).toEqual([true, false, true]);
  expect(matches({ account_exclude: [bob], token_accounts: "ALL" })).toBe(false);
  expect(matches({ account_exclude: [bob], token_accounts: "BALANCE_CHANGED" })).toBe(true);
  expect(matches({ account_required: [alice, carol], token_accounts: "BALANCE_CHANGED" })).toBe(true);
});

test("a slot's statuses are those of blocks, one alone by commitment, and the ones before at processed", () => {
  const told = (request: SlotsRequest, commitment: string): string[] => {
    const none = { accounts: {}, transactions: {}, transactions_status: {}, blocks: {}, blocks_meta: {}, entry: {} };
    const set = new FilterSet(
      { ...none, slots: { s: request }, accounts_data_slice: [], commitment },
      defaultFilterLimits,
    );
    const statuses = [
      "firstShredReceived",
      "createdBank",
      "completed",
      "processed",
      "confirmed",
      "finalized",
      "dead",
    ] as const;
    return statuses.filter((status) => set.slotNames(status).length > 0);
  };
  const ofBlocks = ["processed", "confirmed", "finalized"];
  expect(told({}, "PROCESSED")).toEqual(ofBlocks);
  expect(told({ filter_by_commitment: true }, "CONFIRMED")).toEqual(["confirmed"]);
  expect(told({ interslot_updates: true }, "CONFIRMED")).toEqual(ofBlocks);
  expect(told({ interslot_updates: true }, "PROCESSED")).toHaveLength(7);
});
