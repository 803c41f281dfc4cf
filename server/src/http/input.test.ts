import { expect, test } from "bun:test";
import { SluiceError } from "@sluice/contract/errors";
import * as schemas from "@sluice/contract/schemas";
import { type InputSchema, parseInput } from "./input.ts";

function faultsOf(schema: InputSchema<unknown>, value: unknown): unknown {
  try {
    parseInput(schema, value);
    return [];
  } catch (error) {
    if (!(error instanceof SluiceError)) throw error;
    return error.details["errors"];
  }
}

test("a fault says what is expected and what was sent, in no words of a library", () => {
  const wish = {
    account_id: "",
    environment: "zz",
    enhanced: null,
    requests_per_second: 0.5,
    enhanced_requests_per_second: 0,
    restrictions: { networks: "devnet", domains: Array.from({ length: 2_000 }, () => "a.example") },
  };
  expect(faultsOf(schemas.adminKeyCreate, wish)).toEqual([
    { path: "account_id", message: "must be a string of at least 1 character, not 0" },
    { path: "name", message: "is missing; it must be a string" },
    { path: "environment", message: 'must be one of live, dev, not "zz"' },
    { path: "restrictions.networks", message: "must be a list, not a string" },
    { path: "restrictions.domains", message: "must be a list of at most 100 items, not 2000" },
    { path: "enhanced", message: "must be true or false, not null" },
    { path: "enhanced_requests_per_second", message: "must be at least 1, not 0" },
    { path: "requests_per_second", message: "must be a whole number, not 0.5" },
  ]);
  expect(faultsOf(schemas.adminKeyCreate, [])).toEqual([{ path: "", message: "must be an object, not a list" }]);
  expect(faultsOf(schemas.requestsQuery, { since: "x".repeat(100), limit: "0" })).toEqual([
    { path: "since", message: "must be a time such as 2026-12-01T00:00:00Z, not a string of 100 characters" },
    { path: "limit", message: "must be at least 1, not 0" },
  ]);
});

test("an unknown member is told under its own name, wherever it stands, and one by one", () => {
  const message = "is no member that is known here";
  const wish = { name: "x", foo: 1, bar: 2, restrictions: { ["b".repeat(500)]: 1 } };
  expect(faultsOf(schemas.adminKeyCreate, wish)).toEqual([
    { path: `restrictions.${"b".repeat(115)}`, message },
    { path: "foo", message },
    { path: "bar", message },
  ]);
});

test("a tip and a slot have one rule, whatever is wrong with them", () => {
  const message = "must be a whole number from 0 to 18446744073709551615";
  for (const tip of [-1, 0.5, 1e300, "5", null, undefined, 2n ** 64n, -1n, [], Number.NaN]) {
    expect(faultsOf(schemas.bundleSubmit, { transactions: [], tip })).toEqual([{ path: "tip", message }]);
  }
  expect(faultsOf(schemas.bundleSubmit, { transactions: [], tip: 1, targetSlot: -1 })).toEqual([
    { path: "targetSlot", message },
  ]);
});
