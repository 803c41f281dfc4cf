import { expect, test } from "bun:test";
import fc from "fast-check";
import { priced } from "../testing/rounds.ts";
import { type Decimal, formatDecimal, parseDecimal } from "./decimal.ts";
import { jsonText, WrittenJson } from "./json.ts";
import { Quotation } from "./quotation.ts";

/** The characters after `"name":` up to the next separator: the number as a client finds it on the wire. */
const numberIn = (text: string, name: string): string => /^[^,}\]]*/.exec(text.split(`"${name}":`)[1] ?? "")?.[0] ?? "";

test("no price goes through a double: every digit of any decimal stands on the wire, in every form of a record", () => {
  const property = fc.property(fc.bigInt(1n, 10n ** 40n), (value) => {
    const price = value as Decimal;
    const quotation = new Quotation({ ...priced({ atMs: 0, price: "1" }), price, volume24h: price, high24h: price }, 0);
    for (const text of [quotation.record, quotation.pair, quotation.update]) {
      expect(numberIn(text, "price")).toBe(formatDecimal(price));
      expect(parseDecimal(numberIn(text, "price"))).toBe(price);
      JSON.parse(text);
    }
    expect(numberIn(quotation.record, "volume24h")).toBe(formatDecimal(price));
    expect(numberIn(quotation.pair, "volume_24h")).toBe(formatDecimal(price));
    expect(numberIn(quotation.update, "high24h")).toBe(formatDecimal(price));
  });
  fc.assert(property, { numRuns: 500, seed: 1 });
});

test("prices that doubles cannot hold are written as they are", () => {
  for (const text of ["0.000000123456789012", "123456789012.123456789", "0.1", "9007199254740993", "65000"]) {
    const { record, pair } = new Quotation(priced({ atMs: 0, price: text }), 0);
    expect(numberIn(record, "price")).toBe(text);
    expect(numberIn(pair, "price")).toBe(text);
  }
});

test("what is no number of JSON becomes null, text is escaped, written JSON is taken as it is", () => {
  expect(jsonText({ a: Number.NaN, b: Number.POSITIVE_INFINITY, c: 1.5, d: null, e: true })).toBe(
    '{"a":null,"b":null,"c":1.5,"d":null,"e":true}',
  );
  const hostile = 'a"b\\c\u2028\n</script>';
  expect(JSON.parse(jsonText({ [hostile]: [hostile] }))).toEqual({ [hostile]: [hostile] });
  expect(jsonText([new WrittenJson('{"x":1.000000000000000001}')])).toBe('[{"x":1.000000000000000001}]');
});
