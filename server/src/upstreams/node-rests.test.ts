import { expect, test } from "bun:test";
import { ManualClock } from "@sluice/lib";
import { NodeRests } from "./node-rests.ts";

function fresh() {
  const clock = new ManualClock();
  return { clock, rests: new NodeRests({ clock }) };
}

/** Milliseconds until the whole node may be asked; null when it may. */
const leftOf = ({ clock, rests }: ReturnType<typeof fresh>): number | null =>
  rests.whole === null ? null : rests.whole.untilMs - clock.monotonic();

test("a node rests until its Retry-After, and never longer than a minute", () => {
  const world = fresh();
  expect(world.rests.limited(7_000)).toBe(true);
  expect(world.rests.whole?.reason).toBe("limited");
  world.clock.advance(6_999);
  expect(leftOf(world)).toBe(1);
  world.clock.advance(1);
  expect(leftOf(world)).toBeNull();
  world.rests.limited(86_400_000);
  expect(leftOf(world)).toBe(60_000);
});

test("without a Retry-After rests double from a second to half a minute, until a good answer", () => {
  const world = fresh();
  for (const expected of [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]) {
    world.rests.limited(null);
    expect(leftOf(world)).toBe(expected);
    world.clock.advance(expected);
  }
  world.rests.passed();
  world.rests.limited(null);
  expect(leftOf(world)).toBe(1_000);
});

test("refusals of calls that were in flight, and their good answers, change nothing but for a later Retry-After", () => {
  const world = fresh();
  world.rests.limited(null);
  for (let count = 0; count < 50; count += 1) expect(world.rests.limited(null)).toBe(false);
  world.rests.passed();
  expect(leftOf(world)).toBe(1_000);
  world.rests.limited(500);
  expect(leftOf(world)).toBe(1_000);
  world.rests.limited(5_000);
  expect(leftOf(world)).toBe(5_000);
  world.clock.advance(5_000);
  world.rests.limited(null);
  expect(leftOf(world)).toBe(2_000);
});

test("a refused method rests half a minute by itself, and the number of remembered methods is bounded", () => {
  const { clock, rests } = fresh();
  expect(rests.methodRefused("getBlock")).toBe(true);
  expect(rests.methodRefused("getBlock")).toBe(false);
  expect([rests.whole, rests.refuses("getBlock", 0), rests.refuses("getSlot", 0)]).toEqual([null, true, false]);
  expect(rests.methods).toEqual([{ method: "getBlock", untilMs: 30_000 }]);
  clock.advance(30_000);
  expect([rests.refuses("getBlock", clock.monotonic()), rests.methods]).toEqual([false, []]);
  for (let count = 0; count < 1_000; count += 1) rests.methodRefused(`method${count}`);
  expect(rests.methods.length).toBe(64);
  expect(rests.refuses("method999", clock.monotonic())).toBe(true);
});

test("a denial lasts until the node accepts, and is asked about with growing pauses", () => {
  const world = fresh();
  for (const expected of [1_000, 2_000, 4_000]) {
    world.rests.denied();
    expect(world.rests.whole?.reason).toBe("denied");
    expect(leftOf(world)).toBe(expected);
    world.clock.advance(expected);
    expect(world.rests.isDenialOver).toBe(true);
    expect(leftOf(world)).toBe(0);
  }
  world.rests.accepted();
  expect([leftOf(world), world.rests.isDenialOver]).toEqual([null, false]);
});

test("an operator's order ends every rest", () => {
  const world = fresh();
  world.rests.limited(60_000);
  world.rests.denied();
  world.rests.methodRefused("getBlock");
  world.rests.clear();
  expect([leftOf(world), world.rests.methods]).toEqual([null, []]);
});
