import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { eventually } from "@sluice/lib/testing";
import { blockRecord } from "../../history/testing/blocks.ts";
import { headerOf, slotOf, stageOf } from "../../log/testing/chain-model.ts";
import { formerCursors } from "../../log/testing/former-cursors.ts";
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

  test("a cursor that a client has kept from the release before goes on where it stands", async () => {
    await streams.append([...blocks(100, 107), stageOf(header(103), "finalized")]);
    const within = await streams.connect();
    within.subscribe("transactions", { cursor: formerCursors.withinBlock.text });
    const whole = await streams.connect();
    whole.subscribe("transactions", { cursor: formerCursors.wholeBlock.text });
    const rest = signaturesOf(header(106), header(107));
    await eventually("the rest", () => told(within).length === 7 && told(whole).length === 6);
    expect(told(within)).toEqual([...signaturesOf(header(105)).slice(2), ...rest]);
    expect(told(whole)).toEqual(rest);
    const final = await streams.connect();
    final.subscribe("blocks", { cursor: formerCursors.afterGap.text, filters: { commitment: "finalized" } });
    await streams.append([stageOf(header(106), "finalized")]);
    await eventually("what is final", () => final.of("block").length === 3);
    expect([final.of("block").map(({ slot }) => slot), refusal(final)]).toEqual([[104, 105, 106], undefined]);
  });

  test("from a slot above the head tells nothing below it, however long that takes and wherever it goes on", async () => {
    await streams.append(blocks(100, 103));
    const client = await streams.connect();
    const { cursor } = client.subscribe("transactions", { from_slot: 106 });
    await settled(20);
    for (let second = 0; second < 70; second += 1) streams.clock.advance(1_000);
    await streams.append(blocks(104, 105));
    streams.memory.trimBelow(slotOf(104));
    const again = await streams.connect();
    again.subscribe("transactions", { cursor });
    await streams.append(blocks(106, 107));
    for (const each of [client, again]) {
      await eventually("the slot", () => told(each).length === 6);
      expect([told(each), each.closed]).toEqual([signaturesOf(header(106), header(107)), null]);
    }
    // Not even where a fork replaces what was told.
    const low = header(105, 1, headerOf(104), "fork");
    await streams.append([blockRecord(low), blockRecord(header(108, 1, low, "fork"))]);
    for (const each of [client, again]) {
      await eventually("the fork", () => told(each).length === 7);
      expect(each.of("undo").map(({ slot, back_to: backTo }) => [slot, backTo])).toEqual([
        [107, 106],
        [106, 105],
      ]);
      expect(told(each).slice(6)).toEqual(signaturesOf(header(108, 1, low, "fork")));
    }
  });

  test("a block that no log knows is undone with all that was told above what was final", async () => {
    await streams.append(blocks(100, 103));
    await streams.append([stageOf(header(101), "finalized")]);
    const lost = headerOf(105, headerOf(103), "lost");
    const cursor = streams.log.cursorAfter("confirmed", lost);
    await streams.append([...blocks(104, 106), stageOf(header(105), "finalized")]);
    const client = await streams.connect();
    client.subscribe("slots", { cursor });
    await eventually("the head", () => client.of("slot").length === 5);
    expect(client.of("undo")).toMatchObject([{ slot: 105, blockhash: lost.blockhash, back_to: 101 }]);
    expect(client.of("slot").map(({ slot }) => slot)).toEqual([102, 103, 104, 105, 106]);
  });

  test("a subscription that asks for it is told its cursor with each ping, where nothing else was sent", async () => {
    await streams.append(blocks(100, 103));
    const filters = { programs: ["Vote111111111111111111111111111111111111111"] };
    const client = await streams.connect();
    const { subscriptionId, cursor: begun } = client.subscribe("transactions", { filters, cursors: true });
    const replaying = await streams.connect();
    replaying.subscribe("transactions", { filters, cursors: true, from_slot: 101 });
    const busy = await streams.connect();
    busy.subscribe("slots", { cursors: true });
    const plain = await streams.connect();
    plain.subscribe("transactions", { filters });
    const all = [client, replaying, busy, plain];
    const tick = async (): Promise<void> => {
      for (const each of all) each.tick();
      await settled();
    };
    await tick();
    // The chain has not gone on.
    await tick();
    expect(client.of("cursor")).toEqual([]);
    expect(replaying.of("cursor")).toMatchObject([{ slot: 103 }]);
    await streams.append(blocks(104, 105));
    await tick();
    const [passed] = client.of("cursor");
    expect(passed).toMatchObject({ subscriptionId, slot: 105 });
    expect(passed?.cursor).not.toBe(begun);
    expect(replaying.of("cursor").map(({ slot }) => slot)).toEqual([103, 105]);
    expect([busy.of("cursor"), plain.of("cursor")]).toEqual([[], []]);
    await tick();
    expect([client.of("cursor").length, busy.of("cursor").map(({ slot }) => slot)]).toEqual([1, []]);
    const again = await streams.connect();
    again.subscribe("slots", { cursor: passed?.cursor });
    await streams.append(blocks(106, 106));
    await eventually("what follows", () => again.of("slot").length === 1);
    expect(again.of("slot").map(({ slot }) => slot)).toEqual([106]);
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
