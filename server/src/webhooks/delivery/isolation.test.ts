import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { answered, DeliveryStand } from "./testing/stand.ts";

// A busy machine takes some seconds for what passes on the clock.
setDefaultTimeout(60_000);

async function withStand(work: (stand: DeliveryStand) => Promise<void>): Promise<void> {
  await using stand = await DeliveryStand.open();
  await work(stand);
}

const waiting = async (stand: DeliveryStand, id: string): Promise<number> =>
  (await stand.opened.state.webhooks.queues([id]))[0]?.waiting ?? -1;

describe("an endpoint that is slow", () => {
  test("leaves places to others, though it answers each time and within its time", async () => {
    await withStand(async (stand) => {
      const slow = await Promise.all(
        ["one", "two", "three"].map((name) => stand.opened.createWebhook({ url: `https://slow.example/${name}` })),
      );
      const good = await stand.opened.createWebhook();
      stand.receive = ({ url }) =>
        url.includes("slow")
          ? new Promise((resolve) => stand.clock.after(4_900, () => resolve(answered(200))))
          : answered(200);
      const many = Array.from({ length: 500 }, (_, at) => ({ slot: BigInt(at) }));
      for (const { id } of slow) await stand.opened.add(id, many);
      await stand.worker({ attemptsMax: 20 });
      await stand.pass(20_000, 700);
      const calls = stand.received.length;
      expect(calls).toBeGreaterThan(30);
      await stand.opened.add(good.id, many);
      await stand.pass(1_400, 100);
      expect(await waiting(stand, good.id)).toBe(0);
      await stand.pass(9_800, 700);
      expect(stand.received.length).toBeGreaterThan(calls + many.length + 10);
    });
  });
});

describe("an endpoint that hangs", () => {
  test("holds few places, and harms no other", async () => {
    await withStand(async (stand) => {
      const [bad, good] = [
        await stand.opened.createWebhook({ url: "https://bad.example/" }),
        await stand.opened.createWebhook(),
      ];
      stand.receive = ({ url }) =>
        url.includes("bad")
          ? new Promise((resolve) => stand.clock.after(5_000, () => resolve({ kind: "timeout" })))
          : answered(200);
      const many = Array.from({ length: 500 }, (_, at) => ({ slot: BigInt(at) }));
      await stand.opened.add(bad.id, many);
      await stand.opened.add(good.id, many);
      await stand.worker({ attemptsMax: 20 });
      await stand.pass(2_000, 100);
      expect([await waiting(stand, good.id), await waiting(stand, bad.id)]).toEqual([0, 500]);
      await stand.pass(240_000, 2_000);
      const calls = stand.received.filter(({ url }) => url.includes("bad")).length;
      // A first burst, and then one attempt a minute.
      expect(calls).toBeGreaterThan(4);
      expect(calls).toBeLessThan(20);
      expect(await waiting(stand, bad.id)).toBe(500);
    });
  });
});
