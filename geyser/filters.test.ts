import { expect, test } from "bun:test";
import { completeRequest } from "@sluice/encode/updates";
import { MalformedBytes } from "@sluice/wire/bytes";
import { programs } from "@sluice/wire/programs";
import { FilterFault } from "./filter-fault.ts";
import { FilterSet } from "./filter-set.ts";
import { defaultFilterLimits, type FilterLimits } from "./limits.ts";
import type { AccountsRequest, BlocksRequest, SubscribeRequest, TransactionsRequest } from "./requests.ts";

const nothing: SubscribeRequest = {
  accounts: {},
  slots: {},
  transactions: {},
  transactions_status: {},
  blocks: {},
  blocks_meta: {},
  entry: {},
  accounts_data_slice: [],
};
const accounts = (filter: Partial<AccountsRequest> = {}) => ({ a: { account: [], owner: [], filters: [], ...filter } });
const transactions = (filter: Partial<TransactionsRequest> = {}) => ({
  t: { account_include: [], account_exclude: [], account_required: [], ...filter },
});
const blocks = (filter: Partial<BlocksRequest> = {}) => ({ b: { account_include: [], ...filter } });

const cuckoo = {
  data: new Uint8Array(16),
  bucket_count: 2,
  entries_per_bucket: 4,
  fingerprint_bits: 16,
  hash_seed: "1",
  hash_algorithm: "SIP_HASH",
};

/** The limits of the plugin's sample configuration. */
const sample: FilterLimits = {
  nameBytesMax: 128,
  accounts: {
    max: 1,
    any: false,
    accountMax: 2,
    accountReject: [programs.token],
    ownerMax: 1,
    ownerReject: [programs.system],
    dataSliceMax: 1,
    cuckooBytesMax: 256,
  },
  slots: { max: 1 },
  transactions: {
    max: 1,
    any: false,
    includeMax: 1,
    includeReject: [programs.token],
    excludeMax: 1,
    requiredMax: 1,
    cuckooBytesMax: 256,
  },
  blocks: {
    max: 1,
    includeMax: 1,
    includeAny: false,
    includeReject: [programs.token],
    includeTransactions: true,
    includeAccounts: false,
    includeEntries: false,
    cuckooBytesMax: 256,
  },
  blocksMeta: { max: 1 },
  entries: { max: 1 },
};

function refusal(request: Partial<SubscribeRequest>, limits: FilterLimits = sample): string {
  try {
    new FilterSet({ ...nothing, ...request }, limits);
    return "taken";
  } catch (error) {
    if (!(error instanceof FilterFault)) throw error;
    return error.message.slice("failed to create filter: ".length);
  }
}

const any = "Subscribe on full stream with `any` is not allowed, at least one filter required";
const [system, stake] = [programs.system, programs.stake];

