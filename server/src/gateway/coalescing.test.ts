import { expect, test } from "bun:test";
import { run } from "./coalescing.campaign.ts";

test("identical calls on connections of their own, however spelled, are one call to the node", async () => {
  expect(await run({ n: 1_000, seed: 3 })).toEqual({
    passed: true,
    summary: "1000 identical calls in flight: 1 to the node, 1 counted as missed, 0 not answered under their own id",
  });
}, 60_000);
