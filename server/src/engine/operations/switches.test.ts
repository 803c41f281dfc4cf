import { expect, test } from "bun:test";
import { ManualClock } from "@sluice/lib";
import { Switches } from "./switches.ts";

/** A store whose answers come when they are let go, each with what stood when it was asked. */
function slowStore() {
  const waiting: (() => void)[] = [];
  const store = {
    halted: false,
    all: () =>
      new Promise<readonly { name: "halted"; isOn: boolean }[]>((resolve) => {
        const isOn = store.halted;
        waiting.push(() => resolve([{ name: "halted", isOn }]));
      }),
    release: async () => {
      while (waiting.length > 0) {
        waiting.shift()?.();
        // The look that waited for this answer asks after some turns of the microtask queue.
        for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
      }
    },
  };
  return store;
}

test("a look reports what stood when it was asked for, though another was under way that had read before", async () => {
  const store = slowStore();
  await using switches = new Switches({ clock: new ManualClock(), store, retryableError: () => undefined });
  const before = switches.refresh();
  // Reads begin after a turn: let the first one read that nothing is switched.
  await Promise.resolve();
  await Promise.resolve();
  store.halted = true;
  const after = switches.refresh();
  await store.release();
  await Promise.all([before, after]);
  expect([switches.isHalted, switches.isInMaintenance]).toEqual([true, true]);
});

test("what the store cannot answer stays as it was, and is reported", async () => {
  const retryableError: string[] = [];
  let fails = false;
  const store = {
    all: async () => {
      if (fails) throw new Error("gone");
      return [{ name: "maintenance", isOn: true }] as const;
    },
  };
  await using switches = new Switches({
    clock: new ManualClock(),
    store,
    retryableError: (what) => void retryableError.push(what),
  });
  await switches.refresh();
  fails = true;
  await switches.refresh();
  expect([switches.isInMaintenance, switches.isHalted, retryableError]).toEqual([true, false, ["switches"]]);
});
