import { expect, test } from "bun:test";
import { sweepReplays } from "./sealed-bundles.ts";

test("expired replays are deleted in steps, so many a sweep", async () => {
  const state = { left: 30 };
  const replays = {
    forgetExpired: async () => {
      const count = Math.min(1, state.left);
      state.left -= count;
      return count;
    },
  };
  await sweepReplays(replays);
  expect(state.left).toBe(10);
  await sweepReplays(replays);
  expect(state.left).toBe(0);
});
