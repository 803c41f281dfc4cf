import { expect, test } from "bun:test";
import fc from "fast-check";
import { additionalData, pad, readEnvelope, unpad, writeEnvelope } from "./sealed-bundle.ts";

test("padding comes off as it went on, whatever the message ends with", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 2_100 }), (bytes) => {
      const padded = pad(bytes) ?? new Uint8Array();
      expect([1_024, 2_048, 4_096]).toContain(padded.length);
      expect(unpad(padded)).toEqual(bytes);
    }),
    { numRuns: 200 },
  );
  expect(pad(new Uint8Array(8_192))).toBe(null);
  expect(unpad(new Uint8Array(1_024))).toBe(null);
});

test("arbitrary bytes are never an envelope by accident, and reading them never throws", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 1_200 }), (bytes) => {
      expect(readEnvelope(bytes)).toBe(null);
    }),
    { numRuns: 500 },
  );
});

test("an envelope reads as it was written, and one that cannot be read is not written", () => {
  const bytes = (length: number): fc.Arbitrary<Uint8Array> => fc.uint8Array({ minLength: length, maxLength: length });
  const keyId = bytes(8).map((id) => Buffer.from(id).toString("hex"));
  const ciphertext = fc.constantFrom(1_024, 2_048, 4_096, 8_192).map((size) => new Uint8Array(size + 16).fill(7));
  fc.assert(
    fc.property(fc.record({ keyId, enc: bytes(32), ciphertext }), (envelope) => {
      expect(readEnvelope(writeEnvelope(envelope))).toEqual(envelope);
    }),
    { numRuns: 100 },
  );
  const good = { keyId: "00".repeat(8), enc: new Uint8Array(32), ciphertext: new Uint8Array(1_040) };
  expect(() => writeEnvelope({ ...good, keyId: "0F".repeat(8) })).toThrow(RangeError);
  expect(() => writeEnvelope({ ...good, enc: new Uint8Array(31) })).toThrow(RangeError);
});

test("the claims are six lines, the last of them empty where no slot is named", () => {
  const claims = { network: "devnet", keyId: "ab".repeat(8), tip: 2n ** 64n - 1n, mevType: "jit" as const };
  const text = (targetSlot: bigint | null): string =>
    new TextDecoder().decode(additionalData({ ...claims, targetSlot }));
  expect(text(null)).toBe("sluice-bundle-v1\ndevnet\nabababababababab\n18446744073709551615\njit\n");
  expect(text(9n).split("\n")).toEqual([...text(null).split("\n").slice(0, 5), "9"]);
});
