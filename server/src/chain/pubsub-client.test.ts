import { expect, test } from "bun:test";
import { backoffDelayMs, ManualClock, type Random, type Timer } from "@sluice/lib";
import { eventually } from "@sluice/lib/testing";
import { PubSubClient, type PubSubSubscription } from "./pubsub-client.ts";

const halfway: Random = { next: () => 0.5, bytes: (count) => new Uint8Array(count) };
const subscriptions: readonly PubSubSubscription[] = [];
const waits = (count: number): number[] =>
  Array.from({ length: count }, (_unused, at) => backoffDelayMs(at, { baseMs: 250, maxMs: 10_000 }, halfway));

/** Timers that a test fires when it wants to. */
class Waits {
  readonly ms: number[] = [];
  run: (() => void) | null = null;
  readonly #clock = new ManualClock();

  after(delayMs: number, run: () => void): Timer {
    this.ms.push(delayMs);
    this.run = run;
    return this.#clock.after(delayMs, () => undefined);
  }
}

test("an address that cannot be connected to is tried for ever, after the first wait and then ever longer ones", async () => {
  const clock = new Waits();
  await using client = new PubSubClient({ url: "http://[", headers: {} }, { clock, random: halfway, subscriptions });
  client.start();
  for (let count = 1; count < 8; count += 1) clock.run?.();
  expect(clock.ms).toEqual(waits(8));
  await client[Symbol.asyncDispose]();
  clock.run?.();
  expect(clock.ms).toHaveLength(8);
});

test("a connection that was open begins with the first wait again when it is lost", async () => {
  using server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: (request, self) => (self.upgrade(request) ? undefined : new Response(null, { status: 400 })),
    websocket: { open: (socket) => socket.close(), message: () => undefined },
  });
  const clock = new Waits();
  const options = { url: `ws://127.0.0.1:${server.port}`, headers: {} };
  await using client = new PubSubClient(options, { clock, random: halfway, subscriptions });
  client.start();
  for (let count = 1; count <= 3; count += 1) {
    await eventually("its loss", () => clock.ms.length === count);
    clock.run?.();
  }
  expect(new Set(clock.ms)).toEqual(new Set(waits(1)));
});
