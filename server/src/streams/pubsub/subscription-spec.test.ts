import { expect, test } from "bun:test";
import { subscriptionMethod, subscriptionSpec } from "./subscription-spec.ts";

const address = "9B5XszUGdMaxCZ7uSQhPzdks5ZQSmWxrmzCSvtJ6Ns6g";

test("calls that mean the same have one key, whatever the order, the white space, nulls and defaults", () => {
  const same = [
    `["${address}"]`,
    `[ "${address}" , null]`,
    `["${address}",{}]`,
    `["${address}",{"commitment":"finalized"}]`,
    `["${address}",{"encoding":null,"commitment":null}]`,
  ].map((params) => subscriptionSpec("account", params));
  expect(new Set(same.map(({ key }) => key)).size).toBe(1);
  expect(same[0]).toMatchObject({ params: `["${address}"]`, subject: address, commitment: "finalized" });
  const one = subscriptionSpec("program", `["${address}",{"encoding":"base64","filters":[{"dataSize":165}]}]`);
  const other = subscriptionSpec("program", `["${address}",{"filters":[{"dataSize":165}],"encoding":"base64"}]`);
  expect(one.key).toBe(other.key);
});

test("calls that differ in what a node answers have keys of their own", () => {
  const keys = [
    subscriptionSpec("account", `["${address}"]`),
    subscriptionSpec("program", `["${address}"]`),
    subscriptionSpec("account", `["${address}",{"commitment":"confirmed"}]`),
    subscriptionSpec("account", `["${address}",{"commitment":"processed"}]`),
    subscriptionSpec("account", `["${address}",{"encoding":"base64"}]`),
    subscriptionSpec("logs", '["all"]'),
    subscriptionSpec("logs", '["allWithVotes"]'),
    subscriptionSpec("logs", `[{"mentions":["${address}"]}]`),
    subscriptionSpec("slot", null),
    subscriptionSpec("root", "[]"),
  ].map(({ key }) => key);
  expect(new Set(keys).size).toBe(keys.length);
});

test("a u64 in a filter keeps all its digits", () => {
  const { params } = subscriptionSpec("program", `["${address}",{"filters":[{"dataSize":18446744073709551615}]}]`);
  expect(params).toContain("18446744073709551615");
});

test("only the methods of subscriptions are any", () => {
  expect(subscriptionMethod("slotsUpdatesSubscribe")).toEqual({ kind: "slotsUpdates", what: "subscribe" });
  expect(subscriptionMethod("slotUnsubscribe")).toEqual({ kind: "slot", what: "unsubscribe" });
  for (const method of ["getVersion", "Subscribe", "__proto__Subscribe", "transactionSubscribe"]) {
    expect(subscriptionMethod(method)).toBeNull();
  }
});
