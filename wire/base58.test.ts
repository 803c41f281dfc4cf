import { describe, expect, test } from "bun:test";
import { getBase58Codec } from "@solana/kit";
import fc from "fast-check";
import { decodeAddress, decodeBase58, decodeSignature, encodeBase58, maxBase58Bytes } from "./base58.ts";

const kit = getBase58Codec();

/** Random bytes with runs of zeros and 255 at both ends, where carries and leading zeros go wrong. */
const bytesOf = (length: number): fc.Arbitrary<Uint8Array> =>
  fc
    .tuple(fc.uint8Array({ minLength: length, maxLength: length }), fc.nat(length), fc.nat(length), fc.boolean())
    .map(([bytes, head, tail, ones]) => {
      const shaped = bytes.slice();
      if (tail < length / 2) shaped.fill(255, length - tail);
      return shaped.fill(ones ? 255 : 0, 0, head);
    });
const anyBytes = fc.oneof(bytesOf(32), bytesOf(64), fc.nat(150).chain(bytesOf));

describe("base58", () => {
  test("encodes any bytes to the text that kit gives, and back", () => {
    fc.assert(
      fc.property(anyBytes, (bytes) => {
        const text = encodeBase58(bytes);
        expect(text).toBe(kit.decode(bytes));
        expect(decodeBase58(text)).toEqual(bytes);
        expect(decodeAddress(text)).toEqual(bytes.length === 32 ? bytes : null);
        expect(decodeSignature(text)).toEqual(bytes.length === 64 ? bytes : null);
      }),
      { seed: 20261120, numRuns: 500 },
    );
  });

  test("encodes the largest, the smallest and the first value of each short length as kit does", () => {
    for (let length = 0; length <= 140; length++) {
      const largest = new Uint8Array(length).fill(255);
      const first = new Uint8Array(length).fill(1, 0, 1);
      for (const bytes of [largest, first, new Uint8Array(length)]) expect(encodeBase58(bytes)).toBe(kit.decode(bytes));
    }
  });

  test("decodes text of the alphabet to the bytes that kit gives, whatever its length", () => {
    const alphabet = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
    const text = fc.string({ unit: fc.constantFrom(...alphabet), maxLength: 120 });
    fc.assert(
      fc.property(text, (value) => {
        const expected = new Uint8Array(kit.encode(value));
        expect(decodeBase58(value)).toEqual(expected);
        expect(decodeAddress(value)).toEqual(expected.length === 32 ? expected : null);
        expect(decodeSignature(value)).toEqual(expected.length === 64 ? expected : null);
      }),
      { seed: 20261120, numRuns: 500 },
    );
  });

  test("refuses text with a character outside of the alphabet", () => {
    const address = "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA";
    for (const bad of ["0", "O", "I", "l", " ", "é", "\u{1f600}", "\0", "ā"]) {
      for (const at of [0, 20, address.length - 1]) {
        const text = address.slice(0, at) + bad + address.slice(at + 1);
        expect(decodeBase58(text)).toBeNull();
        expect(decodeAddress(text)).toBeNull();
      }
    }
  });

  test("takes the largest key and refuses the number after it", () => {
    const largest = encodeBase58(new Uint8Array(32).fill(255));
    expect(decodeAddress(largest)).toEqual(new Uint8Array(32).fill(255));
    expect(decodeAddress(`${largest.slice(0, -1)}H`)).toBeNull();
    expect(decodeAddress("z".repeat(44))).toBeNull();
    expect(decodeSignature("z".repeat(88))).toBeNull();
  });

  test("counts leading ones as zero bytes, so that a key has one text only", () => {
    expect(decodeAddress("1".repeat(32))).toEqual(new Uint8Array(32));
    expect(decodeAddress("1".repeat(31))).toBeNull();
    expect(decodeAddress("1".repeat(33))).toBeNull();
    expect(decodeAddress(`1${"2".repeat(32)}`)).toBeNull();
  });

  test("encodes what is longer than a transaction to the text that kit gives, up to its bound", () => {
    const long = fc.integer({ min: 400, max: 3_000 }).chain(bytesOf);
    fc.assert(
      fc.property(long, (bytes) => {
        expect(encodeBase58(bytes)).toBe(kit.decode(bytes));
      }),
      { seed: 20261120, numRuns: 25 },
    );
    for (const length of [maxBase58Bytes - 1, maxBase58Bytes]) {
      for (const fill of [0, 1, 255]) {
        const bytes = new Uint8Array(length).fill(fill);
        expect(decodeBase58(encodeBase58(bytes), maxBase58Bytes)).toEqual(bytes);
      }
    }
  });

  test("refuses text beyond the bound before it does quadratic work", () => {
    expect(decodeBase58("2".repeat(10_000_000))).toBeNull();
    expect(decodeBase58(encodeBase58(new Uint8Array(1232).fill(255)))).toHaveLength(1232);
    expect(decodeBase58(encodeBase58(new Uint8Array(1233).fill(255)))).toBeNull();
    expect(decodeBase58("11111", 4)).toBeNull();
    expect(() => encodeBase58(new Uint8Array(maxBase58Bytes + 1))).toThrow(RangeError);
  });
});
