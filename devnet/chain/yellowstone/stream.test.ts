import { expect, test } from "bun:test";
import type { SubscribeRequest } from "@sluice/geyser";
import { StreamFaults } from "./disturbance.ts";
import { defaultLimits } from "./limits.ts";
import { YellowstoneStream } from "./stream.ts";

const nothing: SubscribeRequest = {
  accounts: {},
  slots: {},
  transactions: {},
  transactions_status: {},
  blocks: {},
  blocks_meta: {},
  entry: {},
  accounts_data_slice: [],
};

/** A stream whose client takes `takes` updates and no more. */
function openStream(takes: number, held: { isShut: boolean; open: Promise<void> } | null = null) {
  const written: Uint8Array[] = [];
  const ends: string[] = [];
  const sink = {
    write: (update: Uint8Array) => written.push(update) < takes,
    end: ({ status, details }: { status: string; details: string }) => ends.push(`${status} ${details}`),
  };
  const faults = new StreamFaults();
  const stream = new YellowstoneStream({ ...defaultLimits, updatesMax: 3, replaySlots: 0 }, sink, {
    faults,
    kept: () => null,
    pass: async () => held?.open,
    isHeld: () => held?.isShut === true,
    now: () => 0,
  });
  return { stream, written, ends, faults };
}

test("a client that does not read is told that it lags, after as many updates as may wait", () => {
  const { stream, written, ends } = openStream(1);
  for (let sent = 0; sent < 3; sent += 1) stream.ping();
  expect(ends).toEqual([]);
  stream.ping();
  expect(ends).toEqual(["INTERNAL lagged to send an update"]);
  stream.ping();
  stream.drained();
  expect(written).toHaveLength(1);
});

test("a frozen node sends nothing until it goes on, and then what it held", async () => {
  const { promise: open, resolve } = Promise.withResolvers<void>();
  const held = { isShut: true, open };
  const { stream, written } = openStream(10, held);
  stream.ping();
  expect(written).toHaveLength(0);
  held.isShut = false;
  resolve();
  await Bun.sleep(0);
  expect(written).toHaveLength(2);
});

test("a node without replay says so", () => {
  const { stream, ends } = openStream(10);
  stream.request({ ...nothing, from_slot: "5" });
  expect(ends).toEqual(["INTERNAL from_slot is not supported"]);
});

test("a refusing node ends every stream", () => {
  const { ends, faults } = openStream(10);
  expect(faults.closeAll()).toBe(1);
  expect(ends).toEqual(["UNAVAILABLE server is shutting down try again later"]);
  expect(faults.closeAll()).toBe(0);
});
