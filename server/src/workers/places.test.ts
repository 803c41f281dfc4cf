import { expect, test } from "bun:test";
import { HostPlaces, ParentPlaces } from "./places.ts";

test("an account's places hold over all processes, and those of one that ended are free at once", () => {
  const places = new HostPlaces();
  for (const pid of [11, 12]) places.joined(pid);
  expect([11, 12, 11].map((pid) => places.enter(pid, "a", 3))).toEqual([true, true, true]);
  expect([places.enter(12, "a", 3), places.enter(12, "b", 3)]).toEqual([false, true]);
  places.ended(11);
  expect([places.of("a"), places.total]).toEqual([1, 2]);
  expect([12, 12, 12].map((pid) => places.enter(pid, "a", 3))).toEqual([true, true, false]);
});

test("what a process says after its end takes no place, and what it never held frees none", () => {
  const places = new HostPlaces();
  places.joined(11);
  places.joined(12);
  places.enter(11, "a", 5);
  places.leave(12, "a");
  expect(places.of("a")).toBe(1);
  places.ended(11);
  expect(places.enter(11, "a", 5)).toBe(false);
  places.leave(11, "a");
  expect([places.of("a"), places.total]).toEqual([0, 0]);
});

test("of those that hold too many, as many give their place back as are too many", () => {
  const places = new HostPlaces();
  places.joined(11);
  places.joined(12);
  for (const pid of [11, 12, 11, 12]) places.enter(pid, "a", 4);
  expect([11, 12, 11, 12].map((pid) => places.leaveBeyond(pid, "a", 2))).toEqual([true, true, false, false]);
  expect(places.of("a")).toBe(2);
});

test("a place that the parent gives too late is given back", async () => {
  const told: unknown[] = [];
  let late: ((value: unknown) => void) | undefined;
  const places = new ParentPlaces({
    ask: async (_topic, _limitMs, whenLate) => {
      late = whenLate;
      throw new Error("no answer in time");
    },
    tell: (topic) => void told.push(topic),
  });
  expect(await places.enter("a", 3)).toBe(false);
  late?.(false);
  expect(told).toEqual([]);
  late?.(true);
  expect(told).toEqual([{ what: "leave", accountId: "a" }]);
});
