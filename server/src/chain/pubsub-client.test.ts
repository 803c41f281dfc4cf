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

test("a subscription is active from the node's acceptance to the loss of the connection, and its notices alone are its own", async () => {
  using server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: (request, self) => (self.upgrade(request) ? undefined : new Response(null, { status: 400 })),
    websocket: {
      message: (socket, data) => {
        const { id, method } = JSON.parse(String(data)) as { id: number; method: string };
        const answer = method === "taken" ? { result: 7 } : { error: { code: -32601, message: "no" } };
        socket.send(JSON.stringify({ jsonrpc: "2.0", id, ...answer }));
        if (method !== "refused") return;
        for (const [subscription, result] of [
          [8, 1],
          [7, 2],
          [7, 3],
        ]) {
          socket.send(JSON.stringify({ jsonrpc: "2.0", method: "notice", params: { subscription, result } }));
        }
        socket.send("no JSON");
        socket.close();
      },
    },
  });
  const clock = new Waits();
  const heard: string[] = [];
  const each = (method: string): PubSubSubscription => ({
    method,
    params: "[]",
    notify: (result) => void heard.push(`${method}: ${result}`),
    active: (active) => void heard.push(`${method} ${active ? "active" : "not active"}`),
  });
  const options = { url: `ws://127.0.0.1:${server.port}`, headers: {} };
  const dependencies = { clock, random: halfway, subscriptions: [each("taken"), each("refused")] };
  await using client = new PubSubClient(options, dependencies);
  client.start();
  await eventually("its loss", () => clock.ms.length === 1);
  expect(heard).toEqual([
    "taken active",
    "refused not active",
    "taken: 2",
    "taken: 3",
    "taken not active",
    "refused not active",
  ]);
});
