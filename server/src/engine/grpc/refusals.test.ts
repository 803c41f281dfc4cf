import { expect, test } from "bun:test";
import { ManualClock } from "@sluice/lib";
import { Refusals } from "./refusals.ts";

function paced() {
  const clock = new ManualClock();
  const sleeps: number[] = [];
  const wakers: (() => void)[] = [];
  const sleep = (ms: number): Promise<void> => {
    sleeps.push(ms);
    return new Promise((resolve) => wakers.push(resolve));
  };
  return { clock, sleeps, wakers, refusals: new Refusals({ clock, sleep }) };
}

test("the first refusals are sent at once, those after them a hundred a second, and none later than a second", () => {
  const { clock, sleeps, refusals } = paced();
  const reported = Array.from({ length: 20 }, () => refusals.pace("one"));
  expect(reported).toEqual(reported.map(() => null));
  for (let count = 0; count < 300; count += 1) expect(refusals.pace("one")).not.toBe(null);
  expect(sleeps.slice(0, 3)).toEqual([10, 20, 30]);
  expect(sleeps.slice(100)).toEqual(Array.from({ length: 200 }, () => 1_000));
  clock.advance(1_000);
  expect(refusals.pace("one")).not.toBe(null);
  expect(sleeps.at(-1)).toBe(10);
});

test("a searcher that is above the rate now and then, and each that does not flood, receives its refusal at once", () => {
  const { clock, refusals } = paced();
  for (let count = 0; count < 1_000; count += 1) {
    void refusals.pace("flood");
    void refusals.pace("flood");
    expect(refusals.pace("now and then")).toBe(null);
    clock.advance(10);
  }
});

test("as many wait as may; one more is sent at once, and room comes back when some were sent", async () => {
  const { refusals, wakers } = paced();
  const waits: (Promise<void> | null)[] = [];
  for (let count = 0; count < 20 + 8_192; count += 1) waits.push(refusals.pace("one"));
  expect(waits.filter((wait) => wait !== null).length).toBe(8_192);
  expect(refusals.pace("one")).toBe(null);
  wakers[0]?.();
  await waits[20];
  expect(refusals.pace("one")).not.toBe(null);
  expect(refusals.pace("one")).toBe(null);
});
