import { expect, test } from "bun:test";
import { ManualClock } from "./clock.ts";
import { Paced } from "./paced.ts";

function paced(everyMs: number) {
  const clock = new ManualClock();
  let runs = 0;
  const count = (): void => {
    runs += 1;
  };
  const work = new Paced(everyMs, { nowMs: () => clock.monotonic(), work: count });
  return { clock, work, runs: () => runs };
}

test("work that is asked for after a quiet moment runs in the same turn, once for all who ask in it", async () => {
  const { clock, work, runs } = paced(60_000);
  work.ask();
  work.ask();
  expect(runs()).toBe(0);
  await Promise.resolve();
  expect(runs()).toBe(1);
  clock.advance(60_000);
  work.ask();
  await Promise.resolve();
  expect(runs()).toBe(2);
});

test("work that is asked for again too soon waits for its time, and then runs once for all who asked meanwhile", async () => {
  const { clock, work, runs } = paced(20);
  work.ask();
  await Promise.resolve();
  const startedMs = performance.now();
  clock.advance(5);
  for (let index = 0; index < 10; index += 1) work.ask();
  await Promise.resolve();
  expect(runs()).toBe(1);
  while (runs() === 1) await new Promise((resolve) => setTimeout(resolve, 1));
  expect(performance.now() - startedMs).toBeGreaterThanOrEqual(14);
  expect(runs()).toBe(2);
});
