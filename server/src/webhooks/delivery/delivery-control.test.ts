import { expect, setDefaultTimeout, test } from "bun:test";
import { seededRandom } from "@sluice/lib";
import type { WebhookAttemptReads, WebhookAttemptRecord } from "../../ledger/index.ts";
import { WebhookDeliveryControl } from "./delivery-control.ts";
import { answered, DeliveryStand } from "./testing/stand.ts";

// A busy machine takes some seconds for what passes on the clock.
setDefaultTimeout(60_000);

/** The ledger's reads over the facts that the stand has been given. */
const readsOf = (stand: DeliveryStand): WebhookAttemptReads => ({
  attempts: async (deliveryId) => recordsOf(stand).filter((fact) => fact.deliveryId === deliveryId),
  finished: async ({ webhookId, outcome, after, limit }) => {
    const ended = recordsOf(stand).filter((fact) => fact.webhookId === webhookId && fact.outcome !== "failed");
    const last = ended.filter((fact, at) => !ended.slice(at + 1).some((one) => one.deliveryId === fact.deliveryId));
    const place = ({ at, deliveryId }: { at: number; deliveryId: string }) => `${at} ${deliveryId}`;
    return last
      .filter((fact) => outcome === null || fact.outcome === outcome)
      .toSorted((one, other) => (place(one) < place(other) ? 1 : -1))
      .filter((fact) => after === null || place(fact) < place({ at: after.atMs, deliveryId: after.deliveryId }))
      .slice(0, limit);
  },
});

const recordsOf = ({ facts }: DeliveryStand): readonly WebhookAttemptRecord[] =>
  facts.map((fact) => ({ ...fact, requestHeaders: JSON.stringify(Object.fromEntries(fact.requestFields)) }));

async function open(stand: DeliveryStand) {
  const worker = await stand.worker();
  const { state } = stand.opened;
  return new WebhookDeliveryControl({
    random: seededRandom(3),
    store: state.webhookDeliveries,
    webhooks: state.webhooks,
    ledger: { webhookAttempts: readsOf(stand) },
    added: (id) => worker.added(id),
  });
}

const all = { limit: 100, cursor: null, pending: true, status: null } as const;

test("a test comes at once, before all others, with ids of its own, and to no webhook that is paused", async () => {
  await using stand = await DeliveryStand.open();
  const webhook = await stand.opened.createWebhook();
  const control = await open(stand);
  const made = [
    await control.test(webhook, { event: "test.webhook", data: '{"message":"a"}' }),
    await control.test(webhook, { event: "block.confirmed", data: '{"slot":1}' }),
  ];
  await stand.settle();
  expect(stand.received.map(({ deliveryId, eventId }) => ({ deliveryId, eventId }))).toEqual(made);
  expect(new Set(made.map(({ eventId }) => eventId)).size).toBe(2);
  expect(JSON.parse(stand.received[0]?.body ?? "")).toMatchObject({ event: "test.webhook", data: { message: "a" } });
  const paused = await stand.opened.state.webhooks.setStatus(webhook.accountId, webhook.id, "paused");
  if (paused === null) throw new Error("the webhook is there");
  await expect(control.test(paused, { event: "test.webhook", data: "{}" })).rejects.toMatchObject({ code: "CONFLICT" });
});

