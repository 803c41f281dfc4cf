import { expect, test } from "bun:test";
import { run } from "./transaction-parser.campaign.ts";

test("a slice of the campaign finds no transaction that kit reads differently", async () => {
  const { passed, summary } = await run({ n: 4000, seed: 20261120 });
  expect(summary).toContain("no disagreement");
  expect(passed).toBe(true);
}, 20_000);
