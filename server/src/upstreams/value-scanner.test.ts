import { expect, test } from "bun:test";
import fc from "fast-check";
import { ValueScanner } from "./value-scanner.ts";

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

/** Feeds pieces of these lengths, the rest at last; gives the place of the end in the whole. */
function endIn(bytes: Uint8Array, lengths: readonly number[]): number | null {
  const scanner = new ValueScanner();
  let start = 0;
  for (const length of [...lengths, bytes.length]) {
    const end = scanner.feed(bytes.subarray(start, start + length));
    if (end === null) return null;
    if (end >= 0) return start + end;
    start += length;
  }
  return -1;
}

const escapes = fc
  .array(fc.constantFrom("\\\\", '\\"', "\\n", "a", "é😀", "]", "}", " ".repeat(40), "x".repeat(40)), { maxLength: 12 })
  .map((parts) => `"${parts.join("")}"`);
const values = fc.oneof(
  fc.json({ stringUnit: "binary" }).filter((text) => /^[[{"]/.test(text)),
  fc.array(escapes).map((texts) => `[${texts.join(",")}]`),
  escapes,
);

test("the end of a value is found wherever its bytes are cut", () => {
  fc.assert(
    fc.property(
      values,
      fc.constantFrom("", "}", ',"id":1}', '"', "]"),
      fc.array(fc.nat({ max: 60 })),
      (value, after, lengths) => {
        const bytes = bytesOf(value + after);
        expect(endIn(bytes, lengths)).toBe(bytesOf(value).length);
        expect(
          endIn(
            bytes,
            Array.from(bytes, () => 1),
          ),
        ).toBe(bytesOf(value).length);
      },
    ),
    { numRuns: 400, seed: 7 },
  );
});

test("a value that is not whole has no end", () => {
  fc.assert(
    fc.property(values, fc.nat(), fc.array(fc.nat({ max: 60 })), (value, cut, lengths) => {
      const bytes = bytesOf(value);
      expect(endIn(bytes.subarray(0, cut % bytes.length), lengths)).toBe(-1);
    }),
    { numRuns: 300, seed: 8 },
  );
});

test("brackets that do not match, and more of them than a node nests, are no value", () => {
  for (const text of ["[}", '{"a":[1}', "]", "[".repeat(129)])
    expect([text, endIn(bytesOf(text), [1])]).toEqual([text, null]);
  expect(endIn(bytesOf("[".repeat(128) + "]".repeat(128)), [7])).toBe(256);
});