test.each<[string, Partial<SubscribeRequest>, string]>([
  ["all accounts", { accounts: accounts() }, any],
  ["all transactions", { transactions: transactions() }, any],
  ["all statuses", { transactions_status: transactions() }, any],
  ["whole blocks", { blocks: blocks() }, any],
  ["two filters of a kind", { slots: { a: {}, b: {} } }, "Max amount of filters/data_slices reached, only 1 allowed"],
  [
    "two slices",
    {
      accounts_data_slice: [
        { offset: "0", length: "1" },
        { offset: "2", length: "1" },
      ],
    },
    "Max amount of filters/data_slices reached, only 1 allowed",
  ],
  [
    "too many accounts",
    { accounts: accounts({ account: [system, stake, stake] }) },
    "Max amount of Pubkeys reached, only 2 allowed",
  ],
  [
    "a rejected account",
    { accounts: accounts({ account: [programs.token] }) },
    `Pubkey ${programs.token} in filters is not allowed`,
  ],
  ["a rejected owner", { accounts: accounts({ owner: [system] }) }, `Pubkey ${system} in filters is not allowed`],
  [
    "a rejected key of a transaction",
    { transactions: transactions({ account_include: [programs.token] }) },
    `Pubkey ${programs.token} in filters is not allowed`,
  ],
  [
    "too many keys to exclude",
    { transactions: transactions({ account_exclude: [system, stake] }) },
    "Max amount of Pubkeys reached, only 1 allowed",
  ],
  [
    "accounts in blocks",
    { blocks: blocks({ account_include: [stake], include_accounts: true }) },
    "`include_accounts` is not allowed",
  ],
  [
    "a filter of accounts that says nothing",
    { accounts: accounts({ owner: [stake], filters: [{}] }) },
    "filter should be defined",
  ],
  [
    "five filters",
    {
      accounts: accounts({ owner: [stake], filters: Array.from({ length: 5 }, () => ({ token_account_state: true })) }),
    },
    "Too many filters provided; max 4",
  ],
  [
    "a memcmp without bytes",
    { accounts: accounts({ owner: [stake], filters: [{ memcmp: { offset: "0" } }] }) },
    "data for memcmp should be defined",
  ],
  [
    "a base58 that is none",
    { accounts: accounts({ owner: [stake], filters: [{ memcmp: { offset: "0", base58: "0" } }] }) },
    "invalid base58",
  ],
  [
    "a base64 that is none",
    { accounts: accounts({ owner: [stake], filters: [{ memcmp: { offset: "0", base64: "*" } }] }) },
    "invalid base64",
  ],
  [
    "too long a base58",
    { accounts: accounts({ owner: [stake], filters: [{ memcmp: { offset: "0", base58: "1".repeat(176) } }] }) },
    "data too large",
  ],
  [
    "too many bytes",
    { accounts: accounts({ owner: [stake], filters: [{ memcmp: { offset: "0", bytes: new Uint8Array(129) } }] }) },
    "data too large",
  ],
  [
    "a state that is false",
    { accounts: accounts({ owner: [stake], filters: [{ token_account_state: false }] }) },
    "token_account_state only allowed to be true",
  ],
  [
    "lamports without a comparison",
    { accounts: accounts({ owner: [stake], filters: [{ lamports: {} }] }) },
    "cmp for lamports should be defined",
  ],
  [
    "a mode that is none",
    { transactions: transactions({ vote: true, token_accounts: 5 }) },
    "invalid token_accounts mode value 5; expected ALL (0) or BALANCE_CHANGED (1)",
  ],
  ["a commitment that is none", { commitment: 7 }, "failed to create CommitmentLevel from 7"],
  ["a signature that is none", { transactions: transactions({ signature: "x" }) }, "invalid signature"],
  [
    "too large a cuckoo filter",
    { transactions: transactions({ cuckoo_account_include: { ...cuckoo, data: new Uint8Array(257) } }) },
    "Max amount of filters/data_slices reached, only 256 allowed",
  ],
  [
    "a cuckoo filter of other fingerprints",
    { accounts: accounts({ cuckoo_accounts_filter: { ...cuckoo, fingerprint_bits: 12 } }) },
    "cuckoo filter must have 4 entries per bucket and fingerprints of 16 bits",
  ],
  [
    "a cuckoo filter of another hash",
    { blocks: blocks({ cuckoo_account_include: { ...cuckoo, hash_algorithm: 7 } }) },
    "cuckoo filter with unknown hash algorithm 7",
  ],
  [
    "a cuckoo filter that is cut",
    { accounts: accounts({ cuckoo_accounts_filter: { ...cuckoo, data: new Uint8Array(8) } }) },
    "cuckoo filter must have a power of two of buckets, and the bytes of all of them",
  ],
  ["a cuckoo filter in place of a list", { transactions: transactions({ cuckoo_account_include: cuckoo }) }, "taken"],
  ["what is within all limits", { accounts: accounts({ owner: [stake] }), slots: { s: {} } }, "taken"],
])("%s: the answer is that of a node with limits", (_, request, text) => {
  expect(refusal(request)).toBe(text);
});

test("slices out of order are refused, and none is needed", () => {
  const slices = [
    { offset: "8", length: "1" },
    { offset: "2", length: "1" },
  ];
  expect(refusal({ accounts_data_slice: slices }, defaultFilterLimits)).toBe(
    // The plugin's own text begins twice in the same way.
    "failed to create filter: data slices out of order",
  );
  expect(refusal({ accounts: accounts() }, defaultFilterLimits)).toBe("taken");
});

test("a filter whose value is left away is an empty one, and a request that is cut is malformed", () => {
  // Map 2 with the key "s" and no value; then the same key with an empty value.
  const bare = Uint8Array.of(0x12, 3, 0x0a, 1, 0x73);
  const whole = Uint8Array.of(0x12, 5, 0x0a, 1, 0x73, 0x12, 0);
  expect(completeRequest(bare)).toEqual(Uint8Array.of(...bare, ...whole));
  expect(completeRequest(whole)).toBe(whole);
  expect(completeRequest(Uint8Array.of(...bare, ...whole))).toHaveLength(bare.length + whole.length);
  expect(() => completeRequest(bare.subarray(0, 4))).toThrow(MalformedBytes);
});
