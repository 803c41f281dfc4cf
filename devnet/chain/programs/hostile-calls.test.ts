import { expect, test } from "bun:test";
import { run } from "./hostile-calls.campaign.ts";

test("hostile calls of the chain's own programs never cost a pool, double a token or make lamports", async () => {
  const { passed, summary } = await run({ n: 2_000, seed: 20_261_121 });
  expect({ passed, summary }).toMatchObject({ passed: true });
}, 60_000);
