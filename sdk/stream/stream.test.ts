import { expect, test } from "bun:test";
import { seededRandom } from "@sluice/lib";
import { eventually } from "@sluice/lib/testing";
import { createStream, StreamError, type StreamEvent, type StreamOptions, type StreamState } from "../index.ts";
import { type PlayedEvent, PlayedStreams, processedId } from "../testing/played-streams.ts";

/** Beyond 2^53, so that one that passes through a number is another one. */
const slotOf = (index: number): bigint => 2n ** 53n + 1n + BigInt(index) * 2n;
const transaction = (index: number): PlayedEvent => ({
  type: "transaction",
  members:
    `,"slot":${slotOf(index)},"data":` + `{"signature":"s${index}","slot":${slotOf(index)},"fee":18446744073709551615}`,
});
const transactions = (from: number, count: number): PlayedEvent[] =>
  Array.from({ length: count }, (_, index) => transaction(from + index));
const slotsOf = (count: number): bigint[] => Array.from({ length: count }, (_, index) => slotOf(index));

const open = (server: PlayedStreams, options: Partial<StreamOptions> = {}) =>
  createStream({ url: server.urls, apiKey: "k&y", retryMs: { first: 1, max: 4 }, ...options });

/** Reads so many events. */
async function take<T>(subscription: AsyncIterable<T>, count: number): Promise<T[]> {
  const taken: T[] = [];
  for await (const event of subscription) {
    taken.push(event);
    if (taken.length === count) break;
  }
  return taken;
}

const failureOf = async (subscription: AsyncIterable<unknown>): Promise<unknown> =>
  await take(subscription, Number.POSITIVE_INFINITY).catch((error: unknown) => error);

test("every event comes once and in order, over hosts that close in the middle with every code", async () => {
  const random = seededRandom(20261127);
  const below = (bound: number): number => Math.floor(random.next() * bound);
  await using server = new PlayedStreams(3);
  server.breaks = () => ({
    after: 1 + below(40),
    closeCode: [1001, 1006, 1011, 4408, 4429, 4503][below(6)] ?? 1001,
  });
  await using stream = open(server);
  const subscriptions = [stream.transactions(), stream.transactions({ failed: false }), stream.accounts()];
  await Promise.all(subscriptions.map(({ begun }) => begun));
  const reading = subscriptions.map((subscription) => take<StreamEvent>(subscription, 400));
  for (let at = 0; at < 400; ) {
    const count = Math.min(400 - at, 1 + below(30));
    server.tell(...transactions(at, count));
    at += count;
    await new Promise((resolve) => setImmediate(resolve));
  }
  for (const events of await Promise.all(reading)) {
    expect(events.map((event) => ("slot" in event ? event.slot : null))).toEqual(slotsOf(400));
  }
  expect(server.connected.length).toBeGreaterThan(10);
  expect(new Set(server.connected)).toEqual(new Set([0, 1, 2]));
});

test("each kind of event has its type, and whole numbers are exact", async () => {
  await using server = new PlayedStreams();
  await using stream = open(server, { network: "devnet" });
  const subscription = stream.transactions({ accounts: ["a"] }, { from_slot: 7n });
  expect(await subscription.begun).toBe("c0");
  server.tell(
    transaction(0),
    { type: "undo", members: `,"slot":${slotOf(0)},"blockhash":"h","back_to":1` },
    { type: "gap", members: `,"from":${slotOf(1)},"to":${slotOf(2)}` },
  );
  server.drop(transaction(3), transaction(4));
  expect(await take(subscription, 4)).toEqual([
    {
      type: "transaction",
      cursor: "c1",
      slot: slotOf(0),
      data: { signature: "s0", slot: slotOf(0), fee: 2n ** 64n - 1n },
    },
    { type: "undo", cursor: "c2", slot: slotOf(0), blockhash: "h", back_to: 1n },
    { type: "gap", cursor: "c3", from: slotOf(1), to: slotOf(2) },
    { type: "lagged", dropped: 2, from_slot: slotOf(0) },
  ] as never);
  expect(server.said[0]).toEqual({
    action: "subscribe",
    channel: "transactions",
    filters: { accounts: ["a"] },
    from_slot: "7",
    cursors: true,
    ref: 1,
  });
  expect(server.addresses[0]).toEndWith("/ws?api-key=k%26y&network=devnet");
});

