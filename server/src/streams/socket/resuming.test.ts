import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { eventually } from "@sluice/lib/testing";
import { blockRecord } from "../../history/testing/blocks.ts";
import { slotOf } from "../../log/testing/chain-model.ts";
import { bootStreams, settled } from "../testing/booted-streams.ts";
import { blocks, header, refusal, signaturesOf, told } from "../testing/stream-blocks.ts";

let streams: Awaited<ReturnType<typeof bootStreams>>;
beforeEach(async () => {
  streams = await bootStreams({ tier: "business" });
});
afterEach(async () => {
  await streams[Symbol.asyncDispose]();
});

describe("resuming", () => {
  test("from a slot or a cursor tells all, in order, and goes on live without a gap or a duplicate", async () => {
    await streams.append(blocks(100, 110));
    const client = await streams.connect();
    client.subscribe("transactions", { from_slot: "103" });
    await eventually("the replay", () => told(client).length === 24);
    await streams.append(blocks(111, 112));
    const all = signaturesOf(...Array.from({ length: 10 }, (_, index) => header(103 + index)));
    expect(told(client)).toEqual(all);
    const at = 13;
    const { cursor } = client.of("transaction")[at] ?? { cursor: "" };
    const again = await streams.connect();
    again.subscribe("transactions", { cursor });
    await eventually("the rest", () => told(again).length === all.length - at - 1);
    await streams.append(blocks(113, 113));
    expect(told(again)).toEqual([...all.slice(at + 1), ...signaturesOf(header(113))]);
    expect(client.of("undo")).toEqual([]);
  });

  test("from a slot above the head begins with the next block", async () => {
    await streams.append(blocks(100, 103));
    const client = await streams.connect();
    client.subscribe("transactions", { from_slot: 106 });
    await settled(20);
    await streams.append([blockRecord(header(104))]);
    await eventually("the next", () => told(client).length === 3);
    expect(told(client)).toEqual(signaturesOf(header(104)));
  });

  test("what is no longer held is refused with the first slot, and of the free tier what is older than three days", async () => {
    await streams.append(blocks(100, 110));
    const before = await streams.connect();
    before.subscribe("transactions", { from_slot: 104 });
    await eventually("the head", () => told(before).length === 21);
    const within = before.of("transaction")[0]?.cursor;
    streams.memory.trimBelow(slotOf(105));
    const client = await streams.connect();
    client.say({ action: "subscribe", channel: "slots", from_slot: 101 });
    await settled();
    expect(refusal(client)).toMatchObject({ code: "CURSOR_EXPIRED", first_slot: 105 });
    // The rest of a block that is gone is gone, though the chain goes on right after it.
    const parent = await streams.connect();
    parent.say({ action: "subscribe", channel: "transactions", cursor: within });
    await settled();
    expect(refusal(parent)).toMatchObject({ code: "CURSOR_EXPIRED", first_slot: 105 });
    streams.played.grant = { ...streams.played.grant, tier: "free" } as never;
    const free = await streams.connect();
    free.subscribe("slots", { from_slot: 105 });
    await eventually("the head", () => free.of("slot").length === 6);
    streams.clock.advance(3 * 86_400_000 + 600_000);
    const late = await streams.connect();
    const { subscriptionId } = late.subscribe("slots", { from_slot: 105 });
    await eventually("the refusal", () => refusal(late) !== undefined);
    expect([refusal(late), late.of("slot"), late.closed]).toMatchObject([
      { code: "TIER_REQUIRED", subscriptionId },
      [],
      null,
    ]);
  });

  test("ends with the first slot that can be had where what comes next is removed on the way", async () => {
    await streams.append(blocks(100, 160));
    const client = await streams.connect();
    client.isFull = true;
    const { subscriptionId } = client.subscribe("transactions", { from_slot: 101 });
    await settled(40);
    streams.memory.trimBelow(slotOf(150));
    client.reads();
    await eventually("the refusal", () => {
      streams.clock.advance(100);
      return refusal(client) !== undefined;
    });
    expect(refusal(client)).toMatchObject({ code: "CURSOR_EXPIRED", subscriptionId, first_slot: 150 });
    expect(refusal(client)).not.toHaveProperty("cursor");
    expect(client.closed).toBeNull();
  });

  test("takes a token of the key's requests where it begins in the past", async () => {
    streams.played.grant = {
      ...streams.played.grant,
      buckets: {
        messages: [{ bucket: "m", requestsPerSecond: 100, burst: 200 }],
        requests: [{ bucket: "r", requestsPerSecond: 1, burst: 3 }],
      },
    } as never;
    await streams.append(blocks(100, 102));
    const client = await streams.connect();
    for (let count = 0; count < 3; count += 1) client.say({ action: "subscribe", channel: "slots", from_slot: 101 });
    client.subscribe("slots");
    await settled();
    expect([client.of("subscribed").length, refusal(client)?.code]).toEqual([3, "RATE_LIMIT_EXCEEDED"]);
  });

  test("is paced by the tier's messages a second and drops nothing; one that makes no progress is ended", async () => {
    streams.played.grant = {
      ...streams.played.grant,
      buckets: {
        messages: [{ bucket: "m", requestsPerSecond: 10, burst: 20 }],
        requests: [{ bucket: "r", requestsPerSecond: 100, burst: 200 }],
      },
    } as never;
    await streams.append(blocks(100, 120));
    const client = await streams.connect();
    client.subscribe("transactions", { from_slot: 100 });
    await settled(60);
    expect(told(client).length).toBe(20);
    for (let step = 0; step < 250 && told(client).length < 63; step += 1) {
      streams.clock.advance(20);
      await settled(4);
    }
    expect([told(client).length, client.of("lagged")]).toEqual([63, []]);
    await streams.append(blocks(121, 140));
    streams.clock.advance(1_000);
    const slow = await streams.connect();
    slow.isFull = true;
    const { subscriptionId } = slow.subscribe("transactions", { from_slot: 100 });
    for (let second = 0; second < 62; second += 1) {
      streams.clock.advance(1_000);
      await settled(2);
    }
    expect([refusal(slow)?.code, refusal(slow)?.subscriptionId, slow.closed]).toEqual([
      "REPLAY_TOO_SLOW",
      subscriptionId,
      4408,
    ]);
  });
});
