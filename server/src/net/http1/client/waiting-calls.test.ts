import { expect, test } from "bun:test";
import fc from "fast-check";
import type { PooledCall } from "./connection.ts";
import { WaitingCalls } from "./waiting-calls.ts";

const callOf = (deadlineAt: number): PooledCall => ({
  body: "",
  ownConnection: false,
  answerBytesMax: 1,
  streamsFrom: 1,
  deadlineAt,
  settle: () => {},
  isRepeated: false,
});

test("calls are taken in the order in which they came, overdue ones from wherever they stand", () => {
  const step = fc.oneof(
    { weight: 6, arbitrary: fc.record({ add: fc.integer({ min: 0, max: 20 }) }) },
    { weight: 5, arbitrary: fc.constant("take" as const) },
    { weight: 1, arbitrary: fc.record({ at: fc.integer({ min: 0, max: 20 }) }) },
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 600 }), (steps) => {
      const waiting = new WaitingCalls();
      let model: PooledCall[] = [];
      for (const action of steps) {
        if (action === "take") expect(waiting.take()).toBe(model.shift() ?? null);
        else if ("add" in action) {
          const call = callOf(action.add);
          waiting.add(call);
          model.push(call);
        } else {
          expect(waiting.takeOverdue(action.at)).toEqual(model.filter(({ deadlineAt }) => deadlineAt <= action.at));
          model = model.filter(({ deadlineAt }) => deadlineAt > action.at);
        }
        expect(waiting.size).toBe(model.length);
      }
      expect(waiting.takeAll()).toEqual(model);
      expect(waiting.take()).toBeNull();
    }),
  );
});

test("long queues are taken down to the last call", () => {
  const waiting = new WaitingCalls();
  const calls = Array.from({ length: 1_000 }, (_, index) => callOf(index));
  for (const call of calls) waiting.add(call);
  for (const call of calls) expect(waiting.take()).toBe(call);
  expect([waiting.size, waiting.take()]).toEqual([0, null]);
});
