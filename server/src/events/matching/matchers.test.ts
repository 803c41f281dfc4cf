import { describe, expect, test } from "bun:test";
import { seededRandom } from "@sluice/lib";
import { TransactionView } from "@sluice/parser";
import { addressBytes } from "@sluice/wire/base58";
import { programs } from "@sluice/wire/programs";
import { built, key } from "../../../../parser/testing/built.ts";
import {
  type AccountFilter,
  AccountMatcher,
  type FilterGroup,
  type FilterMember,
  TransactionFacts,
  type TransactionFilter,
  TransactionMatcher,
} from "../index.ts";

const packed = (...keys: string[]): Uint8Array => new Uint8Array(Buffer.concat(keys.map((each) => addressBytes(each))));
const membersOf = (groups: readonly FilterGroup<string>[]): string[] =>
  groups.flatMap((group) => [...group.members()]).toSorted();

/** Calls the system program between keys 1 and 2. */
const transfer = new TransactionFacts(
  new TransactionView(
    built({
      keys: [key(1), key(2), programs.system],
      calls: [{ program: 2, accounts: [0, 1], data: [2, 0, 0, 0] }],
      meta: { preBalances: [], postBalances: [] },
    }),
  ),
);

function matcherOf(filters: Readonly<Record<string, TransactionFilter>>): TransactionMatcher<string> {
  const matcher = new TransactionMatcher<string>(seededRandom(1));
  for (const [name, filter] of Object.entries(filters)) matcher.add(filter, name);
  return matcher;
}

describe("transactions", () => {
  test("are for those whose every condition they meet", () => {
    const matcher = matcherOf({
      everything: {},
      one: { accountInclude: [key(9), key(2)] },
      both: { accountRequired: [key(1), key(2)] },
      "one of both": { accountRequired: [key(1), key(9)] },
      without: { accountInclude: [key(1)], accountExclude: [key(2)] },
      "without others": { accountExclude: [key(9)] },
      calls: { programs: [programs.system] },
      "calls an account": { programs: [key(1)] },
      "names a program": { accountInclude: [programs.system] },
      votes: { vote: true },
      "no votes": { vote: false, failed: false },
      failures: { failed: true, accountInclude: [key(1)] },
    });
    expect(membersOf(matcher.match(transfer))).toEqual(
      ["both", "calls", "everything", "names a program", "no votes", "one", "without others"].toSorted(),
    );
  });

  test("give one group for filters that ask for the same, however they are written", () => {
    const matcher = matcherOf({
      one: { accountInclude: [key(1), key(2)], failed: false },
      two: { accountInclude: [key(2), key(1), key(2)], failed: false, programs: [] },
      three: { accountInclude: packed(key(2), key(1)), failed: false },
      another: { accountInclude: [key(1), key(2)] },
    });
    const groups = matcher.match(transfer);
    expect(groups.map(({ size }) => size).toSorted()).toEqual([1, 3]);
    expect(matcher).toMatchObject({ groups: 2, keys: 2 });
  });

  test("give ten thousand who ask for everything as one group", () => {
    const matcher = new TransactionMatcher<string>(seededRandom(1));
    const members = Array.from({ length: 10_000 }, (_, at) => matcher.add({ vote: false }, `${at}`));
    const [group, ...others] = matcher.match(transfer);
    expect({ size: group?.size, others: others.length }).toEqual({ size: 10_000, others: 0 });
    for (const member of members) member[Symbol.dispose]();
    expect(matcher).toMatchObject({ groups: 0, keys: 0 });
    expect(matcher.match(transfer)).toEqual([]);
  });

  test("are not for who has left, and disposing twice is disposing once", () => {
    const matcher = new TransactionMatcher<string>(seededRandom(1));
    const first = matcher.add({ accountInclude: [key(1)] }, "same");
    matcher.add({ accountInclude: [key(1)] }, "same");
    first[Symbol.dispose]();
    first[Symbol.dispose]();
    expect(membersOf(matcher.match(transfer))).toEqual(["same"]);
  });

  test("are told to each member once also while members leave", () => {
    const matcher = new TransactionMatcher<number>(seededRandom(1));
    const members: FilterMember<number>[] = [];
    for (let at = 0; at < 6; at++) members.push(matcher.add({}, at));
    const [group] = matcher.match(transfer);
    const told: number[] = [];
    for (const at of group?.members() ?? []) {
      told.push(at);
      members[at]?.[Symbol.dispose]();
      members[at + 1]?.[Symbol.dispose]();
    }
    expect({ told, left: group?.size }).toEqual({ told: [0, 2, 4], left: 0 });
  });

  test("refuse a filter whose key is no address and keep nothing of it", () => {
    const matcher = matcherOf({});
    expect(() => matcher.add({ accountInclude: [key(1)], programs: ["no address"] }, "")).toThrow(RangeError);
    expect(() => matcher.add({ accountInclude: new Uint8Array(33) }, "")).toThrow(RangeError);
    expect(matcher).toMatchObject({ groups: 0, keys: 0 });
  });
});

describe("accounts", () => {
  const filters: Readonly<Record<string, AccountFilter>> = {
    all: {},
    one: { accounts: [key(1), key(2)] },
    other: { accounts: [key(2)] },
    owned: { owners: [programs.token, programs.system] },
    both: { accounts: [key(1)], owners: [programs.system] },
    neither: { accounts: [key(1)], owners: [programs.token] },
  };
  const matcher = new AccountMatcher<string>(seededRandom(1));
  for (const [name, filter] of Object.entries(filters)) matcher.add(filter, name);

  test("are for those who ask for them by address and by owner", () => {
    expect(membersOf(matcher.match(key(1), programs.system))).toEqual(["all", "both", "one", "owned"]);
  });

  test("whose owner is not known are for nobody who asks by owner", () => {
    expect(membersOf(matcher.match(key(1), null))).toEqual(["all", "one"]);
    expect(matcher.groups).toBe(6);
  });

  test("are not taken for their owner", () => {
    expect(membersOf(matcher.match(programs.system, key(1)))).toEqual(["all"]);
  });
});