test("a delivery is tried once more whatever became of it, with its ids, and not by another webhook's owner", async () => {
  await using stand = await DeliveryStand.open({ receive: () => answered(500) });
  const retryPolicy = { maxAttempts: 1, backoffMultiplier: 1 };
  const [webhook, other] = [await stand.opened.createWebhook({ retryPolicy }), await stand.opened.createWebhook()];
  const control = await open(stand);
  const [row] = await stand.opened.add(webhook.id, [{ slot: 9n }]);
  const id = row?.deliveryId ?? "";
  const accepted = { deliveryId: id, eventId: row?.eventId ?? "" };
  await stand.pass(2_000);
  expect(await control.report(webhook, id)).toMatchObject({
    delivery: { status: "failed", attempts: 1, statusCode: 500 },
  });
  expect([await control.retry(other, id), await control.retry(webhook, "delivery_unknown")]).toEqual([null, null]);
  expect([await control.webhookOf(id), await control.webhookOf("delivery_unknown")]).toEqual([webhook.id, null]);
  stand.receive = () => answered(200);
  expect(await control.retry(webhook, id)).toEqual(accepted);
  await stand.pass(2_000);
  // It is gone from the store by now, and is made anew.
  expect([await control.webhookOf(id), await control.retry(webhook, id)]).toEqual([webhook.id, accepted]);
  await stand.pass(2_000);
  expect(stand.received.map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
  expect(new Set(stand.received.map(({ body, eventId }) => body + eventId)).size).toBe(1);
  const report = await control.report(webhook, id);
  expect(report?.delivery).toMatchObject({ status: "success", attempts: 3, error: null, nextAttemptAt: null });
  expect(report?.attempts.map(({ attempt, error }) => [attempt, error])).toEqual([
    [1, "HTTP_500"],
    [2, null],
    [3, null],
  ]);
  expect(report?.attempts[0]?.requestHeaders).toMatchObject({ "X-Service-Attempt": "1" });
  expect(await control.report(other, id)).toBeNull();
});

test("the list has what waits first and then what has ended, in pages that meet, and what is recovered once", async () => {
  await using stand = await DeliveryStand.open({ receive: () => answered(500) });
  const retryPolicy = { maxAttempts: 1, backoffMultiplier: 1 };
  const webhook = await stand.opened.createWebhook({ retryPolicy });
  const control = await open(stand);
  const since = stand.clock.now();
  const rows = await stand.opened.add(webhook.id, [{ slot: 1n }, { slot: 2n }, { slot: 3n }]);
  await stand.pass(2_000);
  const failedBy = stand.clock.now();
  stand.hasData = false;
  const later = await stand.opened.add(webhook.id, [{ slot: 4n }, { slot: 5n }]);
  await stand.pass(2_000);
  const pages = async (question: object = {}) => {
    const found: string[] = [];
    for (let cursor: string | null = null, turns = 0; turns < 20; turns += 1) {
      const page: Awaited<ReturnType<typeof control.list>> = await control.list(webhook, {
        ...all,
        ...question,
        cursor,
      });
      found.push(...page.deliveries.map(({ id, status }) => `${id} ${status}`));
      cursor = page.nextCursor;
      if (cursor === null) break;
    }
    return found;
  };
  // They ended in one millisecond.
  const ended = rows
    .map(({ deliveryId }) => `${deliveryId} failed`)
    .toSorted()
    .toReversed();
  const pending = later.map(({ deliveryId }) => `${deliveryId} pending`);
  for (const limit of [1, 2, 3, 100]) expect(await pages({ limit })).toEqual([...pending, ...ended]);
  expect(await pages({ pending: false, limit: 2 })).toEqual(ended);
  expect(await pages({ pending: false, status: "success" })).toEqual([]);
  expect(await control.recover(webhook, failedBy + 1)).toBe(0);
  // They were made before that time, and were given up after it.
  expect(await control.recover(webhook, since + 1)).toBe(3);
  expect((await pages()).toSorted()).toEqual(
    [...rows, ...later].map(({ deliveryId }) => `${deliveryId} pending`).toSorted(),
  );
  stand.hasData = true;
  stand.receive = () => answered(200);
  await stand.pass(10_000);
  expect((await pages()).every((each) => each.endsWith(" success"))).toBe(true);
  for (const cursor of ["", "x", "W10", Buffer.from('["finished","a","b"]').toString("base64url"), writeBad()]) {
    await expect(control.list(webhook, { ...all, cursor })).rejects.toMatchObject({ code: "INVALID_INPUT" });
  }
});

const writeBad = (): string => Buffer.from('["pending",1,"-1",2,"d"]').toString("base64url");

test("what waits for credits is told as parked", async () => {
  await using stand = await DeliveryStand.open();
  const webhook = await stand.opened.createWebhook();
  const control = await open(stand);
  stand.credits = 0;
  await stand.opened.add(webhook.id, [{}]);
  await stand.pass(2_000);
  expect((await control.list(webhook, all)).deliveries.map(({ status }) => status)).toEqual(["parked"]);
});
