import { expect, test } from "bun:test";
import { ManualClock } from "@sluice/lib";
import type { Address } from "@sluice/wire/identifiers";
import { SlotTargeting } from "./slot-targeting.ts";

/** Leaders of two slots each, all of them connected but those that a test names. */
function room(absent: readonly string[] = []) {
  const clock = new ManualClock(0);
  const building = new SlotTargeting({
    clock,
    leaderAt: (slot) => `leader ${slot / 2n}` as Address,
    isConnected: (identity) => !absent.includes(identity),
  });
  const shown = (): string => {
    const target = building.target();
    return target === null ? "none" : `${target.slot} ${target.leader} ${target.isOpen}`;
  };
  return { clock, building, shown };
}

test("the open slot is built for while there is time, then the next", () => {
  const { clock, building, shown } = room();
  expect(shown()).toBe("none");
  building.slotOpened(10n);
  expect(shown()).toBe("10 leader 5 true");
  clock.advance(301);
  expect(shown()).toBe("11 leader 5 false");
});

test("slots pass although no notice of the next one comes, and nothing is handed over when too many have", () => {
  const { clock, building, shown } = room();
  building.slotOpened(10n);
  clock.advance(701);
  expect(shown()).toBe("12 leader 6 false");
  clock.advance(400);
  expect(shown()).toBe("none");
  building.slotOpened(14n);
  expect(shown()).toBe("14 leader 7 true");
});

test("a leader that takes no bundles is passed over, and one more than two slots ahead is not built for", () => {
  expect.assertions(2);
  for (const [absent, expected] of [
    [["leader 5"], "12 leader 6 false"],
    [["leader 5", "leader 6"], "none"],
  ] as const) {
    const { building, shown } = room(absent);
    building.slotOpened(10n);
    expect(shown()).toBe(expected);
  }
});

test("how long slots last is learnt within bounds, and a wall clock that is set says nothing", () => {
  const { clock, building, shown } = room();
  for (let slot = 10n; slot < 60n; slot += 1n) {
    building.slotOpened(slot);
    clock.advance(100);
  }
  building.slotOpened(60n);
  clock.jump(9_999_999);
  expect(shown()).toBe("60 leader 30 true");
  clock.advance(100);
  expect(shown()).toBe("61 leader 30 false");
});

test("a slot that is late is not over, and one is over by notice or when its length has passed", () => {
  const { clock, building } = room();
  expect(building.isOver(10n)).toBe(true);
  building.slotOpened(10n);
  clock.advance(399);
  expect([9n, 10n, 11n].map((slot) => building.isOver(slot))).toEqual([true, false, false]);
  clock.advance(2);
  expect([10n, 11n].map((slot) => building.isOver(slot))).toEqual([true, false]);
  building.slotOpened(12n);
  expect([11n, 12n].map((slot) => building.isOver(slot))).toEqual([true, false]);
});
