import { describe, expect, test } from "bun:test";
import { runChaos } from "./testing/chaos-run.ts";
import type { BundleStanding } from "./testing/chaos-standing.ts";
import { type BundleStory, type ChainStory, judge, type Place } from "./testing/chaos-verdict.ts";

const at = (slot: number, index: number, failed = false): Place => ({ slot, index, failed });
const standing = (status: BundleStanding["status"], slot: number | null = null): BundleStanding => {
  return { status, slot, signatures: [], reason: null };
};
const story = (signatures: readonly string[], told: BundleStanding | null, isAccepted = true): BundleStory => {
  const shown = told?.status === "included" ? { ...told, signatures } : told;
  return { id: signatures.join(), drawn: "plain", signatures, isAccepted, handed: 1, standing: shown };
};

function chainOf(places: Readonly<Record<string, readonly Place[]>>, beside: Partial<ChainStory> = {}): ChainStory {
  return { places: new Map(Object.entries(places)), sentAlone: new Set(), againSlots: new Set(), ...beside };
}

describe("the verdict on bundles", () => {
  test("has nothing against bundles that are whole in the slot that is told, or nowhere", () => {
    const chain = chainOf({ a: [at(5, 1)], b: [at(5, 2)] });
    const stories = [story(["a", "b"], standing("included", 5)), story(["c"], standing("expired"))];
    expect(judge(stories, chain)).toMatchObject({ faults: [], outcomes: { included: 1, expired: 1 } });
  });

  const a = [at(5, 1)];
  const planted: Readonly<Record<string, readonly [readonly BundleStory[], ChainStory]>> = {
    "in part": [[story(["a", "b"], standing("dropped"))], chainOf({ a })],
    "not in one piece": [[story(["a", "b"], standing("included", 5))], chainOf({ a, b: [at(5, 3)] })],
    "is said to be in slot 5": [[story(["a", "b"], standing("included", 5))], chainOf({ a, b: [at(5, 2, true)] })],
    "is said to be in slot 6": [[story(["a"], standing("included", 6))], chainOf({ a })],
    "dropped, null, and landed": [[story(["a"], standing("dropped"))], chainOf({ a })],
    "was accepted and is unknown": [[story(["a"], null)], chainOf({})],
    "landed and is unknown": [[story(["a"], null, false)], chainOf({ a })],
    "has no end": [[story(["a"], standing("accepted"))], chainOf({})],
    "landed 2 times": [[story(["a"], standing("included", 5))], chainOf({ a: [at(5, 1), at(7, 1)] })],
    "was sent by nobody": [[], chainOf({ a })],
  };
  for (const [text, [stories, chain]] of Object.entries(planted)) {
    test(`sees one that ${text}`, () => expect(judge(stories, chain).faults.join()).toContain(text));
  }

  test("forgives transactions that came by another bundle, alone, or again after a fork", () => {
    const whole = story(["a", "b"], standing("included", 5));
    const chain = { a, b: [at(5, 2)], d: [at(6, 1)], e: [at(9, 1)] };
    const beside = { sentAlone: new Set(["d"]), againSlots: new Set([9]) };
    const others = [
      ["b", "c"],
      ["d", "x"],
      ["e", "y"],
    ].map((signatures) => story(signatures, standing("dropped")));
    expect(judge([whole, ...others], chainOf(chain, beside))).toMatchObject({ faults: [], taken: 3 });
  });
});

test("bundles at every door among kills of everything and forks: each that was accepted has the end that the chain bears out", async () => {
  const { kills, verdict, happened } = await runChaos({ n: 132, seed: 7, slotMs: 50, atATime: 8, roundBundles: 12 });
  expect(verdict.faults).toEqual([]);
  expect(verdict.outcomes["included"]).toBeGreaterThan(0);
  expect(kills).toEqual({ server: 1, simulator: 1, ledger: 1, machine: 1, leaders: 1 });
  expect(happened).toMatchObject({ fork: 1, deepFork: 1, skip: 1, streams: 1, forkAgain: 1, deepForkAgain: 1 });
}, 120_000);
