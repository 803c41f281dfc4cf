import { describe, expect, test } from "bun:test";
import type { TakenWebhookQueue } from "../../webhook-delivery-records.ts";
import type { ConformanceSubject } from "./subject.ts";

interface Placed {
  readonly slot: number;
  readonly ordinal?: number;
  readonly event?: string;
}

export function webhookDeliveryConformance({ state, clock, replicas, execute }: ConformanceSubject): void {
  const store = () => state().webhookDeliveries;
  let drawn = 0;
  const newWorker = (): string => `worker-${++drawn}`;

  const newWebhook = async (more: { accountId?: string; events?: readonly string[] } = {}) => {
    const accountId = more.accountId ?? (await state().accounts.create({ name: "of deliveries" })).id;
    const { webhooks } = state();
    const id = webhooks.newId();
    const made = await webhooks.create(
      {
        id,
        accountId,
        network: "devnet",
        url: "https://hooks.example/",
        events: more.events ?? ["transaction.confirmed"],
        filters: "{}",
        description: "",
        retryPolicy: { maxAttempts: 3, backoffMultiplier: 2 },
        fifo: false,
        secret: new Uint8Array(20),
      },
      1_000,
    );
    if (made === null) throw new Error("there was room");
    return made;
  };

  /** As a scheduler adds them. */
  const add = async (webhookId: string, places: readonly Placed[]): Promise<readonly string[]> => {
    const ids: string[] = [];
    for (const { slot, ordinal = 0, event = "transaction.confirmed" } of places) {
      const id = store().newDeliveryId();
      ids.push(id);
      await execute(
        `insert into webhook_deliveries (delivery_id, webhook_id, event_id, event, slot, blockhash, ordinal, status,
          attempts, created_at, due_at) values ('${id}', '${webhookId}', 'event-${id}', '${event}', ${slot}, 'hash',
          ${ordinal}, 'pending', 0, ${clock.now()}, 0)`,
      );
    }
    await execute(`update webhook_queues set waiting = waiting + ${places.length} where webhook_id = '${webhookId}'`);
    return ids;
  };

  const take = async (webhookId: string, worker = newWorker()): Promise<TakenWebhookQueue> => {
    const [taken] = await store().take(worker, await store().find([webhookId]));
    if (taken === undefined) throw new Error("the queue was free");
    return taken;
  };
  const waiting = async (webhookId: string) => (await state().webhooks.queues([webhookId]))[0]?.waiting;
  const failed = (deliveryId: string, attempts: number, dueAt: number) =>
    ({ kind: "failed", deliveryId, attempts, dueAt, at: clock.now(), statusCode: 500, error: "HTTP_500" }) as const;
  const exhausted = (deliveryId: string, attempts = 3) =>
    ({ kind: "exhausted", deliveryId, attempts, at: clock.now(), statusCode: null, error: "TIMEOUT" }) as const;

  describe("queues of webhooks", () => {
    test("are taken by one worker in a new epoch, with their webhook, and by nobody who saw them before", async () => {
      const webhook = await newWebhook();
      await add(webhook.id, [{ slot: 1 }]);
      const seen = await store().find([webhook.id]);
      expect(seen).toEqual([{ webhookId: webhook.id, epoch: 0n, holder: "" }]);
      const stores = replicas().map(({ webhookDeliveries }) => webhookDeliveries);
      const tries = Array.from({ length: 6 }, (_, at) => stores[at % stores.length]?.take(newWorker(), seen));
      const taken = (await Promise.all(tries)).flatMap((found) => found ?? []);
      expect(taken).toEqual([{ webhookId: webhook.id, epoch: 1n, waiting: 1, asked: 0, parkedAt: null, webhook }]);
      expect(await store().take(newWorker(), seen)).toEqual([]);
    });

    test("are free when something waits in them, nobody holds them and their webhook is active", async () => {
      const [full, empty, paused] = [await newWebhook(), await newWebhook(), await newWebhook()];
      await add(full.id, [{ slot: 1 }]);
      await add(paused.id, [{ slot: 1 }]);
      await state().webhooks.setStatus(paused.accountId, paused.id, "paused");
      const free = async (networks: readonly ("devnet" | "testnet")[] = ["devnet"]) =>
        (await store().free(networks, 1_000)).map(({ webhookId }) => webhookId);
      const before = await free();
      expect([full.id, empty.id, paused.id].map((id) => before.includes(id))).toEqual([true, false, false]);
      expect([(await free(["testnet"])).includes(full.id), await free([])]).toEqual([false, []]);
      const queue = await take(full.id);
      expect((await free()).includes(full.id)).toBe(false);
      await store().release([{ ...queue, epoch: 0n }]);
      expect((await free()).includes(full.id)).toBe(false);
      await store().release([queue]);
      expect((await free()).includes(full.id)).toBe(true);
    });

    test("of a worker that is forgotten are free, and its beats are counted until then", async () => {
      const webhook = await newWebhook();
      const worker = newWorker();
      for (let beats = 1n; beats <= 3n; beats += 1n) {
        await store().beat(worker);
        expect((await store().workers()).find((row) => row.worker === worker)).toEqual({ worker, beats });
      }
      await add(webhook.id, [{ slot: 1 }, { slot: 2 }]);
      const queue = await take(webhook.id, worker);
      expect(await store().held(worker)).toEqual(new Map([[webhook.id, { epoch: queue.epoch, waiting: 2, asked: 0 }]]));
      expect(await store().heldQueues()).toBeGreaterThan(0);
      await store().forget(worker);
      expect((await store().workers()).some((row) => row.worker === worker)).toBe(false);
      expect(await store().find([webhook.id])).toEqual([{ webhookId: webhook.id, epoch: queue.epoch, holder: "" }]);
      expect(await store().held(worker)).toEqual(new Map());
    });

    test("are parked and unparked under their epoch alone", async () => {
      const webhook = await newWebhook();
      const queue = await take(webhook.id);
      const parkedAt = async () => (await state().webhooks.queues([webhook.id]))[0]?.parkedAt;
      expect([await store().park({ ...queue, epoch: 0n }, 5), await parkedAt()]).toEqual([false, null]);
      expect([await store().park(queue, 5), await parkedAt()]).toEqual([true, 5]);
      expect([await store().park(queue, null), await parkedAt()]).toEqual([true, null]);
    });
  });

  describe("queues that wait for credits", () => {
    test("are overdue from a time on, with what has waited as long", async () => {
      const { id } = await newWebhook();
      const [first = ""] = await add(id, [{ slot: 2 }]);
      const queue = await take(id);
      const at = clock.now();
      await store().park(queue, at);
      clock.advance(10);
      const [second = ""] = await add(id, [{ slot: 1 }]);
      const overdue = async (before: number) =>
        (await store().overdue(before, 500)).filter(({ webhookId }) => webhookId === id);
      const held = { webhookId: id, epoch: queue.epoch };
      expect([await overdue(at - 1), await overdue(at), await overdue(at + 10)]).toEqual([
        [],
        [{ ...held, deliveries: 1 }],
        [{ ...held, deliveries: 2 }],
      ]);
      const since = async (before: number) =>
        (await store().waitingSince(id, before, 10)).map(({ deliveryId }) => deliveryId);
      expect([await since(at), await since(at + 10)]).toEqual([[first], [second, first]]);
      await store().record(queue, exhausted(first));
      expect([await overdue(at), await since(at)]).toEqual([[], []]);
      await store().park(queue, null);
      expect(await overdue(at + 10)).toEqual([]);
    });
  });

  describe("deliveries of webhooks", () => {
    test("are read in the order of the chain before their first attempt, by their time after it", async () => {
      const { id } = await newWebhook();
      const places = [{ slot: 9, ordinal: 1 }, { slot: 9 }, { slot: 10 }, { slot: 2, ordinal: 7 }];
      const [one = "", two = "", three = "", four = ""] = await add(id, places);
      const ids = async (rows: Promise<readonly { deliveryId: string }[]>) => (await rows).map((row) => row.deliveryId);
      expect(await ids(store().fresh(id, 10))).toEqual([four, two, one, three]);
      expect(await ids(store().fresh(id, 2))).toEqual([four, two]);
      const [block = ""] = await add(id, [{ slot: 1, event: "block.confirmed" }]);
      expect(await ids(store().fresh(id, 2))).toEqual([block, four]);
      expect(await ids(store().fresh(id, 2, ["block.confirmed", "block.finalized"]))).toEqual([four, two]);
      const queue = await take(id);
      const now = clock.now();
      expect(await store().record(queue, failed(one, 1, now + 2_000))).toBe(true);
      expect(await store().record(queue, failed(two, 1, now + 1_000))).toBe(true);
      expect(await store().record(queue, failed(block, 1, now + 500))).toBe(true);
      expect(await ids(store().retries(id, { until: now + 1_500, limit: 1 }))).toEqual([block]);
      expect(await ids(store().retries(id, { until: now + 1_500, limit: 10, except: ["block.confirmed"] }))).toEqual([
        two,
      ]);
      expect(await store().record(queue, { kind: "delivered", deliveryId: block })).toBe(true);
      expect(await ids(store().fresh(id, 10))).toEqual([four, three]);
      expect(await ids(store().retries(id, { until: now + 1_500, limit: 10 }))).toEqual([two]);
      expect(await ids(store().retries(id, { until: now + 2_000, limit: 10 }))).toEqual([two, one]);
      expect(await ids(store().pending(id, null, 10))).toEqual([four, three, two, one]);
      const [, second] = await store().pending(id, null, 2);
      expect(await ids(store().pending(id, second ?? null, 10))).toEqual([two, one]);
      expect((await store().retries(id, { until: now + 9_000, limit: 1 }))[0]).toMatchObject({
        attempts: 1,
        dueAt: now + 1_000,
        lastAttemptAt: now,
        lastStatusCode: 500,
        lastError: "HTTP_500",
      });
    });

    test("end once: what is delivered is gone, what is exhausted can be recovered, and as many wait as are left", async () => {
      const webhook = await newWebhook();
      const ids = await add(
        webhook.id,
        Array.from({ length: 6 }, (_, slot) => ({ slot })),
      );
      const [one = "", two = "", three = ""] = ids;
      const queue = await take(webhook.id);
      const outcomes = [
        { kind: "delivered", deliveryId: one },
        { kind: "delivered", deliveryId: one },
        { kind: "delivered", deliveryId: "delivery_unknown" },
        exhausted(two),
        exhausted(two),
        failed(three, 1, clock.now() + 5_000),
      ] as const;
      expect(await Promise.all(outcomes.map((outcome) => store().record(queue, outcome)))).toEqual(
        outcomes.map(() => true),
      );
      expect(await store().record(queue, exhausted(two))).toBe(true);
      expect([await waiting(webhook.id), await store().exhausted(webhook.id)]).toEqual([4, 1]);
      expect(await store().get([one, two])).toMatchObject([
        {
          dueAt: null,
          attempts: 3,
          lastStatusCode: null,
        },
      ]);
      expect((await store().fresh(webhook.id, 10)).map(({ deliveryId }) => deliveryId)).toEqual(ids.slice(3));
    });

    test("keep the facts of attempts with their outcomes, and those of the fenced do not count", async () => {
      const [mine, theirs] = [await newWebhook(), await newWebhook()];
      const [one = "", two = ""] = await add(mine.id, [{ slot: 1 }, { slot: 2 }]);
      const [three = ""] = await add(theirs.id, [{ slot: 1 }]);
      const [held, stale] = [await take(mine.id), await take(theirs.id)];
      await take(theirs.id);
      const worker = newWorker();
      await store().beat(worker);
      const fact = (at: number, text = "") => ({ worker, fact: JSON.stringify({ at, text }) });
      const odd = "\u0000'\",\ud83d\ude00";
      await Promise.all([
        store().record(held, { kind: "delivered", deliveryId: one }, fact(1, odd)),
        store().record(stale, { kind: "delivered", deliveryId: three }, fact(2)),
        store().record(held, failed(two, 1, 5), fact(3)),
        store().record(held, { kind: "delivered", deliveryId: "delivery_unknown" }),
      ]);
      await store().record(held, exhausted(two), fact(4));
      const read = async () => (await store().facts(worker, 10)).flatMap(({ facts }) => JSON.parse(facts));
      expect(await read()).toEqual([
        { at: 1, text: odd },
        { at: 3, text: "" },
        { at: 4, text: "" },
      ]);
      const known = (await store().facts(worker, 10)).map(({ id }) => id);
      const holding = async (text: string, most = 1e9) => (await store().factsWith(text, most)).map(({ id }) => id);
      expect([
        await holding(JSON.stringify(odd)),
        await holding('"at":1,"text":"%"'),
        await holding('"at":2,'),
      ]).toEqual([known.slice(0, 1), [], []]);
      expect([await holding('"text":""', 1), await holding('"text":""')]).toEqual([
        known.slice(-1),
        known.toReversed(),
      ]);
      expect((await store().orphanedFacts(1_000)).filter(({ id }) => known.includes(id))).toEqual([]);
      await store().forget(worker);
      const [first] = await store().facts(worker, 1);
      expect((await store().orphanedFacts(1_000)).map(({ id }) => id)).toContain(first?.id ?? "");
      await store().dropFacts([first?.id ?? "", "unknown"]);
      expect(await read()).toEqual([{ at: 4, text: "" }]);
      await store().dropFacts([]);
    });

    test("keep facts up to a bound, the oldest of which go first", async () => {
      const webhook = await newWebhook();
      const ids = await add(
        webhook.id,
        Array.from({ length: 3 }, (_, slot) => ({ slot })),
      );
      const queue = await take(webhook.id);
      const worker = newWorker();
      for (const { id } of await store().orphanedFacts(1_000)) await store().dropFacts([id]);
      for (const [at, deliveryId] of ids.entries()) {
        const fact = { worker, fact: JSON.stringify({ at, text: "x".repeat(1_000) }) };
        await store().record(queue, { kind: "delivered", deliveryId }, fact);
      }
      // Of the oldest a part would be beyond what is looked at; of the newest one something always is.
      const found = async (most: number) => (await store().factsWith('"text":"x', most)).length;
      expect([await found(1), await found(2_000), await found(2_500)]).toEqual([1, 2, 3]);
      expect(await store().boundFacts(2_500)).toBe(1);
      expect(await store().boundFacts(2_500)).toBe(0);
      const left = (await store().facts(worker, 10)).flatMap(({ facts }) => JSON.parse(facts));
      expect(left.map(({ at }: { at: number }) => at)).toEqual([1, 2]);
    });

    test("have ids of one form", () => {
      expect(store().newDeliveryId()).toMatch(/^delivery_[0-9a-f]{32}$/);
      expect(store().newDeliveryId()).not.toBe(store().newDeliveryId());
    });

    test("of a queue that another worker has taken are not written, and those of other queues are", async () => {
      const [mine, theirs] = [await newWebhook(), await newWebhook()];
      const [one = ""] = await add(mine.id, [{ slot: 1 }]);
      const [two = ""] = await add(theirs.id, [{ slot: 1 }]);
      const [held, stale] = [await take(mine.id), await take(theirs.id)];
      await take(theirs.id);
      const written = await Promise.all([
        store().record(stale, { kind: "delivered", deliveryId: two }),
        store().record(held, { kind: "delivered", deliveryId: one }),
        store().record(stale, failed(two, 1, 5)),
      ]);
      expect(written).toEqual([false, true, false]);
      expect([await waiting(mine.id), await waiting(theirs.id)]).toEqual([0, 1]);
      expect(await store().keepDetail(stale, two, "{}")).toBe(false);
      expect(await store().fresh(theirs.id, 10)).toMatchObject([{ deliveryId: two, detail: null }]);
      expect(await store().keepDetail({ ...stale, epoch: 2n }, two, "{}")).toBe(true);
      expect(await store().fresh(theirs.id, 10)).toMatchObject([{ deliveryId: two, detail: "{}" }]);
    });

    test("are tried again when their owner asks, also when they are exhausted, and in no other queue", async () => {
      const webhook = await newWebhook();
      const stranger = await newWebhook();
      const [one = "", two = ""] = await add(webhook.id, [{ slot: 1 }, { slot: 2 }]);
      const queue = await take(webhook.id);
      await store().record(queue, exhausted(one));
      await store().record(queue, failed(two, 1, clock.now() + 60_000));
      expect([await store().retry(stranger.id, one), await store().retry(webhook.id, "delivery_unknown")]).toEqual([
        null,
        null,
      ]);
      expect(await waiting(webhook.id)).toBe(1);
      for (const id of [one, two, one]) {
        expect(await store().retry(webhook.id, id)).toMatchObject({ deliveryId: id, dueAt: clock.now() });
      }
      expect(await waiting(webhook.id)).toBe(2);
      // The worker of the queue sees it, also where as many wait as before.
      const asked = (await store().take(newWorker(), await store().find([webhook.id])))[0]?.asked;
      expect(asked).toBe(3);
      expect(
        (await store().retries(webhook.id, { until: clock.now(), limit: 10 })).map(({ attempts }) => attempts),
      ).toEqual([3, 1]);
    });

    test("that have ended are made anew, once", async () => {
      const webhook = await newWebhook();
      const [one = ""] = await add(webhook.id, [{ slot: 7, ordinal: 3 }]);
      const [made] = await store().fresh(webhook.id, 1);
      if (made === undefined) throw new Error("one was added");
      expect(await store().revive(made)).toBe(false);
      await store().record(await take(webhook.id), { kind: "delivered", deliveryId: one });
      expect([await store().revive({ ...made, attempts: 4, detail: "kept" }), await store().revive(made)]).toEqual([
        true,
        false,
      ]);
      expect(await store().retries(webhook.id, { until: clock.now(), limit: 10 })).toEqual([
        { ...made, attempts: 4, detail: "kept", dueAt: clock.now() },
      ]);
      expect(await waiting(webhook.id)).toBe(1);
      expect(await store().revive({ ...made, deliveryId: "delivery_other", webhookId: "wh_unknown" })).toBe(false);
    });

    test("that are exhausted are recovered from a time on, within a bound, or dropped after theirs", async () => {
      const webhook = await newWebhook();
      // What other tests have left.
      await store().dropExhausted(clock.now() + 1, 1_000);
      const before = await add(webhook.id, [{ slot: 1 }]);
      // They were made before that time, and are given up after it.
      const later = await add(webhook.id, [{ slot: 2 }, { slot: 3 }, { slot: 4 }]);
      const queue = await take(webhook.id);
      await store().record(queue, exhausted(before[0] ?? ""));
      clock.advance(1_000);
      const since = clock.now();
      for (const id of later) await store().record(queue, exhausted(id));
      expect([await store().recover(webhook.id, since, 2), await waiting(webhook.id)]).toEqual([2, 2]);
      expect([await store().recover(webhook.id, since, 2), await waiting(webhook.id)]).toEqual([1, 3]);
      expect([await store().recover(webhook.id, since, 2), await store().exhausted(webhook.id)]).toEqual([0, 1]);
      expect(await store().dropExhausted(since - 1_000, 10)).toBe(0);
      expect([await store().dropExhausted(since, 10), await store().exhausted(webhook.id)]).toEqual([1, 0]);
      expect(await waiting(webhook.id)).toBe(3);
    });

    test("of a test come before all others, and only to a webhook that is active", async () => {
      const webhook = await newWebhook();
      const [one = ""] = await add(webhook.id, [{ slot: 1 }]);
      const single = {
        deliveryId: store().newDeliveryId(),
        eventId: "e".repeat(64),
        event: "test.webhook",
        data: "{}",
      };
      expect(await store().addSingle(webhook.id, single)).toBe(true);
      const rows = await store().fresh(webhook.id, 10);
      expect(rows.map(({ deliveryId, detail }) => [deliveryId, detail])).toEqual([
        [single.deliveryId, "{}"],
        [one, null],
      ]);
      expect(await waiting(webhook.id)).toBe(2);
      await state().webhooks.setStatus(webhook.accountId, webhook.id, "paused");
      const another = { ...single, deliveryId: store().newDeliveryId() };
      expect([await store().addSingle(webhook.id, another), await waiting(webhook.id)]).toEqual([false, 2]);
    });
  });

  describe("the health of a webhook", () => {
    test("is failing since the first failure after a success", async () => {
      const { id, accountId } = await newWebhook();
      expect([await store().failing(id, 100), await store().failing(id, 200)]).toEqual([100, 100]);
      expect([await store().succeeded(id, 300), await store().succeeded(id, 400)]).toEqual([100, null]);
      expect(await state().webhooks.get(accountId, id)).toMatchObject({ lastSuccessAt: 400, failingSince: null });
      expect(await store().failing(id, 500)).toBe(500);
    });

    test("tells what was given up once, and no sooner again than it is allowed to", async () => {
      const webhook = await newWebhook();
      const asking = await newWebhook({ accountId: webhook.accountId, events: ["webhook.recoverable"] });
      const ids = await add(webhook.id, [{ slot: 1 }, { slot: 2 }, { slot: 3 }]);
      const queue = await take(webhook.id);
      const tell = async () =>
        await store().tellRecoverable({
          webhookId: webhook.id,
          everyMs: 60_000,
          told: (found) => {
            const event = { eventId: store().newDeliveryId(), event: "webhook.recoverable", data: "{}" };
            return { webhookId: webhook.id, code: "recoverable", detail: found, event };
          },
        });
      expect(await tell()).toBe("nothing");
      const since = clock.now();
      await store().record(queue, exhausted(ids[0] ?? ""));
      clock.advance(1_000);
      await store().record(queue, exhausted(ids[1] ?? ""));
      expect([await tell(), await tell()]).toEqual(["told", "nothing"]);
      clock.advance(59_999);
      await store().record(queue, exhausted(ids[2] ?? ""));
      const last = clock.now();
      expect(await tell()).toBe("later");
      clock.advance(1);
      expect([await tell(), await tell()]).toEqual(["told", "nothing"]);
      expect((await state().webhooks.notices(webhook.id)).map(({ detail }) => detail)).toEqual([
        { deliveries: 3, since: last },
        { deliveries: 2, since },
      ]);
      expect(await waiting(asking.id)).toBe(2);
    });

    test("ends once: it is disabled with a revision, a notice, and an event to those of the account that ask", async () => {
      const webhook = await newWebhook();
      const { accountId } = webhook;
      const asking = await newWebhook({ accountId, events: ["webhook.disabled"] });
      const others = [await newWebhook({ accountId }), await newWebhook({ events: ["webhook.disabled"] })];
      const revision = await state().webhooks.revision("devnet");
      const event = { eventId: "a".repeat(64), event: "webhook.disabled", data: '{"webhook_id":"w"}' };
      const disabling = {
        webhookId: webhook.id,
        reason: "gone",
        at: 700,
        code: "disabled",
        detail: { reason: "gone" },
        event,
      };
      expect([await store().disable(disabling), await store().disable(disabling)]).toEqual([true, false]);
      expect(await state().webhooks.get(accountId, webhook.id)).toMatchObject({
        status: "disabled",
        statusReason: "gone",
        statusAt: 700,
      });
      expect(await state().webhooks.changedSince("devnet", revision)).toEqual({
        revision: revision + 1n,
        ids: [webhook.id],
      });
      expect((await state().webhooks.notices(webhook.id)).map(({ code, detail }) => [code, detail])).toEqual([
        ["disabled", { reason: "gone" }],
      ]);
      expect(await store().fresh(asking.id, 10)).toMatchObject([
        { event: event.event, eventId: event.eventId, detail: event.data },
      ]);
      for (const { id } of [webhook, ...others]) expect(await store().fresh(id, 10)).toEqual([]);
      await store().tell({ webhookId: webhook.id, code: "recoverable", detail: {}, event });
      expect(await waiting(asking.id)).toBe(2);
    });
  });
}
