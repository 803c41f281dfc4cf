import { expect, setDefaultTimeout, test } from "bun:test";
import { seededRandom } from "@sluice/lib";
import { finishedMax, type WebhookAttemptReads, type WebhookAttemptRecord } from "../../ledger/index.ts";
import { newSchema } from "../../state/testing/schema.ts";
import { LedgerAttempts } from "./attempt-log.ts";
import { KnownAttempts } from "./attempt-reads.ts";
import { WebhookDeliveryControl } from "./delivery-control.ts";
import { answered, DeliveryStand } from "./testing/stand.ts";

// A busy machine takes some seconds for what passes on the clock.
setDefaultTimeout(60_000);

const databaseUrl = Bun.env["DATABASE_URL"] ?? "";
if (databaseUrl === "") console.warn("NOT RUN: lists of deliveries on PostgreSQL (DATABASE_URL is not set)");
const drivers: readonly (readonly [string, string | null])[] = [
  ["SQLite", null],
  ...(databaseUrl === "" ? [] : ([["PostgreSQL", databaseUrl]] as const)),
];

/** A ledger that takes nothing while it is away. */
class PlayedLedger implements WebhookAttemptReads {
  isAway = true;
  readonly records = new Map<string, WebhookAttemptRecord>();

  async insert(_: string, rows: readonly object[]): Promise<void> {
    if (this.isAway) throw new Error("the ledger is away");
    for (const row of rows as readonly Record<string, never>[]) {
      const { delivery_id: deliveryId, webhook_id: webhookId, event_id: eventId, attempt, at, outcome, error } = row;
      const { created_at: createdAt, status_code: statusCode, request_headers: requestHeaders, slot, event } = row;
      const given = { deliveryId, webhookId, eventId, event, attempt, at, outcome, error, createdAt, statusCode };
      const rest = { accountId: "", network: "", latencyMs: 1, answer: "", blockhash: "hash", ordinal: 0 };
      const record = { ...rest, ...given, requestHeaders, slot: BigInt(slot ?? 0), txIndex: null, account: null };
      this.records.set(`${deliveryId} ${attempt}`, { ...record, detail: null } as unknown as WebhookAttemptRecord);
    }
  }

  async attempts(id: string): Promise<readonly WebhookAttemptRecord[]> {
    return [...this.records.values()].filter(({ deliveryId }) => deliveryId === id);
  }

  async finished({ webhookId, outcome, after, limit }: Parameters<WebhookAttemptReads["finished"]>[0]) {
    if (limit > finishedMax) throw new RangeError("a page is too large");
    const place = ({ at, deliveryId }: { at: number; deliveryId: string }) => `${at} ${deliveryId}`;
    const last = new Map<string, WebhookAttemptRecord>();
    for (const each of this.records.values()) if (each.outcome !== "failed") last.set(each.deliveryId, each);
    return [...last.values()]
      .filter((each) => each.webhookId === webhookId && (outcome === null || each.outcome === outcome))
      .filter((each) => after === null || place(each) < place({ at: after.atMs, deliveryId: after.deliveryId }))
      .toSorted((one, other) => (place(one) < place(other) ? 1 : -1))
      .slice(0, limit);
  }
}

async function open(stand: DeliveryStand, ledger: PlayedLedger) {
  const { store, clock } = stand;
  const log = new LedgerAttempts({ worker: "worker-1" }, { store, ledger, clock, events: { factsDropped: () => {} } });
  const worker = await stand.worker({ worker: "worker-1" }, { attempts: log });
  const control = new WebhookDeliveryControl({
    random: seededRandom(3),
    store,
    webhooks: stand.opened.state.webhooks,
    ledger: { webhookAttempts: new KnownAttempts({ store, ledger }) },
    added: (id) => worker.added(id),
  });
  return { control, log };
}

test("a delivery and its attempts are found from the moment of their outcome, and once when the ledger has them", async () => {
  await using stand = await DeliveryStand.open();
  const retryPolicy = { maxAttempts: 1, backoffMultiplier: 1 };
  const [webhook, other] = [await stand.opened.createWebhook({ retryPolicy }), await stand.opened.createWebhook()];
  const ledger = new PlayedLedger();
  const { control, log } = await open(stand, ledger);
  stand.receive = ({ attempt }) => answered(attempt === 1 ? 500 : 200);
  const [row] = await stand.opened.add(webhook.id, [{ slot: 1n }]);
  await stand.opened.add(other.id, [{ slot: 1n }]);
  const id = row?.deliveryId ?? "";
  await stand.pass(2_000);
  const list = async (status: "success" | "failed" | null) =>
    (await control.list(webhook, { limit: 10, cursor: null, pending: true, status })).deliveries.map(
      ({ id: of, status: is }) => `${of} ${is}`,
    );
  expect(await control.report(webhook, id)).toMatchObject({
    delivery: { status: "failed", attempts: 1 },
    attempts: [{ attempt: 1, statusCode: 500, requestHeaders: { "X-Service-Attempt": "1" } }],
  });
  expect([await list(null), await list("failed"), await list("success")]).toEqual([
    [`${id} failed`],
    [`${id} failed`],
    [],
  ]);
  ledger.isAway = false;
  await stand.pass(2_000);
  expect(ledger.records.size).toBeGreaterThan(0);
  expect(await list(null)).toEqual([`${id} failed`]);
  ledger.isAway = true;
  expect(await control.retry(webhook, id)).toMatchObject({ deliveryId: id });
  await stand.pass(2_000);
  // The row has left the store, and the ledger has the first attempt alone.
  expect(await stand.store.get([id])).toEqual([]);
  for (const isAway of [true, false]) {
    ledger.isAway = isAway;
    await stand.pass(2_000);
    expect(await control.webhookOf(id)).toBe(webhook.id);
    const report = await control.report(webhook, id);
    expect(report?.delivery).toMatchObject({ status: "success", attempts: 2 });
    expect(report?.attempts.map(({ attempt }) => attempt)).toEqual([1, 2]);
    expect([await list(null), await list("failed"), await list("success")]).toEqual([
      [`${id} success`],
      [],
      [`${id} success`],
    ]);
    expect(await control.report(other, id)).toBeNull();
  }
  await log[Symbol.asyncDispose]();
});

