import { expect, test } from "bun:test";
import { run } from "./json-fidelity.campaign.ts";

test("a slice of the campaign finds no answer that is cut or judged otherwise than by JSON.parse", async () => {
  const { passed, summary } = await run({ n: 6000, seed: 20261120 });
  expect(summary).toContain("no disagreement");
  expect(passed).toBe(true);
}, 20_000);
