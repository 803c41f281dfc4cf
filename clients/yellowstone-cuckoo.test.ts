import { expect, test } from "bun:test";
import { defaultFilterLimits, type FilteredTransaction, FilterSet } from "@sluice/geyser";
import { seededRandom } from "@sluice/lib";
import { encodeBase58 } from "@sluice/wire/base58";
import { CompressedAccountFilterSet } from "@triton-one/yellowstone-grpc";

const nothing = {
  accounts: {},
  slots: {},
  transactions: {},
  transactions_status: {},
  blocks: {},
  blocks_meta: {},
  entry: {},
  accounts_data_slice: [],
};
const packed = new Uint8Array(0);

const touching = (address: string): FilteredTransaction => ({
  ...{ signature: "", isVote: false, failed: false, preTokenBalances: [], postTokenBalances: [] },
  ...{ keys: new Set([address]), packed, asTransaction: [], asStatus: [] },
});

test("a cuckoo filter that the client has made takes every address in it, and of others as few as it does itself", () => {
  const random = seededRandom(7);
  const address = (): string => encodeBase58(random.bytes(32));
  const inside = Array.from({ length: 450 }, address);
  const theirs = new CompressedAccountFilterSet(450);
  for (const each of inside) theirs.insert(each);
  const proto = theirs.toProto();
  const cuckoo = {
    data: new Uint8Array(proto.data),
    bucket_count: proto.bucketCount,
    entries_per_bucket: proto.entriesPerBucket,
    fingerprint_bits: proto.fingerprintBits,
    hash_seed: proto.hashSeed,
    hash_algorithm: "SIP_HASH",
  };
  const lists = { account_include: [], account_exclude: [], account_required: [] };
  const filters = new FilterSet(
    { ...nothing, transactions: { t: { ...lists, cuckoo_account_include: cuckoo } } },
    defaultFilterLimits,
  );
  const takes = (each: string): boolean => [...filters.matched([touching(each)])].length === 1;
  expect(inside.filter((each) => !takes(each))).toEqual([]);
  expect(Array.from({ length: 5_000 }, address).filter(takes).length).toBeLessThan(10);
});
