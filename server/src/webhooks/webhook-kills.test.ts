import { expect, test } from "bun:test";
import { run } from "./webhook-kills.campaign.ts";

test("a process that is killed while it schedules and delivers loses nothing, and repeats only what was under way", async () => {
  const { passed, summary } = await run({ n: 1, seed: 5, only: ["forks"] });
  expect([passed, summary]).toEqual([true, summary]);
}, 240_000);
