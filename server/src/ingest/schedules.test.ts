import { expect, test } from "bun:test";
import { seededRandom } from "@sluice/lib";
import { run } from "./ingest.campaign.ts";
import { drawPlan } from "./testing/plan.ts";
import { World } from "./testing/schedule.ts";
import { wellNode } from "./testing/simulated-node.ts";

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

test("one final block in 64 is read again, and which one follows from the seed alone", async () => {
  const plan = { form: "alone", slots: 70, unavailable: [], forks: false, kills: 0, stalls: 0, outages: 0 } as const;
  const seen: number[] = [];
  for (let seed = 0; seed < 40; seed += 1) {
    const world = new World(seed, { ...plan, nodes: [wellNode, wellNode] });
    expect((await world.run()).faults).toEqual([]);
    seen.push(...world.resultReads.slots);
  }
  // 40 times 70 slots make 44 readings on average; a multiple of 64 is no more often read than another slot.
  expect([seen.length > 20, seen.length < 90, new Set(seen).size > 15]).toEqual([true, true, true]);
  expect(seen.filter((slot) => slot >= 128 && slot <= 130).length).toBeLessThan(10);
}, 60_000);
