import { expect, test } from "bun:test";
import { readRowLine, rowLine } from "./row-text.ts";

test("a row is read as it was written: text, integers beyond a double, bytes and null", () => {
  const row = { id: "a", big: 9_007_199_254_740_993n, low: -1n, bytes: Uint8Array.of(0, 255), none: null };
  expect(readRowLine(rowLine("api_keys", row))).toEqual({ table: "api_keys", row });
});

test.each([
  ["no JSON", "{"],
  ["null", "null"],
  ["a number", "5"],
  ["a text", '"x"'],
  ["a list", "[]"],
  ["no table", '{"row":{}}'],
  ["a table of no plain name", '{"table":"a b","row":{}}'],
  ["no row", '{"table":"a"}'],
  ["a row that is a list", '{"table":"a","row":["x"]}'],
  ["a row that is null", '{"table":"a","row":null}'],
  ["a column of no plain name", '{"table":"a","row":{"A":"x"}}'],
  ["a number as a value", '{"table":"a","row":{"b":5}}'],
  ["an integer with a leading zero", '{"table":"a","row":{"b":{"int":"01"}}}'],
  ["a list as a value", '{"table":"a","row":{"b":[]}}'],
])("a line that is %s is damaged", (_what, line) => {
  expect(() => readRowLine(line)).toThrow(expect.objectContaining({ code: "CORRUPT" }));
});
