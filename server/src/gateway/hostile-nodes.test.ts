import { expect, test } from "bun:test";
import { run } from "./hostile-nodes.campaign.ts";

test("hostile nodes show a customer nothing while another is well, bring no key back in time, and put no other node out", async () => {
  const { passed, summary } = await run({ n: 60, seed: 5 });
  expect(summary.split("\n").slice(1)).toEqual([]);
  expect(passed).toBe(true);
}, 60_000);

test("a cache that keeps answers when the head moves is found out", async () => {
  const { passed, summary } = await run({ n: 200, seed: 5 }, { keepsSlotAnswers: true });
  expect(passed).toBe(false);
  expect(summary).toContain("from an abandoned branch");
}, 60_000);
