import { expect, test } from "bun:test";
import { soak } from "./soak.campaign.ts";

test("under random faults lamports balance and slots go on", async () => {
  const { passed, summary } = await soak(6, 5);
  expect(summary).toContain("faults over");
  expect(passed).toBe(true);
}, 60_000);
