import { expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { getAddressDecoder, getProgramDerivedAddress, isOffCurveAddress, address as kitAddress } from "@solana/kit";
import fc from "fast-check";
import { decodeAddress } from "./base58.ts";
import { addressOfBytes } from "./identifiers.ts";
import { findProgramAddress, isOnCurve, programAddress } from "./program-address.ts";
import { programs } from "./programs.ts";

const sha256 = (bytes: Uint8Array): Uint8Array => new Uint8Array(createHash("sha256").update(bytes).digest());
const bytesOf = (text: string): Uint8Array => decodeAddress(text) ?? new Uint8Array();
const decoder = getAddressDecoder();
const prime = 2n ** 255n - 19n;
const littleEndian = (value: bigint): Uint8Array =>
  Uint8Array.from({ length: 32 }, (_, at) => Number((value >> BigInt(8 * at)) & 0xffn));

test("a derived address and its bump are those of kit for any seeds and program", async () => {
  const seed = fc.uint8Array({ maxLength: 32 });
  await fc.assert(
    fc.asyncProperty(
      fc.array(seed, { maxLength: 15 }),
      fc.uint8Array({ minLength: 32, maxLength: 32 }),
      async (s, p) => {
        const [address, bump] = await getProgramDerivedAddress({ programAddress: decoder.decode(p), seeds: s });
        const found = findProgramAddress(s, p, sha256);
        expect(found).not.toBeNull();
        expect(found?.bump).toBe(bump);
        expect(addressOfBytes(found?.bytes ?? new Uint8Array())).toBe(address as string as never);
      },
    ),
    { numRuns: 100 },
  );
});

test("an associated token account is derived as the program does", async () => {
  const [owner, mint] = [bytesOf("86xCnPeV69n6t3DnyGvkKobf9FdN2H9oiVDdaMpo2MMY"), bytesOf(programs.nameService)];
  const seeds = [owner, bytesOf(programs.token), mint];
  const [expected] = await getProgramDerivedAddress({ programAddress: kitAddress(programs.associatedToken), seeds });
  expect(programAddress(seeds, bytesOf(programs.associatedToken), sha256) as string).toBe(expected);
});

test("points are told from other bytes as kit tells them", () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (bytes) => {
      expect(isOnCurve(bytes)).toBe(!isOffCurveAddress(decoder.decode(bytes)));
    }),
    { numRuns: 300 },
  );
});

test("coordinates at the edges of the field are judged like their values modulo the prime", () => {
  for (let small = 0n; small < 19n; small++) {
    expect(isOnCurve(littleEndian(prime + small))).toBe(isOnCurve(littleEndian(small)));
    expect(isOnCurve(littleEndian(prime - small))).toBe(isOnCurve(littleEndian(small)));
    expect(isOnCurve(littleEndian(small | (1n << 255n)))).toBe(isOnCurve(littleEndian(small)));
  }
  expect(isOnCurve(littleEndian(0n))).toBe(true);
  expect(isOnCurve(littleEndian(1n))).toBe(true);
  expect(isOnCurve(littleEndian(2n))).toBe(false);
  expect(isOnCurve(new Uint8Array(31))).toBe(false);
});

test("seeds beyond the runtime's bounds are refused", () => {
  const program = new Uint8Array(32);
  expect(() => findProgramAddress([new Uint8Array(33)], program, sha256)).toThrow(RangeError);
  expect(() => findProgramAddress(Array(16).fill(new Uint8Array(1)), program, sha256)).toThrow(RangeError);
  expect(() => findProgramAddress([], new Uint8Array(31), sha256)).toThrow(RangeError);
});
