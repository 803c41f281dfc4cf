import { expect, test } from "bun:test";
import { ManualClock } from "@sluice/lib";
import { run } from "./limits.campaign.ts";
import { createLimits } from "./limits.ts";

const boot = (bucketsMax?: number) => {
  const clock = new ManualClock(1_800_000_000_000);
  return { clock, limits: createLimits(bucketsMax === undefined ? {} : { bucketsMax }, { clock }) };
};

test("a bucket gives its burst at once and its rate after that, to the token", () => {
  const { clock, limits } = boot();
  const takes = (count: number): number => {
    let allowed = 0;
    for (let index = 0; index < count; index += 1) if (limits.take("a", 10, 20).allowed) allowed += 1;
    return allowed;
  };
  expect(takes(50)).toBe(20);
  clock.advance(99.999);
  expect(takes(5)).toBe(0);
  clock.advance(0.001);
  expect(takes(5)).toBe(1);
  clock.advance(1_000);
  expect(takes(50)).toBe(10);
  clock.advance(86_400_000);
  expect(takes(50)).toBe(20);
});

test("over an hour of takes at odd moments exactly burst + rate x time is given", () => {
  const { clock, limits } = boot();
  let allowed = 0;
  for (let index = 0; index < 360_000; index += 1) {
    if (limits.take("a", 7, 14).allowed) allowed += 1;
    clock.advance(10);
  }
  // The last take lies 10 ms before the hour is full, which no whole token falls into.
  expect(allowed).toBe(14 + 7 * 3_600 - 1);
});

test("a decision reports limit, burst, remaining, reset and how long to wait", () => {
  const { clock, limits } = boot();
  expect(limits.take("a", 10, 20)).toEqual({
    allowed: true,
    limit: 10,
    burst: 20,
    remaining: 19,
    resetAt: 1_800_000_001,
    retryAfterSeconds: 0,
  });
  expect(limits.take("a", 10, 20, 19).remaining).toBe(0);
  expect(limits.take("a", 10, 20)).toMatchObject({
    allowed: false,
    remaining: 0,
    resetAt: 1_800_000_002,
    retryAfterSeconds: 1,
  });
  expect(limits.take("a", 10, 20, 15)).toMatchObject({ allowed: false, retryAfterSeconds: 2 });
  clock.advance(1_500);
  expect(limits.take("a", 10, 20, 15)).toMatchObject({ allowed: true, remaining: 0 });
});

test("a refused take takes nothing, and one over the burst is never allowed", () => {
  const { limits } = boot();
  expect(limits.take("a", 10, 20, 21)).toMatchObject({ allowed: false, remaining: 20, retryAfterSeconds: 1 });
  expect(limits.take("a", 10, 20, 20).allowed).toBe(true);
});

test("waiting the reported time is always enough, and a second less never is when more than one is requested", () => {
  for (const cost of [1, 3, 7, 20]) {
    const { clock, limits } = boot();
    limits.take("a", 3, 20, 20);
    const { retryAfterSeconds } = limits.take("a", 3, 20, cost);
    clock.advance((retryAfterSeconds - 1) * 1_000);
    expect(limits.take("a", 3, 20, cost).allowed).toBe(false);
    clock.advance(1_000);
    expect(limits.take("a", 3, 20, cost).allowed).toBe(true);
  }
});

test("neither face of a clock that jumps mints a token", () => {
  const { clock, limits } = boot();
  limits.take("a", 10, 20, 20);
  clock.jump(0);
  expect(limits.take("a", 10, 20).allowed).toBe(false);
  clock.jump(4_000_000_000_000);
  expect(limits.take("a", 10, 20).allowed).toBe(false);
  clock.advance(-60_000);
  expect(limits.take("a", 10, 20).allowed).toBe(false);
  clock.advance(60_000);
  expect(limits.take("a", 10, 20).allowed).toBe(false);
  clock.advance(100);
  expect(limits.take("a", 10, 20).allowed).toBe(true);
});

