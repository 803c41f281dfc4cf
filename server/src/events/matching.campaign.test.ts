import { expect, test } from "bun:test";
import { run } from "./matching.campaign.ts";

test("a slice of the campaign: drawn transactions are told to exactly those whose filters they meet", async () => {
  const { passed, summary } = await run({ n: 2_500, seed: 20_261_127 });
  expect({ passed, summary: passed ? "" : summary }).toEqual({ passed: true, summary: "" });
});
