import { beforeEach, expect, test } from "bun:test";
import type { CommitmentName } from "@sluice/contract/rpc";
import { ManualClock } from "@sluice/lib";
import type { Slot } from "@sluice/wire/identifiers";
import type { Degradation } from "../model/events.ts";
import { HealthMonitor, stillMs } from "./health-monitor.ts";

let clock: ManualClock;
let notice: (commitment: CommitmentName, slot: Slot) => void;
let confirmed: Slot | null;
let settled: Slot | null;
let leaders: number;
let simulators: number;
let reported: (readonly Degradation[])[];
let soundness: HealthMonitor;

beforeEach(() => {
  clock = new ManualClock();
  [confirmed, settled, leaders, simulators, reported] = [100n as Slot, 99n as Slot, 1, 2, []];
  soundness = new HealthMonitor({
    clock,
    chain: {
      onSlot: (listener) => {
        notice = listener;
        return { [Symbol.dispose]: () => {} };
      },
    },
    confirmedSlot: () => confirmed,
    settledThrough: () => settled,
    leaders: () => leaders,
    simulators: () => simulators,
    changed: (degraded) => reported.push(degraded),
  });
});

test("nothing is lacking while slots come, blocks are read, a leader takes bundles and a simulation runs", () => {
  notice("processed", 101n as Slot);
  clock.advance(stillMs - 1);
  soundness.check();
  expect([soundness.degraded(), reported]).toEqual([[], []]);
});

test("each thing that is lacking is named, and reported once as it comes and once as it goes", () => {
  leaders = 0;
  soundness.check();
  soundness.check();
  simulators = 0;
  settled = 67n as Slot;
  soundness.check();
  [leaders, simulators, settled] = [1, 1, 68n as Slot];
  soundness.check();
  expect(reported).toEqual([["no_leader"], ["chain_unread", "no_leader", "no_simulation"], []]);
  confirmed = null;
  expect(soundness.degraded()).toEqual(["chain_unread"]);
});

test("a head that stands still is reported, also where nodes repeat it or fall back, and is over with the next new slot", () => {
  notice("processed", 101n as Slot);
  clock.advance(stillMs - 1);
  notice("processed", 101n as Slot);
  notice("processed", 90n as Slot);
  notice("confirmed", 102n as Slot);
  clock.advance(1);
  expect(soundness.degraded()).toEqual(["chain_still"]);
  notice("processed", 102n as Slot);
  expect(soundness.degraded()).toEqual([]);
});

test("an engine that ends lacks nothing any more", () => {
  leaders = 0;
  soundness.check();
  soundness[Symbol.dispose]();
  expect(reported).toEqual([["no_leader"], []]);
});
