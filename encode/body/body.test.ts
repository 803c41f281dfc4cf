import { expect, test } from "bun:test";
import { decodeSignature } from "@sluice/wire/base58";
import { MalformedBytes } from "@sluice/wire/bytes";
import { stringifyJsonExact } from "@sluice/wire/json";
import fc from "fast-check";
import { encodeBlock } from "../block.ts";
import type { ConfirmedBlock } from "../model.ts";
import { readFixtures } from "../testing/fixtures.ts";
import { rebuildTransaction } from "../testing/rebuild-transaction.ts";
import { readBlockHead } from "./head.ts";
import { orderedBody } from "./ordered.ts";
import { packBlock, packTransaction } from "./pack.ts";
import { BackwardWriter, FieldReader } from "./protobuf.ts";
import { readBlock } from "./read-block.ts";
import { readJson } from "./read-json.ts";
import { arbitraryBlock } from "./testing/arbitrary-block.ts";
import { unpackBlock, unpackTransaction } from "./unpack.ts";
import { unpackOnce } from "./unpack-once.ts";

const encodings = ["json", "jsonParsed", "base58", "base64"] as const;

function answer(block: ConfirmedBlock, encoding: (typeof encodings)[number] = "base64"): string {
  const encoded = encodeBlock(block, {
    encoding,
    transactionDetails: "full",
    rewards: true,
    maxSupportedTransactionVersion: 1,
  });
  if (!encoded.ok) throw new Error(`version ${encoded.version} was refused`);
  return stringifyJsonExact(encoded.value);
}

test("a block is the same after packing, and its answer the same after reading", () => {
  fc.assert(
    fc.property(arbitraryBlock, (block) => {
      expect(unpackBlock(packBlock(block))).toEqual(block);
      const each = block.transactions.map((transaction, index) => packTransaction(transaction, index));
      expect(each.map(unpackTransaction)).toEqual([...block.transactions]);
      expect(readBlock(block.slot, readJson(answer(block)))).toEqual(block);
    }),
    { numRuns: 300, seed: 20_261_124 },
  );
});

test("real transactions of the cluster are the same in every encoding after the way through the log", () => {
  const transactions = readFixtures().map(({ result }) => rebuildTransaction(result).executed);
  const block: ConfirmedBlock = {
    slot: 300_000_000n,
    parentSlot: 299_999_999n,
    blockhash: "4sGjMW1sUnHzSxGspuhpqLDx6wiyjNtZAMdL4VZHirAn",
    previousBlockhash: "11111111111111111111111111111111",
    blockTime: 1_726_647_738n,
    blockHeight: null,
    transactions,
    rewards: [],
  };
  const read = readBlock(block.slot, readJson(answer(block)));
  const unpacked = unpackBlock(packBlock(read));
  expect(unpacked).toEqual(read);
  for (const encoding of encodings) expect(answer(unpacked, encoding)).toBe(answer(block, encoding));
});

test("fields that are not known are skipped, whatever their kind", () => {
  const unknown = [
    [0xa0, 0x06, 7],
    [0xa5, 0x06, 0, 0, 0, 0],
    [0xa1, 0x06, 0, 0, 0, 0, 0, 0, 0, 0],
    [0xa2, 0x06, 2, 1, 1],
  ];
  expect(unpackBlock(Uint8Array.from([...unknown, [8, 5], ...unknown].flat())).slot).toBe(5n);
  expect(() => unpackBlock(Uint8Array.of(0xa3, 0x06))).toThrow(MalformedBytes);
});

test("a list of numbers is read packed and one by one", () => {
  const reader = new FieldReader(Uint8Array.of(0x1a, 3, 1, 0x80, 1, 0x18, 9));
  const values: bigint[] = [];
  while (reader.next() !== 0) reader.appendU64(values);
  expect(values).toEqual([1n, 128n, 9n]);
});

test("every cut of a packed block is malformed or a shorter block, and never hangs", () => {
  const [block] = fc.sample(arbitraryBlock, { numRuns: 1, seed: 7 });
  if (block === undefined) throw new Error("no block");
  const packed = packBlock(block);
  for (let length = 0; length < packed.length; length++) {
    try {
      expect(unpackBlock(packed.subarray(0, length)).transactions.length).toBeLessThanOrEqual(
        block.transactions.length,
      );
    } catch (error) {
      expect(error).toBeInstanceOf(MalformedBytes);
    }
  }
});

test("a JSON answer keeps integers that no double holds", () => {
  expect(readJson('{"a":18446744073709551615,"b":[-9223372036854775808]}')).toEqual({
    a: 18_446_744_073_709_551_615n,
    b: [-9_223_372_036_854_775_808n],
  });
  expect(readJson('{"a":9007199254740991,"b":"123456789012345678"}')).toEqual({
    a: 9_007_199_254_740_991,
    b: "123456789012345678",
  });
  expect(() => readJson("{")).toThrow(MalformedBytes);
});

test("the head of a body is that of its block, and its hash is over the list of first signatures", () => {
  fc.assert(
    fc.property(arbitraryBlock, (block) => {
      const { transactionCount, executedTransactionCount, signatureHash, ...head } = readBlockHead(packBlock(block));
      const { transactions, rewards: _, rewardPartitions: __, ...expected } = block;
      expect(head).toEqual(expected);
      expect([BigInt(transactionCount), executedTransactionCount]).toEqual(
        [transactions.length, transactions.length].map(BigInt),
      );
      const hash = new Bun.CryptoHasher("sha256");
      for (const { signature } of transactions) hash.update(decodeSignature(signature) ?? "");
      expect(signatureHash).toEqual(new Uint8Array(hash.digest()));
    }),
    { numRuns: 100, seed: 20_261_127 },
  );
});

test("a body is unpacked once, another array with the same bytes is a body of its own", () => {
  const [block] = fc.sample(arbitraryBlock, { numRuns: 1, seed: 11 });
  if (block === undefined) throw new Error("no block");
  const body = packBlock(block);
  expect(unpackOnce(body)).toEqual(block);
  expect(unpackOnce(body)).toBe(unpackOnce(body));
  expect(unpackOnce(body.slice())).not.toBe(unpackOnce(body));
  expect(() => unpackOnce(Uint8Array.of(0xa3, 0x06))).toThrow(MalformedBytes);
  // Bodies are held for minutes, blocks for as long as followers are near.
  const known = unpackOnce(body);
  const later = Array.from({ length: 15 }, () => body.slice());
  for (const each of later.slice(1)) unpackOnce(each);
  expect(unpackOnce(body)).toBe(known);
  unpackOnce(later[0] ?? body);
  expect(unpackOnce(body)).not.toBe(known);
});

test("transactions of a body that came in another order are put into their places, and a missing one is seen", () => {
  const [block] = fc
    .sample(arbitraryBlock, { numRuns: 40, seed: 5 })
    .filter(({ transactions }) => transactions.length > 2);
  if (block === undefined) throw new Error("no block");
  const body = packBlock(block);
  expect(orderedBody(body)).toBe(body);
  const head = packBlock({ ...block, transactions: [] });
  const infos = block.transactions.map((transaction, index) => {
    const info = packTransaction(transaction, index);
    const prefix = new BackwardWriter(info.length + 8);
    prefix.explicitBytes(6, info);
    return prefix.finish();
  });
  const shuffled = new Uint8Array(Buffer.concat([...infos.toReversed(), head]));
  expect(unpackBlock(orderedBody(shuffled))).toEqual(block);
  const torn = new Uint8Array(Buffer.concat([...infos.slice(1), head]));
  expect(() => orderedBody(torn)).toThrow(MalformedBytes);
});
