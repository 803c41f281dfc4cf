import { expect, test } from "bun:test";
import { run } from "./simulator-fidelity.campaign.ts";

test("bundles of the development chain's traffic have the outcome that their transactions then have on the chain", async () => {
  const { passed, summary } = await run({ n: 80, seed: 20_261_122 });
  expect({ passed, summary }).toMatchObject({ passed: true });
}, 60_000);
