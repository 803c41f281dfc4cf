import { expect, test } from "bun:test";
import { run } from "./engine-tracker.campaign.ts";

test("on the first simulated chains every bundle ends once, and as the chain that won says", async () => {
  const { passed, summary } = await run({ n: 24, seed: 1 });
  expect(summary).toContain("each with one end and the right one");
  expect(passed).toBe(true);
}, 20_000);
