import { expect, test } from "bun:test";
import { run } from "./shared-rates.campaign.ts";

test("several processes under kills, losses of Redis and jumping clocks keep to the rate and the burst", async () => {
  for (const seed of [1, 2]) expect(await run({ n: 12_000, seed })).toMatchObject({ passed: true });
});
