import { expect, test } from "bun:test";
import { run } from "./asset-index.campaign.ts";

test("a slice of the campaign finds no index that differs from the final state, whatever forks and kills there were", async () => {
  const { passed, summary } = await run({ n: 12, seed: 20_261_127 });
  expect({ passed, summary }).toEqual({ passed: true, summary });
}, 60_000);
