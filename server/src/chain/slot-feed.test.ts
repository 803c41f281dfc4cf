import { afterEach, expect, test } from "bun:test";
import { ManualClock, seededRandom } from "@sluice/lib";
import { eventually } from "@sluice/lib/testing";
import type { ServerWebSocket } from "bun";
import { SlotFeed } from "./slot-feed.ts";

/** A node that takes slotSubscribe alone, and says the same slot for every commitment. */
class SlotNode implements Disposable {
  slot = 100;
  asked: string[] = [];
  /** Questions are answered after it. */
  gate: Promise<void> = Promise.resolve();
  socket: ServerWebSocket<undefined> | null = null;
  readonly server = Bun.serve<undefined>({
    port: 0,
    hostname: "127.0.0.1",
    fetch: async (request, server) => {
      if (server.upgrade(request, { data: undefined })) return undefined;
      const call = (await request.json()) as { params: [{ commitment: string }] };
      this.asked.push(call.params[0].commitment);
      await this.gate;
      return Response.json({ jsonrpc: "2.0", id: "sluice", result: this.slot });
    },
    websocket: {
      message: (socket, data) => {
        const { id, method } = JSON.parse(String(data)) as { id: number; method: string };
        const answer = method === "slotSubscribe" ? { result: 7 } : { error: { code: -32601, message: "no" } };
        socket.send(JSON.stringify({ jsonrpc: "2.0", id, ...answer }));
        if (method === "rootSubscribe") this.socket = socket;
      },
    },
  });

  notify(slot: number): void {
    const params = { subscription: 7, result: { slot, parent: slot - 1, root: slot - 32 } };
    this.socket?.send(JSON.stringify({ jsonrpc: "2.0", method: "slotNotification", params }));
  }

  [Symbol.dispose](): void {
    void this.server.stop(true);
  }
}

const ends: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

/** A feed whose three slots have been asked for, and whose subscriptions have been answered. */
async function follow(
  pollMs = 1_000_000,
): Promise<{ node: SlotNode; clock: ManualClock; feed: SlotFeed; slots: string[] }> {
  const node = new SlotNode();
  const clock = new ManualClock();
  const slots: string[] = [];
  const address = `127.0.0.1:${node.server.port}`;
  const options = { url: `http://${address}`, ws: `ws://${address}`, headers: {}, pollMs, silenceMs: 1_000 };
  const onSlot = (commitment: string, slot: bigint): void => void slots.push(`${commitment} ${slot}`);
  const feed = new SlotFeed(options, { clock, random: seededRandom(1), onSlot });
  ends.push(
    () => feed[Symbol.asyncDispose](),
    () => node[Symbol.dispose](),
  );
  expect([feed.silentForMs(), feed.stillForMs("processed")]).toEqual([
    Number.POSITIVE_INFINITY,
    Number.POSITIVE_INFINITY,
  ]);
  expect([feed.isLive("processed"), feed.slotOf("processed")]).toEqual([false, null]);
  feed.start();
  await eventually("the slots and the subscription", () => slots.length === 3 && node.socket !== null);
  return { node, clock, feed, slots };
}

test("a node is live for twice the time of silence after its last report, and silent for the time since", async () => {
  const { clock, feed, slots } = await follow();
  expect(slots.toSorted()).toEqual(["confirmed 100", "finalized 100", "processed 100"]);
  expect([feed.isLive("processed"), feed.silentForMs(), feed.slotOf("finalized")]).toEqual([true, 0, 100n]);
  clock.advance(1_999);
  expect([feed.isLive("processed"), feed.silentForMs()]).toEqual([true, 1_999]);
  clock.advance(1);
  expect([feed.isLive("processed"), feed.silentForMs()]).toEqual([false, 2_000]);
});

test("the same slot again is a report and no movement, and a new slot is both", async () => {
  const { node, clock, feed, slots } = await follow();
  clock.advance(500);
  node.notify(100);
  await eventually("the report", () => feed.silentForMs() === 0);
  expect([feed.stillForMs("processed"), slots.length]).toEqual([500, 3]);
  clock.advance(100);
  node.notify(101);
  await eventually("the slot", () => feed.slotOf("processed") === 101n);
  expect([feed.stillForMs("processed"), feed.stillForMs("finalized"), slots.at(3)]).toEqual([0, 600, "processed 101"]);
});

test("a new slot has a commitment without notices asked for at once", async () => {
  const { node, slots } = await follow();
  node.asked = [];
  node.slot = 101;
  node.notify(102);
  await eventually("the answer", () => slots.includes("confirmed 101"));
  expect([node.asked, slots.slice(3)]).toEqual([["confirmed"], ["processed 102", "confirmed 101"]]);
});

test("a commitment is asked for once at a time however long its answer takes, and not at all after the end", async () => {
  const { node, clock, feed, slots } = await follow();
  node.asked = [];
  node.slot = 101;
  const answer = Promise.withResolvers<void>();
  node.gate = answer.promise;
  for (let count = 0; count < 3; count += 1) clock.advance(1_000_000);
  await eventually("the questions", () => node.asked.length >= 3);
  answer.resolve();
  await eventually("the answers", () => slots.length === 6);
  expect(node.asked.toSorted()).toEqual(["confirmed", "finalized", "processed"]);
  await feed[Symbol.asyncDispose]();
  clock.advance(1_000_000);
  expect([node.asked.length, clock.pendingTimers]).toEqual([3, 0]);
});

test("a commitment whose notices come is not asked for, until they have been missing for the time of silence", async () => {
  const { node, clock, feed } = await follow(700);
  clock.advance(600);
  node.notify(101);
  await eventually("the slot", () => feed.slotOf("processed") === 101n);
  clock.advance(100);
  await eventually("the question", () => node.asked.filter((each) => each === "finalized").length === 2);
  expect(node.asked.filter((each) => each === "processed")).toHaveLength(1);
  clock.advance(1_400);
  await eventually("the question", () => node.asked.filter((each) => each === "processed").length === 2);
});
