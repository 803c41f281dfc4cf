import { expect, test } from "bun:test";
import { seededRandom } from "@sluice/lib";
import type { AuctionBundle } from "./interfaces.ts";
import { runAuction } from "./run-auction.ts";
import { connectedGroup, wholeBlock } from "./testing/bundles.ts";
import { type Instance, smallInstance } from "./testing/instances.ts";

/** Bundles that write and read accounts at random, of which some are in much demand, as on a busy chain. */
function busyInstance(seed: number, size: number, computeUnits: number): Instance {
  const random = seededRandom(seed);
  const upTo = (limit: number): number => Math.floor(random.next() * limit);
  const account = (): number => 8 + Math.floor(size * random.next() ** 3);
  const bundles = Array.from({ length: size }, (_, index): AuctionBundle => {
    const writes = new Set([upTo(8), ...Array.from({ length: 1 + upTo(3) }, account)]);
    const reads = new Set(Array.from({ length: upTo(4) }, account)).difference(writes);
    return {
      id: index.toString(16).padStart(4, "0"),
      tip: BigInt(Math.floor(1_000 * 10 ** (4 * random.next()))),
      computeUnits: 20_000 + upTo(1_000_000),
      locks: { writes: [...writes], reads: [...reads] },
    };
  });
  return { bundles, caps: { ...wholeBlock, computeUnits, accountComputeUnits: computeUnits / 2 } };
}

const many = (count: number, made: (seed: number) => Instance): readonly Instance[] =>
  Array.from({ length: count }, (_, seed) => made(seed));
/** Every second block has little room left. */
const roomOf = (seed: number): number => (seed % 2 === 0 ? wholeBlock.computeUnits : 6_000_000);

const shapes: Readonly<Record<string, readonly Instance[]>> = {
  "up to 24 of each kind": many(400, (seed) => smallInstance(seed, { bundlesMax: 24 })),
  "groups of 30 to 46": many(40, (seed) =>
    connectedGroup(seed, 30 + (seed % 17), 9, { ...wholeBlock, computeUnits: roomOf(seed) }),
  ),
  "groups of 100 to 250": many(16, (seed) =>
    connectedGroup(seed, 100 + 10 * seed, 30, { ...wholeBlock, computeUnits: roomOf(seed) }),
  ),
  "busy, 60 to 140": many(40, (seed) => busyInstance(seed, 60 + 2 * seed, roomOf(seed))),
  "busy, 400 to 800": many(8, (seed) => busyInstance(seed, 400 + 50 * seed, roomOf(seed))),
};

/** What all instances of a shape came to: lamports, and the work that it took. */
function effortOf(instances: readonly Instance[], searchSteps: number): string {
  let revenue = 0n;
  let gap = 0n;
  let proved = 0;
  let nodes = 0;
  let steps = 0;
  for (const { bundles, caps } of instances) {
    const outcome = runAuction(bundles, caps, { searchSteps });
    revenue += outcome.revenue;
    gap += outcome.gap;
    if (outcome.gap === 0n) proved += 1;
    nodes += outcome.facts.nodes;
    steps += outcome.facts.steps;
  }
  return `revenue ${revenue}, gap ${gap}, ${proved} of ${instances.length} proved, ${nodes} nodes, ${steps} steps`;
}

/**
 * What the search finds and spends is a function of its input, so a change that makes it look longer, or prove less
 * with the same steps, is told here and not by a clock. Who changes the search on purpose writes the new figures.
 */
const recorded: readonly (readonly [shape: string, searchSteps: number, effort: string])[] = [
  ["up to 24 of each kind", 0, "revenue 55343830798, gap 342528027, 238 of 400 proved, 1204 nodes, 37442 steps"],
  ["up to 24 of each kind", 20000, "revenue 55397632259, gap 19440155, 375 of 400 proved, 4108 nodes, 1722004 steps"],
  ["up to 24 of each kind", 1000000, "revenue 55407038905, gap 5218, 397 of 400 proved, 9073 nodes, 9348777 steps"],
  ["groups of 30 to 46", 0, "revenue 89325452, gap 1576527, 27 of 40 proved, 9 nodes, 18086 steps"],
  ["groups of 30 to 46", 20000, "revenue 89589307, gap 46526, 36 of 40 proved, 555 nodes, 215992 steps"],
  ["groups of 30 to 46", 1000000, "revenue 89590471, gap 0, 40 of 40 proved, 850 nodes, 336774 steps"],
  ["groups of 100 to 250", 0, "revenue 120142052, gap 3399855, 1 of 16 proved, 0 nodes, 168398 steps"],
  ["groups of 100 to 250", 20000, "revenue 120142052, gap 3390955, 1 of 16 proved, 0 nodes, 379529 steps"],
  ["groups of 100 to 250", 1000000, "revenue 122024470, gap 0, 16 of 16 proved, 1620 nodes, 3659372 steps"],
  ["busy, 60 to 140", 0, "revenue 1713272269, gap 29691923, 11 of 40 proved, 3 nodes, 402324 steps"],
  ["busy, 60 to 140", 20000, "revenue 1717553855, gap 13677671, 19 of 40 proved, 383 nodes, 678120 steps"],
  ["busy, 60 to 140", 1000000, "revenue 1723161604, gap 0, 40 of 40 proved, 2503 nodes, 4123947 steps"],
  ["busy, 400 to 800", 0, "revenue 1507719204, gap 60603593, 0 of 8 proved, 4 nodes, 814653 steps"],
  ["busy, 400 to 800", 20000, "revenue 1514553489, gap 51774423, 0 of 8 proved, 4 nodes, 881074 steps"],
  ["busy, 400 to 800", 1000000, "revenue 1540797682, gap 8479609, 4 of 8 proved, 93 nodes, 5865493 steps"],
];

test.each(recorded)(
  "%s with %d steps",
  (shape, searchSteps, effort) => {
    expect(effortOf(shapes[shape] ?? [], searchSteps)).toBe(effort);
  },
  60_000,
);
