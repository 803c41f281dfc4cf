import { expect, test } from "bun:test";
import { searcherTierLimits } from "@sluice/contract/engine";
import { ManualClock } from "@sluice/lib";
import { SearcherLimits } from "./searcher-limits.ts";

const searcher = { id: "one", accountId: "one", pubkey: null };

function room() {
  const clock = new ManualClock(0);
  const state = { set: null as { bundlesPerSecond: number; burst: number } | null, looks: 0, fails: false };
  const taken: [string, number, number][] = [];
  const reported: string[] = [];
  const limits = new SearcherLimits({
    clock,
    store: {
      limitOf: async () => {
        state.looks += 1;
        if (state.fails) throw new Error("the store is away");
        return state.set;
      },
    },
    limits: {
      take: (bucket, rate, burst) => {
        taken.push([bucket, rate, burst]);
        return { allowed: true, limit: rate, burst, remaining: 1, resetAt: 0, retryAfterSeconds: 0 };
      },
    },
    tierOf: () => "silver",
    retryableError: (what) => void reported.push(what),
  });
  return { limits, clock, state, taken, reported };
}

test("what an operator has set goes before the tier, and is looked for once for all who ask at a moment", async () => {
  const { limits, clock, state, taken } = room();
  await Promise.all([limits.take(searcher), limits.take(searcher), limits.take(searcher)]);
  const { bundlesPerSecond, burst } = searcherTierLimits.silver;
  expect([state.looks, taken]).toEqual([1, Array(3).fill(["bundles:one", bundlesPerSecond, burst])]);
  state.set = { bundlesPerSecond: 7, burst: 9 };
  clock.advance(2_000);
  await limits.take(searcher);
  expect(taken.at(-1)).toEqual(["bundles:one", 7, 9]);
});

test("a limit of 0 stops the searcher until it is lifted, whatever its bucket holds", async () => {
  const { limits, clock, state, taken } = room();
  expect(await limits.isStopped(searcher)).toBe(false);
  state.set = { bundlesPerSecond: 0, burst: 0 };
  clock.advance(2_000);
  expect(await limits.take(searcher)).toMatchObject({ allowed: false, remaining: 0, retryAfterSeconds: 60 });
  expect(await limits.isStopped(searcher)).toBe(true);
  expect(taken).toEqual([]);
  state.set = null;
  clock.advance(2_000);
  expect(await limits.isStopped(searcher)).toBe(false);
  expect(await limits.take(searcher)).toMatchObject({ allowed: true });
});

test("while the store is away its last answer stands", async () => {
  const { limits, clock, state, taken, reported } = room();
  state.set = { bundlesPerSecond: 7, burst: 9 };
  await limits.take(searcher);
  state.fails = true;
  clock.advance(2_000);
  await limits.take(searcher);
  expect(taken.at(-1)).toEqual(["bundles:one", 7, 9]);
  expect(reported).toEqual(["limits of searchers"]);
});

test("a public key of no account has the first tier's limit whatever it has earned, unless an operator has set one", async () => {
  const { limits, clock, state, taken } = room();
  const unlinked = { id: "pubkey:x", accountId: null, pubkey: null };
  await limits.take(unlinked);
  state.set = { bundlesPerSecond: 7, burst: 9 };
  clock.advance(2_000);
  await limits.take(unlinked);
  const { bundlesPerSecond, burst } = searcherTierLimits.bronze;
  expect(taken).toEqual([
    ["bundles:pubkey:x", bundlesPerSecond, burst],
    ["bundles:pubkey:x", 7, 9],
  ]);
});
