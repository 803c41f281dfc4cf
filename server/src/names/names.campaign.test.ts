import { expect, test } from "bun:test";
import { run } from "./names.campaign.ts";

test("a slice of the campaign: no wrong owner, no wrong refusal, no fault but 502", async () => {
  const { passed, summary } = await run({ n: 3_000, seed: 20261120 });
  expect(summary).toMatch(/[1-9][0-9]* owners/);
  expect({ passed, summary: passed ? "" : summary }).toEqual({ passed: true, summary: "" });
}, 30_000);
