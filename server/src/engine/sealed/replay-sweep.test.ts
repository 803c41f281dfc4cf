import { expect, test } from "bun:test";
import { ReplaySweep } from "./replay-sweep.ts";

test("what is over is forgotten in steps, so many at a time, and a store that fails is told of and asked again", async () => {
  const state = { left: 30, fails: false };
  const told: string[] = [];
  await using sweep = new ReplaySweep({
    replays: {
      forgetExpired: async () => {
        if (state.fails) throw new Error("the disk is full");
        const count = Math.min(1, state.left);
        state.left -= count;
        return count;
      },
    },
    retryableError: (what) => void told.push(what),
  });
  await Promise.all([sweep.sweep(), sweep.sweep()]);
  expect(state.left).toBe(10);
  state.fails = true;
  await sweep.sweep();
  state.fails = false;
  await sweep.sweep();
  expect([state.left, told]).toEqual([0, ["replays"]]);
});
