import { expect, test } from "bun:test";
import { run } from "./parse.campaign.ts";

test("a slice of the campaign finds no mutated transaction that is a crash or of which a fact is invented", async () => {
  const { passed, summary } = await run({ n: 1500, seed: 19 });
  expect({ passed, summary }).toEqual({ passed: true, summary });
});
