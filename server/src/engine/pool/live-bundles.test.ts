import { expect, test } from "bun:test";
import { acceptedBundle } from "../testing/accepted-bundle.ts";
import { LiveBundles } from "./live-bundles.ts";
import { bundleNamed, signatureOf } from "./testing/bundles.ts";

test("bundles of one signature and one searcher are held until the last of them is removed", () => {
  const live = new LiveBundles();
  const shared = signatureOf("shared");
  const names = ["one", "two", "three"];
  for (const name of names) live.add(acceptedBundle(bundleNamed(name, { signatures: [shared] })));
  const held = () => [live.holding(shared), live.ofSearcher("acct_1")].map((records) => records.length);
  for (const [index, name] of names.entries()) {
    expect([held(), live.countOf("acct_1")]).toEqual([[3 - index, 3 - index], 3 - index]);
    const bundle = live.get(bundleNamed(name).id);
    if (bundle !== null) live.remove(bundle);
  }
  expect([held(), live.countOf("acct_1"), live.count]).toEqual([[0, 0], 0, 0]);
});

test("a bundle whose signatures are replaced is held under the new ones alone", () => {
  const live = new LiveBundles();
  const [kept, left, added] = ["kept", "left", "added"].map(signatureOf);
  if (kept === undefined || left === undefined || added === undefined) throw new Error("three were made");
  const record = acceptedBundle(bundleNamed("replaced", { signatures: [kept, left] }));
  live.add(record);
  const bundle = live.get(record.id);
  if (bundle === null) throw new Error("it was added");
  live.replace(bundle, { ...record, signatures: [kept, added] });
  expect([kept, left, added].map((signature) => live.holding(signature).length)).toEqual([1, 0, 1]);
});
