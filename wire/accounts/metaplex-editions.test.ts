import { expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { ByteWriter } from "../bytes.ts";
import { addressOfBytes } from "../identifiers.ts";
import { decodeEdition, decodeTokenRecord, editionAddress, tokenRecordAddress } from "./metaplex-editions.ts";

const sha256 = (bytes: Uint8Array): Uint8Array => createHash("sha256").update(bytes).digest();
const key = new Uint8Array(32).fill(7);

test("a master edition gives its prints and how many there may be, or that there is no bound", () => {
  const bounded = new ByteWriter().u8(6).u64(3n).u8(1).u64(10n).finish(282);
  const unbounded = new ByteWriter().u8(2).u64(3n).u8(0).finish(282);
  expect(decodeEdition(bounded)).toEqual({ kind: "master", supply: 3n, maxSupply: 10n });
  expect(decodeEdition(unbounded)).toEqual({ kind: "master", supply: 3n, maxSupply: null });
});

test("a print gives its master and its number", () => {
  const print = new ByteWriter().u8(1).bytes(key).u64(12n).finish();
  expect(decodeEdition(print)).toEqual({ kind: "print", parent: addressOfBytes(key), number: 12n });
});

test("a record of a token account gives its state and who may act for its owner", () => {
  const record = new ByteWriter().u8(11).u8(254).u8(1).u8(1).u64(9n).u8(1).bytes(key).u8(1).u8(3).u8(0).finish(80);
  expect(decodeTokenRecord(record)).toEqual({ state: "locked", delegate: addressOfBytes(key) });
  const plain = new ByteWriter().u8(11).u8(254).u8(0).u8(0).u8(0).u8(0).u8(0).finish(80);
  expect(decodeTokenRecord(plain)).toEqual({ state: "unlocked", delegate: null });
});

test("bytes that are cut, of another kind, or in a state that there is not, are none", () => {
  const print = new ByteWriter().u8(1).bytes(key).u64(12n).finish();
  const master = new ByteWriter().u8(6).u64(3n).u8(1).u64(10n).finish();
  for (const whole of [print, master]) {
    for (let length = 0; length < whole.length; length += 1)
      expect(decodeEdition(whole.subarray(0, length))).toBeNull();
  }
  expect(decodeEdition(Uint8Array.of(4, ...print.subarray(1)))).toBeNull();
  expect(decodeTokenRecord(Uint8Array.of(11, 254, 3, 0, 0))).toBeNull();
  expect(decodeTokenRecord(Uint8Array.of(11, 254, 0))).toBeNull();
  expect(decodeTokenRecord(print)).toBeNull();
});

test("addresses are derived of mints and token accounts alone", () => {
  const mint = addressOfBytes(key);
  expect(editionAddress(mint, sha256)).not.toBe(tokenRecordAddress(mint, mint, sha256));
  expect([editionAddress("nothing", sha256), tokenRecordAddress(mint, "nothing", sha256)]).toEqual([null, null]);
});
