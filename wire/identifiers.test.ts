import { expect, test } from "bun:test";
import {
  addressOfBytes,
  isAddress,
  isSignature,
  maxU64,
  parseAddress,
  parseLamports,
  parseSignature,
  parseSlot,
  parseU64,
  signatureOfBytes,
} from "./identifiers.ts";

const address = "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA";
const signature = "1".repeat(64);

test("an address is text of exactly 32 bytes and a signature of exactly 64", () => {
  expect(parseAddress(address)).toBe(
    addressOfBytes(Uint8Array.fromHex("06ddf6e1d765a193d9cbe146ceeb79ac1cb485ed5f5b37913a8cf5857eff00a9")),
  );
  expect(parseSignature(signature)).toBe(signatureOfBytes(new Uint8Array(64)));
  expect(isAddress(signature)).toBe(false);
  expect(isSignature(address)).toBe(false);
  for (const other of [null, undefined, 1, {}, [address], "", `${address} `]) {
    expect(parseAddress(other)).toBeNull();
    expect(parseSignature(other)).toBeNull();
  }
  expect(() => addressOfBytes(new Uint8Array(31))).toThrow(RangeError);
  expect(() => signatureOfBytes(new Uint8Array(65))).toThrow(RangeError);
});

test("a u64 is read exactly or not at all", () => {
  expect(parseU64("18446744073709551615")).toBe(maxU64);
  expect(parseU64(maxU64)).toBe(maxU64);
  expect(parseU64(9007199254740991)).toBe(9007199254740991n);
  expect(parseU64("0")).toBe(0n);
  const refused = [
    "18446744073709551616",
    maxU64 + 1n,
    -1n,
    -1,
    1.5,
    2 ** 53,
    Number.NaN,
    "",
    "01",
    "+1",
    "-1",
    "1e3",
    " 1",
    "0x1",
    "1".repeat(1000),
    null,
    true,
  ];
  for (const value of refused) expect(parseU64(value)).toBeNull();
  expect(parseSlot("341197053") as bigint | null).toBe(341197053n);
  expect(parseSlot(-1)).toBeNull();
  expect(parseLamports(5000n) as bigint | null).toBe(5000n);
  expect(parseLamports("5000.0")).toBeNull();
});
