import { expect, test } from "bun:test";
import { systemClock, systemRandom } from "@sluice/lib";
import { eventually, mountSmallDisk } from "@sluice/lib/testing";
import { openWebhookState } from "../../state/testing/webhook-state.ts";
import { answered, DeliveryStand, type ReceivedCall, silentEvents } from "./testing/stand.ts";
import { WebhookWorker } from "./worker.ts";

const disk = mountSmallDisk(24 * 1024 * 1024);

if (disk === null) console.warn("NOT RUN: a full disk under deliveries (this user may not mount)");
else {
  test("while the disk is full nothing is lost or sent for ever, and all goes on when there is room", async () => {
    using _ = disk;
    await using stand = await DeliveryStand.open();
    await using opened = await openWebhookState(null, systemClock, disk.path);
    const webhook = await opened.createWebhook();
    const received: ReceivedCall[] = [];
    stand.receive = (call) => {
      received.push(call);
      return answered(200);
    };
    const failures: string[] = [];
    await using worker = new WebhookWorker(
      { worker: "worker", networks: () => ["devnet"], leaseMs: 2_000 },
      {
        ...stand.dependencies(),
        clock: systemClock,
        random: systemRandom,
        store: opened.state.webhookDeliveries,
        webhooks: opened.state.webhooks,
        events: { ...silentEvents, storeFailed: ({ what }) => void failures.push(what) },
      },
    );
    await worker.start();
    const waiting = async () => (await opened.state.webhooks.queues([webhook.id]))[0]?.waiting ?? -1;
    const committed = [
      ...(await opened.add(
        webhook.id,
        Array.from({ length: 50 }, (_, ordinal) => ({ ordinal })),
      )),
    ];
    worker.appended(committed);
    await eventually("the first deliveries", async () => (await waiting()) === 0);
    const rows = await opened.add(
      webhook.id,
      Array.from({ length: 50 }, (_, ordinal) => ({ slot: 2n, ordinal })),
    );
    committed.push(...rows);
    disk.fill();
    worker.appended(rows);
    await eventually("the store fails", () => failures.includes("the outcome of an attempt"));
    // Longer than the lease: nothing may begin without beats.
    await Bun.sleep(2_500);
    const whileFull = received.length;
    await Bun.sleep(1_000);
    expect(received.length).toBe(whileFull);
    disk.empty();
    await eventually("the rest", async () => (await waiting()) === 0, 30_000);
    const byId = new Map<string, number>();
    for (const { deliveryId } of received) byId.set(deliveryId, (byId.get(deliveryId) ?? 0) + 1);
    expect(committed.map(({ deliveryId }) => byId.get(deliveryId))).toEqual(committed.map(() => 1));
  }, 90_000);
}
