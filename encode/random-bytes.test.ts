import { expect, test } from "bun:test";
import { run } from "./random-bytes.campaign.ts";

test("no bytes make an encoder throw or give what JSON cannot hold", async () => {
  expect(await run({ n: 4000, seed: 20_261_120 })).toEqual({
    passed: true,
    summary: "seed 20261120: 4000 accounts and 4000 instructions presented",
  });
});
