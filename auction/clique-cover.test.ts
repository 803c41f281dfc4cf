import { expect, test } from "bun:test";
import { coverByAccounts } from "./clique-cover.ts";
import { findConflicts } from "./conflicts.ts";
import { narrowMax } from "./graph.ts";

test("the writers of an account are a clique of the cover, alone and with each of its readers", () => {
  const writers = narrowMax + 8;
  const readers = 3;
  // Account 0 is written by all of the first, account 1 is written by these and read by the others.
  const entries = [
    ...Array.from({ length: writers }, (_, bundle) => (bundle << 1) | 1),
    ...Array.from({ length: writers + readers }, (_, bundle) => (bundle << 1) | (bundle < writers ? 1 : 0)),
  ];
  const locks = { accounts: 2, starts: Int32Array.of(0, writers, entries.length), entries: Int32Array.from(entries) };
  const count = writers + readers;
  const { conflicts, contested } = findConflicts(count, locks, new Set());
  const places = Int32Array.from({ length: count }, (_, bundle) => bundle);
  const [cover, ...others] = coverByAccounts(locks, contested, places, conflicts);
  expect(others).toEqual([]);
  const cliques = (cover?.starts ?? []).slice(1).map((end, at) => {
    const members = [...(cover?.members ?? [])].slice(cover?.starts[at], end);
    return members.map((local) => conflicts.groups[0]?.members[local] ?? -1).toSorted((one, other) => one - other);
  });
  const alone = Array.from({ length: writers }, (_, bundle) => bundle);
  const expected = [alone, ...Array.from({ length: readers }, (_, at) => [...alone, writers + at])];
  expect(
    cliques.toSorted((one, other) => one.length - other.length || (one.at(-1) ?? 0) - (other.at(-1) ?? 0)),
  ).toEqual(expected);
});
