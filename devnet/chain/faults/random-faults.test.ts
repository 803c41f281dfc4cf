import { expect, test } from "bun:test";
import { run } from "./random-faults.campaign.ts";

test("whatever goes wrong in whatever order, no lamport is lost, blocks stay linked and commitments go forward", async () => {
  for (const seed of [1, 2]) {
    const { passed, summary } = await run({ n: 40, seed });
    expect(summary).toContain("40 faults");
    expect(passed).toBe(true);
  }
}, 30_000);
