import { expect, test } from "bun:test";
import { run } from "./failover.campaign.ts";

test("a node that is killed under load costs no read", async () => {
  const { passed, summary } = await run({ n: 4, seed: 3 });
  expect(summary).toContain("0 failed");
  expect(passed).toBe(true);
}, 60_000);
