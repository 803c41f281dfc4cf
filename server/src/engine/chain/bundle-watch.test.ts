import { expect, test } from "bun:test";
import { ManualClock } from "@sluice/lib";
import type { Slot } from "@sluice/wire/identifiers";
import { acceptedBundle } from "../testing/accepted-bundle.ts";
import { BundleWatch, ForkWindow, seenBlock } from "./bundle-watch.ts";
import type { ChainBlock } from "./node-answers.ts";
import { addressNamed, signatureNamed } from "./testing/names.ts";
import { SimulatedPool } from "./testing/simulated-pool.ts";

const blockOf = (slot: bigint, names: readonly string[]): ChainBlock => ({
  slot: slot as Slot,
  blockhash: addressNamed(`block ${slot}`),
  parentSlot: (slot - 1n) as Slot,
  previousBlockhash: addressNamed(`block ${slot - 1n}`),
  height: slot,
  time: null,
  transactions: names.map((name) => ({ signature: signatureNamed(name), failed: false, units: 10, tip: 5n })),
});

const bundle = (id: string, names: readonly string[]) =>
  acceptedBundle({ id, signatures: names.map(signatureNamed), expiresAt: 1_000 });

/** A pool of these bundles, and a block that holds the transactions a, b and c. */
async function watched(bundles: readonly [string, readonly string[]][]) {
  const pool = new SimulatedPool();
  for (const [id, names] of bundles) pool.add(bundle(id, names));
  const chain = {
    read: () => Promise.reject(new Error("nothing is read")),
    send: async () => false,
    onSlot: () => ({ [Symbol.dispose]: () => {} }),
    newestSlot: () => 11n as Slot,
    genesis: () => null,
  };
  const watch = new BundleWatch({ pool, chain, clock: new ManualClock(0) });
  const window = new ForkWindow(blockOf(10n, []));
  const seen = seenBlock(blockOf(11n, ["a", "b", "c"]));
  window.append(seen);
  const units = await watch.check(seen);
  await watch.end(window);
  await watch.finalized(seen);
  const states = Object.fromEntries([...pool.records.values()].map(({ id, state, reason }) => [id, reason ?? state]));
  const indexes = Object.fromEntries(
    [...pool.records.values()].flatMap(({ id, landed }) => (landed === null ? [] : [[id, landed.index]])),
  );
  return { units, states, indexes };
}

test("of bundles that share what landed only one has landed, the longest, and its compute counts once", async () => {
  const { units, states } = await watched([
    ["first", ["a"]],
    ["two", ["a", "b"]],
    ["all", ["a", "b", "c"]],
  ]);
  expect(states).toEqual({ first: "already_processed", two: "already_processed", all: "finalized" });
  expect(units).toBe(30);
});

test("bundles that share nothing land beside each other, each at its place among the bundles of the block", async () => {
  const { states, indexes } = await watched([
    ["other", ["c"]],
    ["one", ["a", "b"]],
  ]);
  expect(states).toEqual({ one: "finalized", other: "finalized" });
  expect(indexes).toEqual({ one: 0, other: 1 });
});

test("a bundle of which a part landed by another way was already processed", async () => {
  const { states } = await watched([["part", ["b", "elsewhere"]]]);
  expect(states).toEqual({ part: "already_processed" });
});
