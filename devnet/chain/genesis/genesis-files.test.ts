import { expect, test } from "bun:test";
import { run } from "./genesis-files.campaign.ts";

test("no damaged genesis file throws: it is read, or its errors are reported", async () => {
  const { passed, summary } = await run({ n: 300, seed: 20_261_121 });
  expect({ passed, summary }).toMatchObject({ passed: true });
}, 60_000);
