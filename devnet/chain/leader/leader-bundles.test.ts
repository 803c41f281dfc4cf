import { expect, test } from "bun:test";
import { run } from "./leader-bundles.campaign.ts";

test("bundles land whole or not at all, whatever is killed or abandoned meanwhile, and no lamport is lost", async () => {
  const { passed, summary } = await run({ n: 80, seed: 20_261_122 });
  expect({ passed, summary }).toMatchObject({ passed: true });
}, 60_000);
