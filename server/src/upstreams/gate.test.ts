import { expect, test } from "bun:test";
import { Gate } from "./gate.ts";

test("no more than its width are inside, the rest come in order, and too many are refused", async () => {
  const gate = new Gate({ width: 2, waiting: 2 });
  const order: string[] = [];
  expect([gate.enter(), gate.enter()]).toEqual([true, true]);
  const third = gate.enter();
  const fourth = gate.enter();
  expect(gate.enter()).toBe(false);
  expect(gate.inFlight).toBe(4);
  if (typeof third === "boolean" || typeof fourth === "boolean") throw new Error("they should wait");
  const waiting = [third.then(() => order.push("third")), fourth.then(() => order.push("fourth"))];
  gate.leave();
  gate.leave();
  await Promise.all(waiting);
  expect(order).toEqual(["third", "fourth"]);
  gate.leave();
  gate.leave();
  expect([gate.inFlight, gate.enter()]).toEqual([0, true]);
});
