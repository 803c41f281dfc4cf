import { expect, test } from "bun:test";
import { run } from "./split-bytes.campaign.ts";

test("a connection makes the same of its bytes however they are cut", async () => {
  const { passed, summary } = await run({ n: 400, seed: 11 });
  expect(summary).toContain("the same each time");
  expect(passed).toBe(true);
}, 60_000);
