import { expect, test } from "bun:test";
import { run } from "./simulation.campaign.ts";

test("workers that share a store never give a credit twice, whatever is killed and however the clock jumps", async () => {
  for (const seed of [1, 2, 3]) expect(await run({ n: 12_000, seed })).toMatchObject({ passed: true });
});
