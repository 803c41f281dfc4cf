import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { canonicalJson, type JsonValue, parseJsonExact, stringifyJsonExact } from "./values.ts";

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

function exactOf(source: string | Uint8Array): JsonValue {
  const parsed = parseJsonExact(source);
  if (!parsed.ok) throw new Error(`refused at ${parsed.offset}`);
  return parsed.value;
}

/** Random documents whose leaves include whole u64s as bigint when they are beyond 2^53-1. */
const u64 = fc.bigInt({ min: -(2n ** 64n), max: 2n ** 64n - 1n });
const leaf = fc.oneof(
  fc.constantFrom<JsonValue>(null, true, false, 18446744073709551615n, 9007199254740993n, "", "__proto__", "1"),
  u64.map((value): JsonValue => (value > 9007199254740991n || value < -9007199254740991n ? value : Number(value))),
  fc
    .double({ noNaN: true, noDefaultInfinity: true })
    .filter((value) => Math.abs(value) < 1e15 || !Number.isInteger(value)),
  fc.string({ unit: "binary" }),
);
const documents: fc.Arbitrary<JsonValue> = fc.letrec<{ node: JsonValue }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 5, withCrossShrink: true },
    leaf,
    fc.array(tie("node"), { maxLength: 6 }),
    fc.dictionary(
      fc.oneof(fc.string(), fc.constantFrom("a", "b", "__proto__", "constructor", "2", "10")),
      tie("node"),
      { maxKeys: 6 },
    ),
  ),
})).node;

describe("parseJsonExact and stringifyJsonExact", () => {
  test("a document comes back as it was, u64 included", () => {
    fc.assert(
      fc.property(documents, (document) => {
        const text = stringifyJsonExact(document);
        expect(stringifyJsonExact(exactOf(text))).toBe(text);
        expect(exactOf(utf8(text.toWellFormed()))).toEqual(exactOf(text.toWellFormed()));
      }),
      { seed: 20261120, numRuns: 400 },
    );
  });

  test("without large integers it gives what JSON.parse gives", () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 5 }), (text) => {
        fc.pre(!/[0-9]{16}/.test(text));
        expect(exactOf(text)).toEqual(JSON.parse(text));
      }),
      { seed: 20261120, numRuns: 400 },
    );
  });

  test("integers beyond 2^53-1 become bigint with every digit, everything else a number", () => {
    expect(exactOf("18446744073709551615")).toBe(18446744073709551615n);
    expect(exactOf("9007199254740993")).toBe(9007199254740993n);
    expect(exactOf("9007199254740992")).toBe(9007199254740992n);
    expect(exactOf("-9007199254740993")).toBe(-9007199254740993n);
    expect(exactOf("9007199254740991")).toBe(9007199254740991);
    expect(exactOf("-9007199254740991")).toBe(-9007199254740991);
    expect(exactOf("0.1")).toBe(0.1);
    expect(exactOf("1e3")).toBe(1000);
    expect(exactOf("123456789012345678.5")).toBe(Number("123456789012345678.5"));
    expect(Object.is(exactOf("-0"), -0)).toBe(true);
  });

  test("integers are never written with an exponent", () => {
    expect(stringifyJsonExact(1e21)).toBe("1000000000000000000000");
    expect(stringifyJsonExact(-1e22)).toBe("-10000000000000000000000");
    expect(stringifyJsonExact([2n ** 64n - 1n, 1e20, -0, 1e-7])).toBe(
      "[18446744073709551615,100000000000000000000,-0,1e-7]",
    );
  });

  test("__proto__ is a member and not a prototype", () => {
    const value = exactOf('{"__proto__":{"admin":true}}');
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(Object.keys(value ?? {})).toEqual(["__proto__"]);
    expect(stringifyJsonExact(value)).toBe('{"__proto__":{"admin":true}}');
  });

  test("what no double holds, what is too deep and what is not UTF-8 is refused", () => {
    expect(parseJsonExact("[1e400]")).toEqual({ ok: false, offset: 1 });
    expect(parseJsonExact("9".repeat(5000)).ok).toBe(false);
    expect(parseJsonExact("[".repeat(128) + "]".repeat(128)).ok).toBe(true);
    expect(parseJsonExact("[".repeat(129) + "]".repeat(129)).ok).toBe(false);
    expect(parseJsonExact("[".repeat(1_000_000)).ok).toBe(false);
    expect(parseJsonExact(Uint8Array.of(0x22, 0xff, 0x22)).ok).toBe(false);
    expect(parseJsonExact(utf8("\ufeff1")).ok).toBe(false);
  });

  test("stringify refuses what JSON cannot hold, and a cycle", () => {
    const cycle: JsonValue[] = [];
    cycle.push(cycle);
    expect(() => stringifyJsonExact(cycle)).toThrow(RangeError);
    for (const value of [Number.NaN, Number.POSITIVE_INFINITY])
      expect(() => stringifyJsonExact(value)).toThrow(TypeError);
    expect(stringifyJsonExact({ a: undefined, b: 1 })).toBe('{"b":1}');
  });
});

describe("canonicalJson", () => {
  test("does not depend on the order of keys, white space or escapes", () => {
    const one = canonicalJson(utf8('{"b":[1,{"y":2,"x":3}],"a":"\\u00e9\\/"}'));
    expect(canonicalJson(utf8('\n{ "a" : "é/" , "b" : [ 1 , { "x" : 3 , "y" : 2 } ] }'))).toBe(one);
    expect(one).toBe('{"a":"é/","b":[1,{"x":3,"y":2}]}');
  });

  test("keeps the text of numbers and the order of arrays", () => {
    const text = "[18446744073709551615,9007199254740993,1,1.0,1e0,-0,0.10]";
    expect(canonicalJson(utf8(text))).toBe(text);
    expect(canonicalJson(utf8("[2,1]"))).not.toBe(canonicalJson(utf8("[1,2]")));
  });

  test("has no answer for a key that comes twice, and none for what is no JSON", () => {
    for (const text of [
      '{"a":1,"a":2}',
      '{"a":1,"\\u0061":1}',
      '{"__proto__":1,"__proto__":2}',
      "{",
      "",
      "[1,]",
      "01",
    ]) {
      expect(canonicalJson(utf8(text))).toBeNull();
    }
  });

  test("is the same for a value and for its text with shuffled keys, and idempotent", () => {
    const shuffled = (value: JsonValue): JsonValue => {
      if (Array.isArray(value)) return value.map(shuffled);
      if (typeof value !== "object" || value === null) return value;
      return Object.fromEntries(
        Object.entries(value)
          .reverse()
          .map(([key, member]) => [key, shuffled(member ?? null)]),
      );
    };
    fc.assert(
      fc.property(documents, (document) => {
        const canonical = canonicalJson(document);
        expect(canonicalJson(utf8(stringifyJsonExact(shuffled(document))))).toBe(canonical);
        expect(canonicalJson(utf8(canonical))).toBe(canonical);
      }),
      { seed: 20261120, numRuns: 300 },
    );
  });
});