test("pages of the list meet where some of it is in the ledger and the rest on its way there", async () => {
  await using stand = await DeliveryStand.open();
  const webhook = await stand.opened.createWebhook();
  const ledger = new PlayedLedger();
  const { control, log } = await open(stand, ledger);
  const ids: string[] = [];
  for (const isAway of [false, true]) {
    ledger.isAway = isAway;
    for (let slot = 1n; slot <= 4n; slot += 1n) {
      ids.push(...(await stand.opened.add(webhook.id, [{ slot }])).map(({ deliveryId }) => deliveryId));
      await stand.pass(2_000);
    }
  }
  expect(ledger.records.size).toBe(4);
  for (const limit of [1, 2, 3, 7, 8, 100]) {
    const found: string[] = [];
    for (let cursor: string | null = null, turns = 0; turns < 20; turns += 1) {
      const question = { limit, cursor, pending: false, status: null };
      const page: Awaited<ReturnType<typeof control.list>> = await control.list(webhook, question);
      found.push(...page.deliveries.map(({ id }) => id));
      cursor = page.nextCursor;
      if (cursor === null) break;
    }
    expect(found).toEqual(ids.toReversed());
  }
  await log[Symbol.asyncDispose]();
});

for (const [driver, url] of drivers) {
  test(`pages of the largest size are not taken for the last while there are more, on ${driver}`, async () => {
    await using schema = url === null ? null : await newSchema(url);
    await using stand = await DeliveryStand.open({ databaseUrl: schema?.url ?? null });
    const webhook = await stand.opened.createWebhook();
    const ledger = new PlayedLedger();
    const { control, log } = await open(stand, ledger);
    const ids: string[] = [];
    const deliver = async (count: number) => {
      const added = await stand.opened.add(
        webhook.id,
        Array.from({ length: count }, (_, ordinal) => ({ ordinal })),
      );
      ids.push(...added.map(({ deliveryId }) => deliveryId).toSorted());
      while ((await stand.store.pending(webhook.id, null, 1)).length > 0) await stand.pass(1_000);
    };
    ledger.isAway = false;
    await deliver(finishedMax + 2);
    while (ledger.records.size < ids.length) await stand.pass(1_000);
    ledger.isAway = true;
    await deliver(2);
    // Of these the ledger's page has an end that is not their last one.
    for (const id of ids.slice(finishedMax - 2, finishedMax + 2)) await control.retry(webhook, id);
    while ((await stand.store.pending(webhook.id, null, 1)).length > 0) await stand.pass(1_000);
    const waiting = await stand.opened.add(
      webhook.id,
      Array.from({ length: 1_003 }, (_, ordinal) => ({ ordinal })),
    );
    expect(waiting.length).toBe(1_003);
    for (const pending of [true, false]) {
      const sizes: number[] = [];
      const found: string[] = [];
      for (let cursor: string | null = null; ; ) {
        const question = { limit: 1_000, cursor, pending, status: null };
        const page: Awaited<ReturnType<typeof control.list>> = await control.list(webhook, question);
        sizes.push(page.deliveries.length);
        found.push(...page.deliveries.map(({ id }) => id));
        cursor = page.nextCursor;
        if (cursor === null) break;
      }
      expect(sizes).toEqual(pending ? [1_000, 1_000, 8] : [1_000, 5]);
      expect(new Set(found).size).toBe(found.length);
    }
    await log[Symbol.asyncDispose]();
  });
}

test("what an owner asks reads a bounded part of what is kept while the ledger takes nothing", async () => {
  await using stand = await DeliveryStand.open();
  const webhook = await stand.opened.createWebhook();
  const [queue] = await stand.store.take("worker-2", await stand.store.find([webhook.id]));
  if (queue === undefined) throw new Error("the queue was free");
  const rows = await stand.opened.add(
    webhook.id,
    Array.from({ length: 40 }, (_, ordinal) => ({ ordinal })),
  );
  for (const [at, { deliveryId }] of rows.entries()) {
    const told = { delivery_id: deliveryId, webhook_id: webhook.id, attempt: 1, at, outcome: "delivered", slot: "1" };
    const fact = JSON.stringify({ ...told, request_headers: [], answer: "x".repeat(1024 * 1024) });
    await stand.store.record(queue, { kind: "delivered", deliveryId }, { worker: "worker-2", fact });
  }
  let read = 0;
  const store: Pick<typeof stand.store, "factsWith"> = {
    factsWith: async (text, most) => {
      const commits = await stand.store.factsWith(text, most);
      read = commits.reduce((sum, { facts }) => sum + facts.length, 0);
      return commits;
    },
  };
  const known = new KnownAttempts({ store, ledger: new PlayedLedger() });
  const page = { webhookId: webhook.id, outcome: null, after: null, limit: 100 } as const;
  const newest = rows.slice(-16).map(({ deliveryId }) => deliveryId);
  expect((await known.finished(page)).map(({ deliveryId }) => deliveryId)).toEqual(newest.toReversed());
  expect(read).toBeLessThan(18 * 1024 * 1024);
  expect((await known.attempts(newest[0] ?? "")).length).toBe(1);
  expect(await known.attempts(rows[0]?.deliveryId ?? "")).toEqual([]);
});
