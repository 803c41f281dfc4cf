import { expect, test } from "bun:test";
import { Emitter, KeyedEmitter } from "./emitter.ts";

test("a listener that throws is reported and does not stop the others", () => {
  const errors: unknown[] = [];
  const events: string[] = [];
  const emitter = new Emitter<[string]>((error) => errors.push(error));
  const broken = emitter.add(() => {
    throw new Error("broken");
  });
  emitter.add((event) => events.push(event));
  emitter.emit("one");
  broken[Symbol.dispose]();
  emitter.emit("two");
  expect([events, errors]).toEqual([["one", "two"], [new Error("broken")]]);
});

test("a listener that is added twice is called twice, and removed one at a time", () => {
  let calls = 0;
  const emitter = new Emitter<[]>(() => {});
  const count = (): void => {
    calls += 1;
  };
  const first = emitter.add(count);
  emitter.add(count);
  emitter.emit();
  first[Symbol.dispose]();
  emitter.emit();
  expect([calls, emitter.size]).toEqual([3, 1]);
});

test("listeners of a key hear its events alone", () => {
  const events: string[] = [];
  const emitter = new KeyedEmitter<string, [number]>(() => {});
  const following = emitter.add("a", (event) => events.push(`a${event}`));
  emitter.add("b", (event) => events.push(`b${event}`));
  emitter.emit("a", 1);
  emitter.emit("b", 2);
  following[Symbol.dispose]();
  emitter.emit("a", 3);
  expect(events).toEqual(["a1", "b2"]);
});

test("of several listeners of a key each is removed alone, and one that was cleared takes none with it", () => {
  const events: string[] = [];
  const emitter = new KeyedEmitter<string, [number]>(() => {});
  const [first] = ["first", "second"].map((name) => emitter.add("a", (event) => events.push(`${name} ${event}`)));
  first?.[Symbol.dispose]();
  emitter.emit("a", 1);
  emitter.clear();
  emitter.emit("a", 2);
  const cleared = emitter.add("a", () => events.push("cleared"));
  emitter.clear();
  emitter.add("a", (event) => events.push(`third ${event}`));
  cleared[Symbol.dispose]();
  emitter.emit("a", 3);
  expect(events).toEqual(["second 1", "third 3"]);
});
