import { expect, test } from "bun:test";
import { ManualClock } from "@sluice/lib";
import { Fresh } from "./fresh.ts";

/** A value that counts its readings; each waits until the test lets it end. */
class Readings {
  readonly clock = new ManualClock();
  readonly waiting: PromiseWithResolvers<number>[] = [];
  readonly failures: unknown[] = [];
  readonly fresh = new Fresh<number>(
    { freshMs: 10, staleMs: 100 },
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
    for (let turn = 0; turn < 5; turn += 1) await Promise.resolve();
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

test("a value that has become old is served while a newer one is read, and one that is too old is not", async () => {
  const readings = new Readings();
  const first = readings.fresh.get();
  await readings.end(1);
  await first;
  readings.clock.advance(11);
  expect([readings.fresh.get(), readings.fresh.get(), readings.waiting.length]).toEqual([1, 1, 1]);
  await readings.end(2);
  expect(readings.fresh.get()).toBe(2);
  readings.clock.advance(101);
  const late = readings.fresh.get();
  expect(late).toBeInstanceOf(Promise);
  await readings.end(3);
  expect(await late).toBe(3);
});

test("a reading that fails is told, the old value is served, and the next question reads again", async () => {
  const readings = new Readings();
  const first = readings.fresh.get();
  await readings.end(1);
  await first;
  readings.clock.advance(50);
  expect(readings.fresh.get()).toBe(1);
  const error = new Error("away");
  await readings.end(error);
  expect(readings.failures).toEqual([error]);
  expect(readings.fresh.get()).toBe(1);
  expect(readings.waiting).toHaveLength(1);
  readings.clock.advance(100);
  const late = readings.fresh.get();
  await readings.end(error);
  await expect(late).rejects.toThrow("away");
});