test("one that hears nothing goes on from where the server has come, and says so to whoever reads it", async () => {
  await using server = new PlayedStreams();
  await using stream = open(server);
  const subscription = stream.transactions();
  await subscription.begun;
  expect(subscription.cursor).toBe("c0");
  server.tell(...transactions(0, 3));
  const passed = (cursor: string): void =>
    server.say(`{"type":"cursor","subscriptionId":"transactions-x","slot":9,"cursor":"${cursor}"}`);
  passed("c3");
  const seen: (string | null)[] = [];
  for await (const _ of subscription) {
    seen.push(subscription.cursor);
    if (seen.length < 3) continue;
    passed("c7");
    await eventually("the cursor", () => subscription.cursor === "c7");
    server.close(1006);
    await eventually("it to come back", () => server.said.at(-1)?.cursor === "c7");
    break;
  }
  expect(seen).toEqual(["c1", "c2", "c3"]);
});

test("one that goes back for what was dropped misses nothing, and is not told", async () => {
  await using server = new PlayedStreams();
  await using stream = open(server);
  const subscription = stream.transactions({}, { lagged: "replay" });
  await subscription.begun;
  server.tell(...transactions(0, 3));
  server.drop(...transactions(3, 5));
  server.tell(...transactions(8, 2));
  expect((await take(subscription, 10)).map((event) => ("slot" in event ? event.slot : null))).toEqual(slotsOf(10));
});

test("a slow reader holds a bounded number of events and misses none", async () => {
  await using server = new PlayedStreams();
  await using stream = open(server, { bufferMax: 8 });
  const [slow, quick] = [stream.transactions(), stream.accounts()];
  await Promise.all([slow.begun, quick.begun]);
  const reading = take(quick, 50);
  server.tell(...transactions(0, 50));
  await reading;
  const left = (): number =>
    server.said.filter(({ action, subscriptionId }) => {
      return action === "unsubscribe" && subscriptionId === "transactions-x";
    }).length;
  await eventually("the slow one to leave", () => left() === 1);
  const read: unknown[] = [];
  for await (const event of slow) {
    read.push("slot" in event ? event.slot : null);
    if (read.length === 50) break;
    // Half of what may wait has been read: it comes back, until it is full again.
    const [rounds, isDue] = [Math.floor(read.length / 8), read.length % 8 === 0 && read.length < 45];
    if (isDue) await eventually("it to leave again", () => left() > rounds);
  }
  expect(read).toEqual(slotsOf(50));
});

test("slots without cursors come once and ascending, and those that find no room are counted", async () => {
  await using server = new PlayedStreams();
  await using stream = open(server, { bufferMax: 2 });
  const subscription = stream.slots({ commitment: "processed" });
  expect(await subscription.begun).toBeNull();
  const tell = (slot: number): void => {
    const members = `"slot":${slot},"cursor":null,"data":{"slot":${slot},"parent":null,"status":"processed"}`;
    server.say(`{"type":"slot","subscriptionId":"${processedId}",${members}}`);
  };
  const reader = subscription[Symbol.asyncIterator]();
  const read = async (): Promise<unknown> => {
    const { value } = await reader.next();
    return value.type === "lagged" ? [value.dropped, value.from_slot] : value.slot;
  };
  for (const slot of [5, 6, 6, 5, 7, 8, 9]) tell(slot);
  const after = stream.transactions();
  await after.begun;
  expect([await read(), await read()]).toEqual([5n, 6n]);
  tell(10);
  expect([await read(), await read()]).toEqual([[3, 7n], 10n]);
  server.close(1001);
  // Each of the two subscriptions asks once more.
  const asked = (): number => server.said.filter(({ action }) => action === "subscribe").length;
  await eventually("the next connection", () => asked() === 4);
  for (const slot of [9, 10, 11]) tell(slot);
  expect(await read()).toBe(11n);
});

