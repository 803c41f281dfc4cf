import { expect, test } from "bun:test";
import { ManualClock, seededRandom } from "@sluice/lib";
import { MethodLatencies } from "./method-latencies.ts";
import { RateGate } from "./node.ts";
import { HedgeBudget } from "./read-policy.ts";

test("nothing is said of a method before it was called twenty times", () => {
  const latencies = new MethodLatencies();
  for (let count = 0; count < 19; count += 1) latencies.add("getBalance", 10);
  expect(latencies.hedgeAfterMs("getBalance")).toBeNull();
  latencies.add("getBalance", 10);
  expect(latencies.hedgeAfterMs("getBalance")).not.toBeNull();
  expect(latencies.hedgeAfterMs("getBlock")).toBeNull();
});

test("the 95th percentile of wide latencies is right to within a bucket", () => {
  const latencies = new MethodLatencies();
  const random = seededRandom(1);
  const samples: number[] = [];
  for (let count = 0; count < 1_900; count += 1) {
    const ms = 5 + random.next() ** 4 * 400;
    samples.push(ms);
    latencies.add("m", ms);
  }
  const exact = samples.toSorted((left, right) => left - right)[Math.floor(samples.length * 0.95)] ?? 0;
  const estimate = latencies.hedgeAfterMs("m") ?? 0;
  expect(estimate / exact).toBeGreaterThan(0.85);
  expect(estimate / exact).toBeLessThan(1.25);
});

test("where latencies lie close together it waits for half as much again as the median", () => {
  const latencies = new MethodLatencies();
  for (let count = 0; count < 200; count += 1) latencies.add("m", 20);
  expect(latencies.hedgeAfterMs("m")).toBeGreaterThanOrEqual(30);
});

test("it forgets: after a few thousand quick calls a slow past says nothing", () => {
  const latencies = new MethodLatencies();
  for (let count = 0; count < 1_000; count += 1) latencies.add("m", 500);
  for (let count = 0; count < 20_000; count += 1) latencies.add("m", 10);
  expect(latencies.hedgeAfterMs("m")).toBeLessThan(20);
});

test("a call is given up as stalled between 2 s and 10 s, by ten times its method's 95th percentile", () => {
  const latencies = new MethodLatencies();
  expect(latencies.stalledAfterMs("unknown")).toBe(2_000);
  for (let count = 0; count < 100; count += 1) {
    latencies.add("slow", 400);
    latencies.add("slowest", 4_000);
  }
  expect(latencies.stalledAfterMs("slow")).toBeGreaterThanOrEqual(4_000);
  expect(latencies.stalledAfterMs("slow")).toBeLessThan(5_500);
  expect(latencies.stalledAfterMs("slowest")).toBe(10_000);
});

test("inventions of callers share one page", () => {
  const latencies = new MethodLatencies();
  for (let count = 0; count < 1_000; count += 1) latencies.add(`m${count}`, 10);
  expect(latencies.hedgeAfterMs("never called")).not.toBeNull();
});

test("hedges are a twentieth of the reads and ten or twenty that were saved", () => {
  const budget = new HedgeBudget();
  let taken = 0;
  for (let count = 0; count < 10_000; count += 1) {
    budget.earn();
    if (budget.take()) taken += 1;
  }
  expect(taken).toBeGreaterThan(499);
  expect(taken).toBeLessThanOrEqual(500 + 10);
});

test("a provider's rate is kept to over any second", () => {
  const clock = new ManualClock();
  const gate = new RateGate(50, { clock });
  let taken = 0;
  for (let ms = 0; ms < 10_000; ms += 1) {
    if (gate.take()) taken += 1;
    clock.advance(1);
  }
  expect(taken).toBeGreaterThan(540);
  expect(taken).toBeLessThanOrEqual(550);
});
