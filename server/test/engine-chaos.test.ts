import { describe, expect, test } from "bun:test";
import { competingText } from "../src/engine/grpc/jito/bundle-results.ts";
import { verifyOutcomes, verifyReports } from "./testing/chaos-reports.ts";
import { runChaos } from "./testing/chaos-run.ts";
import type { BundleStatus } from "./testing/chaos-status.ts";
import { ConfirmationStream, noStories, ResultsStream, type Spoken } from "./testing/chaos-streams.ts";
import { type BundleStory, type ChainStory, type Place, verify } from "./testing/chaos-verdict.ts";
import type { LedgerOutcome } from "./testing/ledger-outcomes.ts";

const at = (slot: number, index: number, failed = false): Place => ({ slot, index, failed });
const stateOf = (status: BundleStatus["status"], slot: number | null = null): BundleStatus => {
  return { status, slot, signatures: [], reason: null };
};
const story = (signatures: readonly string[], reported: BundleStatus | null, isAccepted = true): BundleStory => {
  const shown = reported?.status === "included" ? { ...reported, signatures } : reported;
  return { id: signatures.join(), drawn: "plain", signatures, isAccepted, handed: 1, state: shown };
};

function chainOf(places: Readonly<Record<string, readonly Place[]>>, beside: Partial<ChainStory> = {}): ChainStory {
  return { places: new Map(Object.entries(places)), sentAlone: new Set(), againSlots: new Set(), ...beside };
}

describe("the verdict on bundles", () => {
  test("has nothing against bundles that are whole in the slot that is reported, or nowhere", () => {
    const chain = chainOf({ a: [at(5, 1)], b: [at(5, 2)] });
    const stories = [story(["a", "b"], stateOf("included", 5)), story(["c"], stateOf("expired"))];
    expect(verify(stories, chain)).toMatchObject({ faults: [], outcomes: { included: 1, expired: 1 } });
  });

  const a = [at(5, 1)];
  const planted: Readonly<Record<string, readonly [readonly BundleStory[], ChainStory]>> = {
    "in part": [[story(["a", "b"], stateOf("dropped"))], chainOf({ a })],
    "not in one piece": [[story(["a", "b"], stateOf("included", 5))], chainOf({ a, b: [at(5, 3)] })],
    "is said to be in slot 5": [[story(["a", "b"], stateOf("included", 5))], chainOf({ a, b: [at(5, 2, true)] })],
    "is said to be in slot 6": [[story(["a"], stateOf("included", 6))], chainOf({ a })],
    "dropped, null, and landed": [[story(["a"], stateOf("dropped"))], chainOf({ a })],
    "was accepted and is unknown": [[story(["a"], null)], chainOf({})],
    "landed and is unknown": [[story(["a"], null, false)], chainOf({ a })],
    "has no end": [[story(["a"], stateOf("accepted"))], chainOf({})],
    "and so is a,b": [
      [story(["a", "b"], stateOf("included", 5)), story(["a"], stateOf("included", 5))],
      chainOf({ a, b: [at(5, 2)] }),
    ],
    "said to hold other transactions": [
      [{ ...story(["a"], stateOf("included", 5)), state: { ...stateOf("included", 5), signatures: ["b"] } }],
      chainOf({ a }),
    ],
    "landed 2 times": [[story(["a"], stateOf("included", 5))], chainOf({ a: [at(5, 1), at(7, 1)] })],
    "was not sent by any client": [[], chainOf({ a })],
  };
  for (const [text, [stories, chain]] of Object.entries(planted)) {
    test(`sees one that ${text}`, () => expect(verify(stories, chain).faults.join()).toContain(text));
  }

  test("forgives transactions that came by another bundle, alone, or again after a fork", () => {
    const whole = story(["a", "b"], stateOf("included", 5));
    const chain = { a, b: [at(5, 2)], d: [at(6, 1)], e: [at(9, 1)] };
    const beside = { sentAlone: new Set(["d"]), againSlots: new Set([9]) };
    const others = [
      ["b", "c"],
      ["d", "x"],
      ["e", "y"],
    ].map((signatures) => story(signatures, stateOf("dropped")));
    expect(verify([whole, ...others], chainOf(chain, beside))).toMatchObject({ faults: [], taken: 3 });
  });
});

const storiesOf = (...stories: readonly BundleStory[]) => new Map(stories.map((each) => [each.id, each] as const));
const included = story(["a"], stateOf("included", 5));
const lost = story(["b"], { ...stateOf("dropped"), reason: "fork" });

describe("the verdict on the ledger", () => {
  const row = (id: string, state: string, reason: string, slot: number | null): LedgerOutcome => {
    return { id, state, reason, endpoint: "rest", slot };
  };
  const right = [row("a", "finalized", "", 5), row("b", "dropped", "fork", null)];
  test("has nothing against each end once", () => {
    expect(verifyOutcomes(storiesOf(included, lost), right)).toEqual([]);
  });

  const planted: Readonly<Record<string, readonly LedgerOutcome[]>> = {
    "b was accepted and is not in the ledger": right.slice(0, 1),
    "b is in the ledger twice": [...right, ...right.slice(1)],
    "a is finalized, , slot 6 in the ledger": [row("a", "finalized", "", 6), ...right.slice(1)],
    "b is dropped, not_landed": [...right.slice(0, 1), row("b", "dropped", "not_landed", null)],
    "c is expired": [...right, row("c", "expired", "not_landed", null)],
  };
  for (const [text, outcomes] of Object.entries(planted)) {
    test(`sees that ${text}`, () => {
      expect(verifyOutcomes(storiesOf(included, lost), outcomes).join()).toContain(text);
    });
  }
});

