import { expect, test } from "bun:test";
import fc from "fast-check";
import { type ChainValue, memberOf, parseChainJson } from "./integers.ts";

/** What the same text means when each number is looked at by itself. */
function reference(text: string): unknown {
  const revive = (_name: string, value: unknown, context?: { readonly source?: string }): unknown =>
    typeof value === "number" && /^-?[0-9]+$/.test(context?.source ?? "") ? BigInt(context?.source ?? "") : value;
  return JSON.parse(text, revive as (name: string, value: unknown) => unknown);
}

const numberText = fc.oneof(
  fc.integer().map(String),
  fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }).map(String),
  fc.constantFrom(
    "0",
    "-0",
    "18446744073709551615",
    "9007199254740993",
    "999999999999999",
    "1e3",
    "1.0",
    "-2.5E-3",
    "0.1",
  ),
);
const stringText = fc
  .oneof(fc.string(), fc.constantFrom("1.5", ": 1.5", ",1234567890123456789", "[3e5", "\\u2028", "__proto__", '"'))
  .map((text) => JSON.stringify(text));
const space = fc.constantFrom("", " ", "\n", "\t ");

const valueText: fc.Arbitrary<string> = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.oneof(numberText, stringText, fc.constantFrom("true", "false", "null")),
    fc
      .tuple(fc.array(tie("value"), { maxLength: 5 }), space)
      .map(([each, gap]) => `[${gap}${each.join(`${gap},${gap}`)}]`),
    fc
      .tuple(fc.array(fc.tuple(stringText, tie("value")), { maxLength: 5 }), space)
      .map(([each, gap]) => `{${each.map(([name, value]) => `${name}${gap}:${gap}${value}`).join(`,${gap}`)}}`),
  ),
})).value;

const same = (one: unknown, other: unknown): boolean => Bun.deepEquals(one, other, true);

test("a node's JSON is what each of its numbers says, whole ones as bigint to the last digit, whatever stands beside them", () => {
  fc.assert(
    fc.property(valueText, (text) => {
      const found: ChainValue = parseChainJson(text);
      if (!same(found, reference(text))) throw new Error(text);
    }),
    { numRuns: 3_000 },
  );
});

test("text that is no JSON is refused, with large numbers and without", () => {
  for (const text of [
    "",
    "{",
    "[1,]",
    "[18446744073709551615,]",
    "01",
    "{'a':1}",
    '{"a":12345678901234567890',
    "1.",
    "-",
  ]) {
    expect(() => parseChainJson(text)).toThrow(SyntaxError);
  }
});

test("only an object has members: no text, list or null", () => {
  expect(memberOf({ length: 5n, none: null }, "length")).toBe(5n);
  expect(memberOf({ none: null }, "none")).toBeNull();
  const others: readonly (readonly [ChainValue | undefined, string])[] = [
    [{}, "a"],
    ["text", "length"],
    [[1n], "0"],
    [[1n], "length"],
    [null, "a"],
    [undefined, "a"],
  ];
  expect(others.map(([value, name]) => memberOf(value, name))).toEqual(others.map(() => undefined));
});
