import { expect, setDefaultTimeout, test } from "bun:test";
import { webhookLimits } from "@sluice/contract/webhooks";
import { seededRandom } from "@sluice/lib";
import { ParkedDeliveries } from "./parked-deliveries.ts";
import { DeliveryStand } from "./testing/stand.ts";

// A busy machine takes some seconds for what passes on the clock.
setDefaultTimeout(60_000);

function parkedOf(stand: DeliveryStand, ended: number[] = []): ParkedDeliveries {
  const { store, clock } = stand;
  const { attempts, events } = stand.dependencies();
  const parkedGivenUp = (count: number): void => void ended.push(count);
  return new ParkedDeliveries(
    { worker: "worker-1" },
    { clock, random: seededRandom(5), store, attempts, events: { ...events, parkedGivenUp } },
  );
}

test("what waits for credits for seven days is failed, its owner is told, and it can be recovered when they return", async () => {
  await using stand = await DeliveryStand.open();
  const { webhooks } = stand.opened.state;
  const webhook = await stand.opened.createWebhook();
  const { accountId } = webhook;
  const listening = await stand.opened.createWebhook({ accountId, events: ["webhook.recoverable"] });
  await stand.worker();
  stand.credits = 0;
  const rows = await stand.opened.add(
    webhook.id,
    Array.from({ length: 3 }, (_, slot) => ({ slot: BigInt(slot) })),
  );
  await stand.pass(2_000);
  const parkedAt = (await webhooks.queues([webhook.id]))[0]?.parkedAt ?? null;
  expect(parkedAt).not.toBeNull();
  const ended: number[] = [];
  const parked = parkedOf(stand, ended);
  stand.clock.advance(webhookLimits.parkedMs - 10_000);
  await parked.giveUp();
  expect(await stand.store.exhausted(webhook.id)).toBe(0);
  const [later] = await stand.opened.add(webhook.id, [{ slot: 9n }]);
  stand.clock.advance(10_000);
  await parked.giveUp();
  expect([ended, await stand.store.exhausted(webhook.id)]).toEqual([[3], 3]);
  expect((await webhooks.queues([webhook.id]))[0]?.waiting).toBe(1);
  expect(await stand.store.get(rows.map(({ deliveryId }) => deliveryId))).toMatchObject(
    rows.map(() => ({ dueAt: null, attempts: 0, lastError: "CREDITS_EXHAUSTED", lastAttemptAt: stand.clock.now() })),
  );
  expect(stand.facts.map(({ outcome, error, attempt }) => [outcome, error, attempt])).toEqual(
    rows.map(() => ["exhausted", "CREDITS_EXHAUSTED", 0]),
  );
  expect(await webhooks.notices(webhook.id)).toMatchObject([
    { code: "given_up", detail: { deliveries: 3, since: parkedAt } },
  ]);
  const [told] = await stand.store.fresh(listening.id, 10);
  expect([told?.event, JSON.parse(told?.detail ?? "")]).toEqual([
    "webhook.recoverable",
    {
      webhook_id: webhook.id,
      deliveries: 3,
      reason: "credits",
      parked_since: new Date(parkedAt ?? 0).toISOString(),
      given_up_at: new Date(stand.clock.now()).toISOString(),
    },
  ]);
  await parked.giveUp();
  expect((await webhooks.notices(webhook.id)).length).toBe(1);
  stand.credits = null;
  await stand.pass(70_000, 1_000);
  // The worker had them in memory, and does not send them.
  expect(stand.received.map(({ deliveryId }) => deliveryId).toSorted()).toEqual(
    [later?.deliveryId ?? "", told?.deliveryId ?? ""].toSorted(),
  );
  const since = stand.clock.now() - webhookLimits.exhaustedMs;
  expect(await stand.store.recover(webhook.id, since, 10)).toBe(3);
  await stand.pass(10_000, 500);
  expect(stand.received.length).toBe(5);
  expect((await webhooks.queues([webhook.id]))[0]?.waiting).toBe(0);
});

test("nothing is given up whose credits have returned meanwhile, and nothing of a queue that another worker takes", async () => {
  await using stand = await DeliveryStand.open();
  const webhook = await stand.opened.createWebhook();
  await stand.opened.add(webhook.id, [{}]);
  const [queue] = await stand.store.take("worker-0", await stand.store.find([webhook.id]));
  if (queue === undefined) throw new Error("the queue was free");
  await stand.store.park(queue, stand.clock.now());
  stand.clock.advance(webhookLimits.parkedMs);
  const parked = parkedOf(stand);
  const { overdue } = stand.store;
  stand.store.overdue = async (...of) => {
    const found = await overdue.apply(stand.store, of);
    await stand.store.park(queue, null);
    return found;
  };
  await parked.giveUp();
  expect([
    await stand.store.exhausted(webhook.id),
    (await stand.opened.state.webhooks.notices(webhook.id)).length,
  ]).toEqual([0, 0]);
});
