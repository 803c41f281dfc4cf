import { expect, test } from "bun:test";
import { ManualClock } from "@sluice/lib";
import { Fresh } from "./fresh.ts";

/** A value that counts its readings; each waits until the test lets it end. */
class Readings {
  readonly clock = new ManualClock();
  readonly waiting: PromiseWithResolvers<number>[] = [];
  readonly failures: unknown[] = [];
  readonly fresh = new Fresh<number>(
    { freshMs: 10, staleMs: 10_000 },
    {
      clock: this.clock,
      read: () => {
        const reading = Promise.withResolvers<number>();
        this.waiting.push(reading);
        return reading.promise;
      },
      failed: (error) => this.failures.push(error),
    },
  );

  async end(value: number | Error): Promise<void> {
    const reading = this.waiting.shift();
    if (value instanceof Error) reading?.reject(value);
    else reading?.resolve(value);
    for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
  }
}

test("everybody who asks at first waits for one reading", async () => {
  const readings = new Readings();
  const asked = [readings.fresh.get(), readings.fresh.get(), readings.fresh.read()];
  expect(readings.waiting).toHaveLength(1);
  await readings.end(1);
  expect(await Promise.all(asked)).toEqual([1, 1, 1]);
  expect(readings.fresh.get()).toBe(1);
});

test("a value is served while it is young, and read anew beside before it is old, so that nobody waits", async () => {
  const readings = new Readings();
  const first = readings.fresh.get();
  await readings.end(1);
  await first;
  readings.clock.advance(7);
  expect([readings.fresh.get(), readings.waiting.length]).toEqual([1, 0]);
  readings.clock.advance(1);
  expect([readings.fresh.get(), readings.fresh.get(), readings.waiting.length]).toEqual([1, 1, 1]);
  readings.clock.advance(2);
  await readings.end(2);
  expect(readings.fresh.get()).toBe(2);
});

test("a value that nobody asked for in time is not served before it is read anew", async () => {
  const readings = new Readings();
  const first = readings.fresh.get();
  await readings.end(1);
  await first;
  readings.clock.advance(11);
  const asked = [readings.fresh.get(), readings.fresh.get()];
  expect([asked.every((each) => each instanceof Promise), readings.waiting.length]).toEqual([true, 1]);
  await readings.end(2);
  expect(await Promise.all(asked)).toEqual([2, 2]);
  expect([readings.fresh.get(), readings.clock.pendingTimers]).toEqual([2, 0]);
});

test("a reading that fails is told once, the old value is served, and nodes are not asked again at once", async () => {
  const readings = new Readings();
  const first = readings.fresh.get();
  await readings.end(1);
  await first;
  readings.clock.advance(20);
  const error = new Error("away");
  const asked = [readings.fresh.get(), readings.fresh.get()];
  await readings.end(error);
  expect(await Promise.all(asked)).toEqual([1, 1]);
  expect(readings.failures).toEqual([error]);
  expect([readings.fresh.get(), readings.waiting.length]).toEqual([1, 0]);
  readings.clock.advance(1_000);
  const later = readings.fresh.get();
  expect([later instanceof Promise, readings.waiting.length]).toEqual([true, 1]);
  await readings.end(error);
  expect(await later).toBe(1);
  expect(readings.failures).toEqual([error, error]);
  readings.clock.advance(9_000);
  const late = readings.fresh.get();
  await readings.end(error);
  await expect(late).rejects.toThrow("away");
});

test("a reading that does not end is waited for one second, then the old value is served at once", async () => {
  const readings = new Readings();
  const first = readings.fresh.get();
  await readings.end(1);
  await first;
  readings.clock.advance(11);
  const asked = readings.fresh.get();
  readings.clock.advance(1_000);
  expect(await asked).toBe(1);
  expect([readings.fresh.get(), readings.waiting.length]).toEqual([1, 1]);
  await readings.end(2);
  const next = readings.fresh.get();
  await readings.end(3);
  expect(await next).toBe(3);
});

test("a reading that is asked for anew begins after one that is under way", async () => {
  const readings = new Readings();
  const under = readings.fresh.get();
  const anew = readings.fresh.readAnew();
  expect(readings.waiting).toHaveLength(1);
  await readings.end(1);
  expect([await under, readings.waiting.length]).toEqual([1, 1]);
  await readings.end(2);
  expect([await anew, readings.fresh.get()]).toEqual([2, 2]);
});
