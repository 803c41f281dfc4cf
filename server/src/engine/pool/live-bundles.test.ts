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
