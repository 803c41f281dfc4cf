import { expect, test } from "bun:test";
import { run } from "./hostile-instructions.campaign.ts";

test("arbitrary instructions to every built-in program never end the machine nor create or lose lamports", async () => {
  const { passed, summary } = await run({ n: 4_000, seed: 20_261_120 });
  expect({ passed, summary }).toMatchObject({ passed: true });
});
