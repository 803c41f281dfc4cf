import { expect, test } from "bun:test";
import { run } from "./movements.campaign.ts";

test("a slice of the campaign finds no transaction whose movements are not the change of its balances", async () => {
  const { passed, summary } = await run({ n: 3000, seed: 20_261_127 });
  expect({ passed, summary }).toEqual({ passed: true, summary });
});
