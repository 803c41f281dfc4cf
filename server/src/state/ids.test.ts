import { describe, expect, test } from "bun:test";
import { ManualClock, seededRandom } from "@sluice/lib";
import { createIdFactory } from "./ids.ts";

describe("ids", () => {
  test("sort in the order in which they were made, within a millisecond and when the clock steps back", () => {
    const clock = new ManualClock(1_790_000_000_000);
    const newId = createIdFactory({ clock, random: seededRandom(3) });
    const ids: string[] = [];
    for (let index = 0; index < 300; index += 1) {
      ids.push(newId("x"));
      if (index % 100 === 50) clock.advance(5);
      if (index % 100 === 99) clock.jump(clock.now() - 1_000);
    }
    expect(ids.toSorted()).toEqual(ids);
    expect(new Set(ids).size).toBe(300);
  });

  test("carry 80 random bits, and go on when those are used up within a millisecond", () => {
    const clock = new ManualClock(1_000);
    const full = { next: () => 0, bytes: (length: number) => new Uint8Array(length).fill(255) };
    const newId = createIdFactory({ clock, random: full });
    const [first, second] = [newId("x"), newId("x")];
    expect(first).toBe("x_00000000z8zzzzzzzzzzzzzzzz");
    expect(second).toBe("x_00000000z90000000000000000");
  });
});
