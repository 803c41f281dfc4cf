import { expect, test } from "bun:test";
import { run } from "./malformed-calls.campaign.ts";

test("malformed transactions and bodies are answered, and cost the chain nothing", async () => {
  const { passed, summary } = await run({ n: 4_000, seed: 7 });
  expect(summary).toContain("4000 malformed calls");
  expect(passed).toBe(true);
}, 30_000);
