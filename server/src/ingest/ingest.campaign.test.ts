import { expect, test } from "bun:test";
import { run } from "./ingest.campaign.ts";

test("followers are told the chain and nothing else, whatever befalls sources, logs and processes", async () => {
  const { passed, summary } = await run({ n: 12, seed: 20_261_127 });
  expect(passed, summary).toBe(true);
}, 60_000);