describe("the verdict on streams", () => {
  /** What is held against streams that have reported these messages of bundles that were handed in once. */
  function received(
    kind: "ours" | "results",
    said: readonly string[],
    ...messages: readonly Record<string, unknown>[]
  ) {
    const reported = noStories();
    const stream: Spoken = { received: null, ended: new Promise(() => {}), cancel: () => {}, say: () => true };
    const listener = kind === "ours" ? new ConfirmationStream(stream, reported) : new ResultsStream(stream, reported);
    if (listener instanceof ConfirmationStream) for (const id of said) void listener.submit(id, {});
    for (const message of messages) stream.received?.(message);
    const stories = storiesOf(included, lost);
    const states = new Map([...stories].flatMap(([id, { state }]) => (state === null ? [] : [[id, state]])));
    return [...verifyReports(stories, [reported]).faults, ...listener.unreported(states)].join();
  }
  const ours = (id: string, status: string, rest: object = {}) => ({ bundle_id: id, status, ...rest });
  const inBlock = ours("a", "included", { slot: "5" });
  const result = (id: string, kind: string, body: object = {}) => ({ bundle_id: id, [kind]: body });

  const outbid = result("a", "rejected", { state_auction_bid_rejected: { msg: competingText } });

  test("has nothing against each change once, answers to what comes again, and a block that is another after a fork", () => {
    const before = ours("a", "included", { slot: "4" });
    const end = ours("b", "dropped", { reason: "fork" });
    const ofLost = [ours("b", "accepted"), ours("b", "included", { slot: "4" }), end];
    expect(received("ours", ["a", "b"], ours("a", "accepted"), before, inBlock, ...ofLost)).toBe("");
    expect(received("ours", ["a", "a"], ours("a", "accepted"), ours("a", "accepted"), inBlock)).toBe("");
    expect(received("ours", ["x"], ours("x", "dropped", { reason: "tip_not_paid" }))).toBe("");
    const processed = ["4", "5"].map((slot) => result("a", "processed", { slot }));
    expect(received("results", [], result("a", "accepted"), outbid, ...processed, result("a", "finalized"))).toBe("");
  });

  const accepted = ours("a", "accepted");
  const planted: Readonly<Record<string, string>> = {
    "a was reported as accepted twice": received("ours", ["a"], accepted, accepted, inBlock),
    "and never handed in there": received("ours", [], accepted, accepted, inBlock),
    "a was reported as accepted after included 5": received("ours", ["a"], accepted, inBlock, accepted),
    "a was reported as expired after nothing": received("ours", [], ours("a", "expired")),
    "b was reported as expired after included 4": received(
      "ours",
      ["b"],
      ours("b", "included", { slot: "4" }),
      ours("b", "expired"),
    ),
    "a was reported to end as expired and is included": received("ours", ["a"], accepted, ours("a", "expired")),
    "a was reported as accepted by a stream that is open, and is included 5": received("ours", ["a"], accepted),
    "a is a result finalized after accepted": received(
      "results",
      [],
      result("a", "accepted"),
      result("a", "finalized"),
    ),
    "a is a result processed 5 after processed 5": received(
      "results",
      [],
      result("a", "processed", { slot: "5" }),
      result("a", "processed", { slot: "5" }),
    ),
    "a is outbid after accepted": received("results", [], result("a", "accepted"), outbid, outbid),
    "a is outbid after processed 5": received("results", [], result("a", "processed", { slot: "5" }), outbid),
    "b was reported as accepted by results that are open": received("results", [], result("b", "accepted")),
  };
  for (const [text, faults] of Object.entries(planted)) {
    test(`sees that ${text}`, () => expect(faults).toContain(text));
  }

  test("sees that one was reported to be in a block and has another end than by a fork", () => {
    const reported = noStories();
    reported.included.set("b", 4);
    const expired = story(["b"], stateOf("expired"));
    expect(verifyReports(storiesOf(expired), [reported]).faults.join()).toContain(
      "b was reported to be in a block and is expired",
    );
    expect(verifyReports(storiesOf(lost), [reported])).toEqual({ faults: [], lostWithForks: 1 });
  });
});

test("bundles at every endpoint among kills of everything and forks: each that was accepted has the end that the chain bears out", async () => {
  const { kills, verdict, happened } = await runChaos({ n: 132, seed: 7, slotMs: 50, atATime: 8, roundBundles: 12 });
  expect(verdict.faults).toEqual([]);
  expect(verdict.outcomes["included"]).toBeGreaterThan(0);
  expect(kills).toEqual({ server: 1, simulator: 1, ledger: 1, machine: 1, leaders: 1 });
  expect(happened).toMatchObject({ fork: 1, deepFork: 1, skip: 1, streams: 1, forkAgain: 1, deepForkAgain: 1 });
}, 120_000);
