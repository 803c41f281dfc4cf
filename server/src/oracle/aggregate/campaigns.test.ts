import { expect, test } from "bun:test";
import { run as calibrate } from "./oracle-calibration.campaign.ts";
import { run as searchLiars } from "./oracle-liars.campaign.ts";
import { run as measureRegimes } from "./oracle-regimes.campaign.ts";
import { run as searchWorstLie } from "./oracle-worst-lie.campaign.ts";

/** First slices; the whole campaigns are in docs/campaigns.md. */
test("the higher the confidence, the smaller the error, whatever the noise", async () => {
  const { passed, summary } = await calibrate({ n: 1_200, seed: 1 });
  expect(passed, summary).toBe(true);
}, 60_000);

test("no minority's worst lie moves the price beyond the honest noise, and no split is answered", async () => {
  const { passed, summary } = await searchWorstLie({ n: 300, seed: 1 });
  expect(passed, summary).toBe(true);
}, 60_000);

test("no minority of the real eight sets a price, whatever it quotes, nor takes one away by an obvious lie", async () => {
  const { passed, summary } = await searchLiars({ n: 10_000, seed: 1 });
  expect(passed, summary).toBe(true);
}, 60_000);

test("honest markets are refused no more than by the rules before", async () => {
  const { passed, summary } = await measureRegimes({ n: 300, seed: 1 });
  expect(passed, summary).toBe(true);
}, 60_000);