for (const [closeCode, code] of [
  [4401, "INVALID_API_KEY"],
  [4402, "INSUFFICIENT_CREDITS"],
  [4403, "PERMISSION_DENIED"],
] as const) {
  test(`after ${closeCode} no connection is made, and the loop ends with ${code} behind what came`, async () => {
    await using server = new PlayedStreams();
    const states: StreamState[] = [];
    await using stream = open(server, { onState: (state) => states.push(state) });
    const subscription = stream.transactions();
    await subscription.begun;
    server.tell(...transactions(0, 2));
    await eventually("the events", () => server.said.length > 0);
    const read: unknown[] = [];
    const failure = await (async () => {
      for await (const event of subscription) {
        read.push(event);
        if (read.length === 2) server.close(closeCode);
      }
    })().catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(StreamError);
    expect(failure).toMatchObject({ code, details: { closeCode, cursor: "c2" } });
    expect(states.at(-1)).toMatchObject({ state: "closed", error: { code } });
    expect(server.connected).toEqual([0]);
  });
}

test("the server's own word for a refusal is the error's code", async () => {
  await using server = new PlayedStreams();
  server.refusal = { closeCode: 4403, code: "IP_NOT_ALLOWED" };
  await using stream = open(server);
  const subscription = stream.blocks();
  expect(await failureOf(subscription)).toMatchObject({ code: "IP_NOT_ALLOWED", message: "because" });
  await expect(subscription.begun).rejects.toMatchObject({ code: "IP_NOT_ALLOWED" });
});

test("a refused subscription ends alone, and one that cannot be had now is asked for at the next host", async () => {
  await using server = new PlayedStreams(2);
  await using stream = open(server);
  const good = stream.transactions();
  await good.begun;
  server.subscriptionRefusal = { code: "CURSOR_EXPIRED", members: ',"first_slot":9007199254740993' };
  expect(await failureOf(stream.accounts({}, { cursor: "c0" }))).toMatchObject({
    code: "CURSOR_EXPIRED",
    details: { closeCode: null, cursor: "c0", firstSlot: slotOf(0) },
  });
  server.tell(transaction(0));
  server.subscriptionRefusal = { code: "STREAM_UNAVAILABLE" };
  const later = stream.blocks();
  await eventually("the next host", () => server.connected.length > 3);
  server.subscriptionRefusal = null;
  await later.begun;
  server.tell(transaction(1));
  expect((await take(good, 2)).map((event) => ("slot" in event ? event.slot : null))).toEqual(slotsOf(2));
});

test("a host that falls silent is left for the next one, and one that answers pings is not", async () => {
  await using server = new PlayedStreams(2);
  await using stream = open(server, { pingEveryMs: 25 });
  const subscription = stream.transactions();
  await subscription.begun;
  const pings = (): number => server.said.filter(({ action }) => action === "ping").length;
  await eventually("pings that are answered", () => pings() > 5);
  const before = server.connected.at(-1);
  server.silentHost = before ?? null;
  await eventually("the next host", () => server.connected.at(-1) !== before);
  server.tell(transaction(0));
  expect(await take(subscription, 1)).toMatchObject([{ cursor: "c1" }]);
});

test("leaving a loop ends its subscription, and the last one the connection, until the next one", async () => {
  await using server = new PlayedStreams();
  await using stream = open(server);
  const [one, other] = [stream.transactions(), stream.transactions()];
  await Promise.all([one.begun, other.begun]);
  server.tell(transaction(0));
  await take(one, 1);
  await eventually("the end of one", () => server.said.at(-1)?.subscriptionId === "transactions-x");
  expect(server.open).toBe(1);
  await take(other, 1);
  await eventually("the end of the connection", () => server.open === 0);
  const again = stream.transactions();
  await again.begun;
  const reading = take(again, 2);
  await stream.close();
  expect(await reading).toEqual([]);
  expect(() => stream.blocks()).toThrow("closed");
  await eventually("the end", () => server.open === 0);
});
