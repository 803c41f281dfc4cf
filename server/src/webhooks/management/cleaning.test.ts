import { expect, test } from "bun:test";
import { ManualClock } from "@sluice/lib";
import { WebhookCleaning } from "./cleaning.ts";

const settle = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
};

test("what is left is deleted in steps until nothing is, after a deletion and once a minute, and faults are told", async () => {
  const clock = new ManualClock(0);
  const left = [2_000, 700, 1, 0, 0];
  const asked: number[] = [];
  const faults: unknown[] = [];
  let isAway = false;
  const store = {
    clean: async (most: number) => {
      if (isAway) throw new Error("away");
      asked.push(most);
      return left.shift() ?? 0;
    },
  };
  {
    await using cleaning = new WebhookCleaning({ clock, store, onError: (error) => faults.push(error) });
    cleaning.deleted();
    clock.advance(1);
    await settle();
    expect(asked).toEqual([2_000, 2_000, 2_000, 2_000]);
    clock.advance(60_000);
    await settle();
    expect(asked.length).toBe(5);
    isAway = true;
    clock.advance(60_000);
    await settle();
    expect(faults).toEqual([new Error("away")]);
  }
  isAway = false;
  clock.advance(600_000);
  await settle();
  expect(asked.length).toBe(5);
});