test("a change of tier keeps the tokens within the new burst and credits the past at the old rate", () => {
  const { clock, limits } = boot();
  limits.take("a", 10, 20, 20);
  clock.advance(1_000);
  expect(limits.take("a", 1_000, 2_000)).toMatchObject({ allowed: true, remaining: 9, limit: 1_000 });
  clock.advance(10_000);
  expect(limits.take("a", 1, 2)).toMatchObject({ allowed: true, remaining: 1 });
});

test("a change of the rate alone counts from then on, and so does one of the burst alone", () => {
  const { clock, limits } = boot();
  const takes = (name: string, rate: number, burst: number): number => {
    let allowed = 0;
    for (let index = 0; index < 60; index += 1) if (limits.take(name, rate, burst).allowed) allowed += 1;
    return allowed;
  };
  expect([takes("rate", 10, 20), takes("rate", 100, 20)]).toEqual([20, 0]);
  clock.advance(100);
  expect(takes("rate", 100, 20)).toBe(10);
  expect([takes("burst", 10, 20), takes("burst", 10, 40)]).toEqual([20, 0]);
  clock.advance(4_000);
  expect(takes("burst", 10, 40)).toBe(40);
});

test("only full buckets are forgotten, and made-up names get no burst of their own when none is", () => {
  const { clock, limits } = boot(4);
  for (const name of ["a", "b", "c", "d"]) limits.take(name, 10, 20, 20);
  let allowed = 0;
  for (let index = 0; index < 20_000; index += 1) if (limits.take(`made-up:${index}`, 10, 20).allowed) allowed += 1;
  expect(allowed).toBe(256 * 20);
  expect(limits.size).toBe(4 + 256);
  for (const name of ["a", "b", "c", "d"]) expect(limits.take(name, 10, 20).allowed).toBe(false);
  clock.advance(2_000);
  expect(limits.take("new", 10, 20)).toMatchObject({ allowed: true, remaining: 19 });
  expect(limits.take("new", 10, 20).remaining).toBe(18);
});

test("a bucket that is not full again is not forgotten for a new name", () => {
  const { clock, limits } = boot(1);
  limits.take("a", 10, 20, 20);
  clock.advance(1_999);
  limits.take("new", 10, 20);
  expect(limits.size).toBe(2);
  expect(limits.take("a", 10, 20, 20)).toMatchObject({ allowed: false, remaining: 19 });
});

test("numbers that are no whole tokens are a fault of the caller", () => {
  const { limits } = boot();
  for (const [rate, burst, cost] of [
    [0, 1, 1],
    [1.5, 3, 1],
    [1, 0, 1],
    [1, 2, -1],
    [Number.NaN, 2, 1],
    [1, 2.5, 1],
    [1, 2, 0.5],
    [-1, 2, 1],
    [1, -2, 1],
  ] as const) {
    expect(() => limits.take("a", rate, burst, cost)).toThrow(RangeError);
  }
  expect(limits.take("a", 1, 1, 0)).toMatchObject({ allowed: true, remaining: 1 });
});

test("a new name looks at sixteen buckets for one that is full, and the next new name goes on where it ended", () => {
  for (const [before, sizes] of [
    [15, [16]],
    [16, [18, 18]],
  ] as const) {
    const { limits } = boot(before + 1);
    for (let index = 0; index < before; index += 1) limits.take(`empty ${index}`, 10, 20, 20);
    limits.take("full", 10, 20, 0);
    const after = sizes.map((_, index) => {
      limits.take(`new ${index}`, 10, 20);
      return limits.size;
    });
    expect(after).toEqual([...sizes]);
  }
});

test("a bucket that was drained has nothing left, and no less than nothing", () => {
  const { clock, limits } = boot();
  limits.drain("a", 1, 2, 5);
  clock.advance(999.999);
  expect(limits.take("a", 1, 2)).toMatchObject({ allowed: false, remaining: 0 });
  clock.advance(0.001);
  expect(limits.take("a", 1, 2)).toMatchObject({ allowed: true, remaining: 0 });
  clock.advance(2_000);
  limits.drain("a", 1, 2, 1);
  expect(limits.take("a", 1, 2, 0).remaining).toBe(1);
});

test("random takes are decided as the reference decides them", async () => {
  const outcome = await run({ n: 40_000, seed: 1 });
  expect(outcome).toMatchObject({ passed: true });
});
