import { expect, test } from "bun:test";
import { ManualClock, seededRandom } from "@sluice/lib";
import { HedgeBudget } from "./hedge-budget.ts";
import { LatencyBook } from "./latency-book.ts";
import { RateGate } from "./rate-gate.ts";

test("nothing is said of a method before it was called twenty times", () => {
  const book = new LatencyBook();
  for (let count = 0; count < 19; count += 1) book.add("getBalance", 10);
  expect(book.hedgeAfterMs("getBalance")).toBeNull();
  book.add("getBalance", 10);
  expect(book.hedgeAfterMs("getBalance")).not.toBeNull();
  expect(book.hedgeAfterMs("getBlock")).toBeNull();
});

test("the 95th percentile of wide latencies is right to within a bucket", () => {
  const book = new LatencyBook();
  const random = seededRandom(1);
  const samples: number[] = [];
  for (let count = 0; count < 1_900; count += 1) {
    const ms = 5 + random.next() ** 4 * 400;
    samples.push(ms);
    book.add("m", ms);
  }
  const exact = samples.toSorted((left, right) => left - right)[Math.floor(samples.length * 0.95)] ?? 0;
  const told = book.hedgeAfterMs("m") ?? 0;
  expect(told / exact).toBeGreaterThan(0.85);
  expect(told / exact).toBeLessThan(1.25);
});

test("where latencies lie close together it waits for half as much again as the median", () => {
  const book = new LatencyBook();
  for (let count = 0; count < 200; count += 1) book.add("m", 20);
  expect(book.hedgeAfterMs("m")).toBeGreaterThanOrEqual(30);
});

test("it forgets: after a few thousand quick calls a slow past says nothing", () => {
  const book = new LatencyBook();
  for (let count = 0; count < 1_000; count += 1) book.add("m", 500);
  for (let count = 0; count < 20_000; count += 1) book.add("m", 10);
  expect(book.hedgeAfterMs("m")).toBeLessThan(20);
});

test("a call is given up as stalled between 2 s and 10 s, by ten times its method's 95th percentile", () => {
  const book = new LatencyBook();
  expect(book.stalledAfterMs("unknown")).toBe(2_000);
  for (let count = 0; count < 100; count += 1) {
    book.add("slow", 400);
    book.add("slowest", 4_000);
  }
  expect(book.stalledAfterMs("slow")).toBeGreaterThanOrEqual(4_000);
  expect(book.stalledAfterMs("slow")).toBeLessThan(5_500);
  expect(book.stalledAfterMs("slowest")).toBe(10_000);
});

test("inventions of callers share one page", () => {
  const book = new LatencyBook();
  for (let count = 0; count < 1_000; count += 1) book.add(`m${count}`, 10);
  expect(book.hedgeAfterMs("never called")).not.toBeNull();
});

test("hedges are a twentieth of the reads and ten or twenty that were saved", () => {
  const budget = new HedgeBudget();
  let taken = 0;
  for (let count = 0; count < 10_000; count += 1) {
    budget.earned();
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
