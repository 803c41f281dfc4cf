import { expect, test } from "bun:test";
import { ManualClock } from "@sluice/lib";
import { Breaker, breakerDefaults } from "./breaker.ts";

function fresh() {
  const clock = new ManualClock();
  return { clock, breaker: new Breaker(breakerDefaults, { clock }) };
}

const fail = (breaker: Breaker, times: number): void => {
  for (let count = 0; count < times; count += 1) breaker.failed();
};

test("a few failures, or a small share of many calls, change nothing", () => {
  const { breaker } = fresh();
  fail(breaker, 4);
  expect(breaker.state).toBe("closed");
  for (let count = 0; count < 20; count += 1) breaker.passed();
  fail(breaker, 15);
  expect(breaker.state).toBe("closed");
});

test("five failures that are half of the window's calls open it", () => {
  const { breaker } = fresh();
  for (let count = 0; count < 5; count += 1) breaker.passed();
  fail(breaker, 5);
  expect(breaker.state).toBe("open");
});

test("what lies before the window counts no more", () => {
  const { clock, breaker } = fresh();
  fail(breaker, 4);
  clock.advance(breakerDefaults.windowMs + 1_000);
  fail(breaker, 1);
  expect(breaker.state).toBe("closed");
});

test("after its rest it is half-open; a failure then makes the next rest twice as long, up to the longest", () => {
  const { clock, breaker } = fresh();
  fail(breaker, 5);
  let rest = breakerDefaults.restMs;
  for (let round = 0; round < 8; round += 1) {
    clock.advance(rest - 1);
    expect(breaker.state).toBe("open");
    clock.advance(1);
    expect(breaker.state).toBe("half-open");
    fail(breaker, 1);
    rest = Math.min(rest * 2, breakerDefaults.restMsMax);
  }
  expect(rest).toBe(breakerDefaults.restMsMax);
});

test("failures of calls that were under way when it opened do not lengthen its rest", () => {
  const { clock, breaker } = fresh();
  fail(breaker, 50);
  clock.advance(breakerDefaults.restMs);
  expect(breaker.state).toBe("half-open");
});

test("trusted again it is closed, and the past is forgotten", () => {
  const { clock, breaker } = fresh();
  fail(breaker, 5);
  clock.advance(breakerDefaults.restMs);
  breaker.trusted();
  expect(breaker.state).toBe("closed");
  fail(breaker, 4);
  expect(breaker.state).toBe("closed");
});
