import { expect, test } from "bun:test";
import { seededRandom } from "@sluice/lib";
import { run } from "./ingest.campaign.ts";
import { drawPlan } from "./testing/plan.ts";
import { World } from "./testing/schedule.ts";

test("followers are told the chain in schedules of faults", async () => {
  expect(await run({ n: 40, seed: 3 })).toMatchObject({ passed: true });
}, 60_000);

test("a schedule is a function of its seed", async () => {
  // The last three have a fork beside a block that nobody has.
  for (const seed of [5_082, 5_219, 5_282, 10_442, 402_435_988, 1_015_462_264, 1_079_323_497]) {
    const again = async () => await new World(seed, drawPlan(seededRandom(seed))).run();
    const first = await again();
    expect(first.faults).toEqual([]);
    expect(await again()).toEqual(first);
  }
}, 60_000);
