import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { BoundedQueue } from "./bounded-queue.ts";

describe("BoundedQueue", () => {
  test("refuses the item that does not fit and keeps what it holds", () => {
    const queue = new BoundedQueue<number>({ max: 2 });
    expect([queue.push(1), queue.push(2), queue.push(3)]).toEqual([true, true, false]);
    expect(queue.take(10)).toEqual([1, 2]);
    expect(queue.push(4)).toBe(true);
  });

  test("counts what waits, also while what was taken is not compacted away", () => {
    const queue = new BoundedQueue<number>({ max: 3 });
    for (const item of [1, 2, 3]) queue.push(item);
    expect([queue.take(1), queue.length, queue.push(4), queue.push(5)]).toEqual([[1], 2, true, false]);
    expect([queue.take(9), queue.length]).toEqual([[2, 3, 4], 0]);
  });

  test("refuses a bound that is not a whole positive number", () => {
    for (const max of [0, -1, 1.5, Number.NaN]) expect(() => new BoundedQueue({ max })).toThrow(RangeError);
  });

  test("behaves as a plain array does under any order of pushes and takes", () => {
    const step = fc.oneof(fc.record({ push: fc.integer() }), fc.record({ take: fc.integer({ min: -1, max: 5 }) }));
    fc.assert(
      fc.property(fc.array(step, { maxLength: 100 }), fc.integer({ min: 1, max: 8 }), (steps, max) => {
        const queue = new BoundedQueue<number>({ max });
        const model: number[] = [];
        for (const action of steps) {
          if ("push" in action) {
            const fits = model.length < max;
            if (fits) model.push(action.push);
            expect(queue.push(action.push)).toBe(fits);
          } else {
            expect(queue.take(action.take)).toEqual(model.splice(0, Math.max(0, action.take)));
          }
          expect(queue.length).toBe(model.length);
        }
      }),
    );
  });
});
