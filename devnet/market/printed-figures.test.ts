import { expect, test } from "bun:test";
import { run } from "./printed-figures.campaign.ts";

test("printed rows agree with themselves to the last digit: change, mean, volumes, highs and lows", async () => {
  const { passed, summary } = await run({ n: 4, seed: 1 });
  expect([passed, summary]).toEqual([true, "308 rows, 0 that disagree with themselves"]);
});
