import { describe, expect, test } from "bun:test";
import type { Hot } from "../../hot.ts";
import type { HotSubject } from "./subject.ts";

/** Collects messages and lets a test wait for a number of them. */
class Inbox {
  readonly messages: string[] = [];
  #waiting: { count: number; resolve: () => void } | null = null;

  readonly handler = (message: string): void => {
    this.messages.push(message);
    if (this.#waiting !== null && this.messages.length >= this.#waiting.count) this.#waiting.resolve();
  };

  async received(count: number): Promise<readonly string[]> {
    if (this.messages.length < count) {
      await new Promise<void>((resolve) => {
        this.#waiting = { count, resolve };
      });
    }
    return this.messages;
  }
}

/** A message of its own on the channel, awaited: whatever was published before it has arrived by then. */
async function flush(hot: Hot, channel: string): Promise<void> {
  const inbox = new Inbox();
  await using _subscription = await hot.subscribe(channel, inbox.handler);
  await hot.publish(channel, "flush");
  await inbox.received(1);
}

/** Leases and messages: what replicas say to each other. */
export function sharingConformance({ hot, other, pass, newKey }: HotSubject): void {
  describe("what several processes spend from", () => {
    const request = { rate: 1, burst: 100, sequence: 1, held: 0, needed: 0, want: 0, owed: 0, lifeMs: 60_000 };

    test("tokens leased by one replica are not there for another until they are given back", async () => {
      const key = newKey();
      const got = await hot().leaseTokens(key, { ...request, holder: "a", needed: 90, want: 90 });
      expect(got.granted).toBe(90);
      const less = await other().leaseTokens(key, { ...request, holder: "b", needed: 50, want: 50 });
      expect(less.granted).toBeGreaterThanOrEqual(10);
      expect(less.granted).toBeLessThan(15);
      await hot().leaseTokens(key, { ...request, holder: "a", sequence: 2, held: 90, want: 0 });
      const more = await other().leaseTokens(key, { ...request, holder: "b", sequence: 2, needed: 90, want: 90 });
      expect(more.granted).toBe(90);
    });

    test("who is present is counted until it leaves or its time is over", async () => {
      const key = newKey();
      expect(await hot().attend(key, "a", 60_000)).toBe(1);
      expect(await other().attend(key, "b", 60_000)).toBe(2);
      expect(await hot().attend(key, "a", 60_000)).toBe(2);
      expect(await other().attend(key, "b", 0)).toBe(1);
      expect(await other().attend(key, "c", 40)).toBe(2);
      await pass(60);
      expect(await hot().attend(key, "a", 60_000)).toBe(1);
    });
  });

  describe("messages", () => {
    test("every subscriber of a channel gets each message once and in order, others get none", async () => {
      const [channel, elsewhere] = [newKey(), newKey()];
      const [here, there, apart] = [new Inbox(), new Inbox(), new Inbox()];
      await using _here = await hot().subscribe(channel, here.handler);
      await using _there = await other().subscribe(channel, there.handler);
      await using _apart = await other().subscribe(elsewhere, apart.handler);
      const sent = Array.from({ length: 20 }, (_, index) => `message ${index} é🦀\n`);
      for (const message of sent) await hot().publish(channel, message);
      expect(await here.received(20)).toEqual(sent);
      expect(await there.received(20)).toEqual(sent);
      await flush(other(), elsewhere);
      expect(apart.messages).toEqual(["flush"]);
    });

    test("who has unsubscribed gets nothing more, and the other subscriptions of the channel go on", async () => {
      const channel = newKey();
      const [gone, stays] = [new Inbox(), new Inbox()];
      const subscription = await hot().subscribe(channel, gone.handler);
      await using _stays = await hot().subscribe(channel, stays.handler);
      await subscription[Symbol.asyncDispose]();
      await subscription[Symbol.asyncDispose]();
      await other().publish(channel, "after");
      expect(await stays.received(1)).toEqual(["after"]);
      expect(gone.messages).toEqual([]);
    });

    test("a subscriber that throws does not keep the message from the others", async () => {
      const [channel, inbox] = [newKey(), new Inbox()];
      const failing = (): void => {
        throw new Error("a bug of the subscriber's");
      };
      await using _failing = await hot().subscribe(channel, failing);
      await using _inbox = await hot().subscribe(channel, inbox.handler);
      await hot().publish(channel, "message");
      expect(await inbox.received(1)).toEqual(["message"]);
    });
  });
}
