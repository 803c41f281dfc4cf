import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { createHmac } from "node:crypto";
import { answered, DeliveryStand, replaced, type StandOptions } from "./testing/stand.ts";

// A busy machine takes some seconds for what passes in days of the clock.
setDefaultTimeout(60_000);

const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const never = (): Promise<never> => new Promise(() => undefined);

async function withStand(options: StandOptions, work: (stand: DeliveryStand) => Promise<void>): Promise<void> {
  await using stand = await DeliveryStand.open(options);
  await work(stand);
}

const waiting = async (stand: DeliveryStand, id: string): Promise<number> =>
  (await stand.opened.state.webhooks.queues([id]))[0]?.waiting ?? -1;

describe("a delivery", () => {
  test("has the body and the fields of the specification, signed in both ways", async () => {
    await withStand({}, async (stand) => {
      const webhook = await stand.opened.createWebhook();
      const [row] = await stand.opened.add(webhook.id, [{ slot: 5n, eventId: "e".repeat(64) }]);
      await stand.worker();
      await stand.settle();
      const [call] = stand.received;
      const body = `{"event_id":"${"e".repeat(64)}","event":"transaction.confirmed","timestamp":"2026-09-21T14:13:20.005Z","network":"devnet","data":{"slot":5}}`;
      expect(call?.body).toBe(body);
      const timestamp = String(Math.floor(stand.clock.now() / 1_000));
      const hmac = (key: string | Buffer, text: string, form: "hex" | "base64") =>
        createHmac("sha256", key).update(text).digest(form);
      const key = Buffer.from(secret.slice("whsec_".length), "base64");
      expect(Object.fromEntries(call?.fields ?? [])).toEqual({
        "Content-Type": "application/json",
        "User-Agent": "Sluice-Webhooks/1",
        "X-Service-Signature": `sha256=${hmac(secret, body, "hex")}`,
        "X-Service-Event": "transaction.confirmed",
        "X-Service-Event-ID": "e".repeat(64),
        "X-Service-Timestamp": timestamp,
        "X-Service-Delivery-ID": row?.deliveryId ?? "",
        "X-Service-Attempt": "1",
        "webhook-id": "e".repeat(64),
        "webhook-timestamp": timestamp,
        "webhook-signature": `v1,${hmac(key, `${"e".repeat(64)}.${timestamp}.${body}`, "base64")}`,
      });
      expect([await waiting(stand, webhook.id), await stand.store.fresh(webhook.id, 10), stand.spent]).toEqual([
        0,
        [],
        1,
      ]);
      expect(stand.facts).toMatchObject([{ outcome: "delivered", statusCode: 200, attempt: 1, webhookId: webhook.id }]);
    });
  });

  test("of what turns out not to have happened is gone, without an attempt, a credit or a fact", async () => {
    await withStand({}, async (stand) => {
      const webhook = await stand.opened.createWebhook();
      await stand.opened.add(webhook.id, [{}]);
      await stand.worker({}, { bodies: { read: async () => "void" } });
      await stand.settle();
      expect([stand.received, stand.facts, stand.spent]).toEqual([[], [], 0]);
      expect([await waiting(stand, webhook.id), await stand.store.fresh(webhook.id, 10)]).toEqual([0, []]);
      expect((await stand.opened.state.webhooks.read([webhook.id]))[0]?.lastSuccessAt).toBeNull();
    });
  });

  test("is signed with both secrets while a rotation lasts, and with the new one alone after it", async () => {
    await withStand({}, async (stand) => {
      const webhook = await stand.opened.createWebhook();
      const nextSecret = new TextEncoder().encode("whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA");
      const overlapEndsAt = stand.clock.now() + 60_000;
      const rotation = { nextSecret, overlapEndsAt, at: stand.clock.now() };
      await stand.opened.state.webhooks.rotateSecret(webhook.accountId, webhook.id, rotation);
      await stand.opened.add(webhook.id, [{}]);
      await stand.worker();
      await stand.settle();
      await stand.pass(61_000, 1_000);
      await stand.opened.add(webhook.id, [{ slot: 2n }]);
      await stand.pass(3_000);
      const [during, after] = stand.received;
      const sign = (key: string, body = "") => `sha256=${createHmac("sha256", key).update(body).digest("hex")}`;
      const next = "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
      expect(during?.fields.get("X-Service-Signature")).toBe(sign(secret, during?.body));
      expect(during?.fields.get("X-Service-Signature-Next")).toBe(sign(next, during?.body));
      expect(during?.fields.get("webhook-signature")?.split(" ").length).toBe(2);
      expect(after?.fields.get("X-Service-Signature")).toBe(sign(next, after?.body));
      expect(after?.fields.has("X-Service-Signature-Next")).toBe(false);
      expect(after?.fields.get("webhook-signature")?.split(" ").length).toBe(1);
    });
  });

  test("that fails is tried again by the policy with the same ids and bytes, until its attempts are used up", async () => {
    await withStand({ receive: () => answered(500) }, async (stand) => {
      const webhook = await stand.opened.createWebhook({ retryPolicy: { maxAttempts: 4, backoffMultiplier: 3 } });
      await stand.opened.add(webhook.id, [{}]);
      await stand.worker();
      const at: number[] = [];
      const began = stand.clock.now();
      stand.receive = () => {
        at.push(stand.clock.now() - began);
        return answered(500, null, "no");
      };
      await stand.settle();
      await stand.pass(90_000, 100);
      expect(stand.received.map(({ attempt }) => attempt)).toEqual([1, 2, 3, 4]);
      expect(
        new Set(stand.received.map(({ body, deliveryId, eventId }) => `${body} ${deliveryId} ${eventId}`)).size,
      ).toBe(1);
      const delays = at.slice(1).map((time, index) => time - (at[index] ?? 0));
      for (const [index, usual] of [5_000, 15_000, 45_000].entries()) {
        expect(delays[index]).toBeGreaterThanOrEqual(usual * 0.8);
        expect(delays[index]).toBeLessThanOrEqual(usual * 1.2 + 200);
      }
      expect([await waiting(stand, webhook.id), await stand.store.exhausted(webhook.id), stand.spent]).toEqual([
        0, 1, 1,
      ]);
      expect(stand.facts.map(({ outcome, answer }) => `${outcome} ${answer}`)).toEqual([
        "failed no",
        "failed no",
        "failed no",
        "exhausted no",
      ]);
    });
  });

  test("goes to an endpoint that asks for time when that has passed, and to no endpoint after 410", async () => {
    await withStand({}, async (stand) => {
      stand.receive = () => (stand.received.length === 1 ? answered(429, "120") : answered(200));
      const webhook = await stand.opened.createWebhook();
      await stand.opened.add(webhook.id, [{ slot: 1n }]);
      await stand.worker();
      await stand.settle();
      await stand.opened.add(webhook.id, [{ slot: 2n }]);
      await stand.pass(118_000, 1_000);
      expect(stand.received.length).toBe(1);
      await stand.pass(30_000, 1_000);
      expect([stand.received.length, await waiting(stand, webhook.id)]).toEqual([3, 0]);
      stand.receive = () => answered(410);
      await stand.opened.add(webhook.id, [{ slot: 3n }]);
      await stand.pass(3_000);
      await stand.opened.add(webhook.id, [{ slot: 4n }]);
      await stand.pass(3_000);
      expect(await stand.opened.state.webhooks.get(webhook.accountId, webhook.id)).toMatchObject({
        status: "disabled",
        statusReason: "gone",
      });
      expect(stand.told).toEqual([`disabled ${webhook.id} gone`]);
      expect([await stand.store.exhausted(webhook.id), await waiting(stand, webhook.id)]).toEqual([1, 1]);
      // Its owner resumes it: what waits is delivered.
      stand.receive = () => answered(200);
      await stand.opened.state.webhooks.setStatus(webhook.accountId, webhook.id, "active");
      await stand.pass(3_000);
      expect(await waiting(stand, webhook.id)).toBe(0);
    });
  });

  test("is not counted as an attempt while its data is not to be had, and is given up after ten minutes", async () => {
    await withStand({}, async (stand) => {
      const webhook = await stand.opened.createWebhook();
      await stand.opened.add(webhook.id, [{}]);
      stand.hasData = false;
      await stand.worker();
      await stand.pass(5_000);
      expect([stand.received.length, stand.spent, await waiting(stand, webhook.id)]).toEqual([0, 0, 1]);
      stand.hasData = true;
      await stand.pass(2_000);
      expect([stand.received.length, stand.spent, await waiting(stand, webhook.id)]).toEqual([1, 1, 0]);
      stand.hasData = false;
      // However long it has waited for its turn before.
      await stand.opened.add(webhook.id, [{ createdAt: stand.clock.now() - 86_400_000 }]);
      await stand.pass(590_000, 2_000);
      expect(await stand.store.exhausted(webhook.id)).toBe(0);
      await stand.pass(20_000, 2_000);
      expect([stand.received.length, await stand.store.exhausted(webhook.id)]).toEqual([1, 1]);
      expect(stand.facts.at(-1)).toMatchObject({ outcome: "exhausted", error: "DATA_UNAVAILABLE", attempt: 0 });
    });
  });

  test("keeps the data that was read for it, so that every attempt says the same", async () => {
    await withStand({ receive: ({ attempt }) => answered(attempt < 3 ? 500 : 200) }, async (stand) => {
      const webhook = await stand.opened.createWebhook();
      await stand.worker();
      for (const length of [1, 10_000]) {
        stand.received.length = 0;
        const first = `{"data":"${"a".repeat(length)}"}`;
        stand.detail = first;
        await stand.opened.add(webhook.id, [{}]);
        await stand.pass(2_000);
        const [row] = await stand.store.pending(webhook.id, null, 10);
        expect([row?.detail, row?.hasLongDetail]).toEqual(length === 1 ? [first, undefined] : [null, true]);
        expect(await stand.store.detail(row?.deliveryId ?? "")).toBe(first);
        stand.detail = '{"data":"second"}';
        await stand.pass(20_000, 500);
        expect(stand.received.map(({ body }) => body.includes(first))).toEqual([true, true, true]);
        expect(new Set(stand.received.map(({ body }) => body)).size).toBe(1);
      }
    });
  });
});

describe("a queue", () => {
  test("begins first attempts in the order of the chain, though retries are between them", async () => {
    await withStand({}, async (stand) => {
      let failures = 0;
      stand.receive = ({ attempt }) => (attempt === 1 && failures++ % 3 === 0 ? answered(500) : answered(200));
      const webhook = await stand.opened.createWebhook();
      const places = Array.from({ length: 3_000 }, (_, at) => ({ slot: BigInt((at * 7) % 100), ordinal: at }));
      await stand.opened.add(webhook.id, places);
      await stand.worker();
      for (let round = 0; round < 200 && (await waiting(stand, webhook.id)) > 0; round += 1) await stand.pass(1_000);
      expect(await waiting(stand, webhook.id)).toBe(0);
      const first = stand.received.filter(({ attempt }) => attempt === 1);
      const slots = first.map(({ body }) => Number(/"slot":(\d+)/.exec(body)?.[1]));
      expect(slots.length).toBe(3_000);
      expect(slots).toEqual(slots.toSorted((one, other) => one - other));
      expect(new Set(first.map(({ deliveryId }) => deliveryId)).size).toBe(3_000);
    });
  });

  test("in order has one delivery under way, and waits for it until it has ended", async () => {
    await withStand({}, async (stand) => {
      stand.receive = ({ body, attempt }) => answered(body.includes('"slot":2}') && attempt < 3 ? 500 : 200);
      const webhook = await stand.opened.createWebhook({ fifo: true });
      await stand.opened.add(webhook.id, [{ slot: 3n }, { slot: 1n }, { slot: 2n }]);
      await stand.worker();
      await stand.pass(30_000, 500);
      const order = stand.received.map(({ body }) => /"slot":(\d+)/.exec(body)?.[1]);
      expect(order).toEqual(["1", "2", "2", "2", "3"]);
    });
  });

  test("in order goes on while the store is read for what may be due again, as it is while much waits", async () => {
    await withStand({}, async (stand) => {
      const webhook = await stand.opened.createWebhook({ fifo: true });
      const { store } = stand;
      await stand.opened.add(
        webhook.id,
        Array.from({ length: 1_500 }, (_, slot) => ({ slot: BigInt(slot) })),
      );
      let reads = 0;
      const retries = async (...of: Parameters<typeof store.retries>) => {
        reads += 1;
        return reads > 1 ? await never() : await store.retries(...of);
      };
      await stand.worker({}, { store: replaced(store, { retries }) });
      await stand.pass(4_000, 100);
      expect(reads).toBe(2);
      expect(stand.received.length).toBeGreaterThan(500);
      const order = stand.received.map(({ body }) => Number(JSON.parse(body).data.slot));
      expect(order).toEqual(order.toSorted((one, other) => one - other));
    });
  });

  test("keeps the rate of each event: what exceeds it waits and is not dropped", async () => {
    const rateOf = (event: string) => (event === "block.confirmed" ? { perSecond: 10, burst: 20 } : null);
    await withStand({ rateOf }, async (stand) => {
      const webhook = await stand.opened.createWebhook();
      await stand.opened.add(
        webhook.id,
        Array.from({ length: 45 }, (_, at) => ({ event: "block.confirmed", slot: BigInt(at) })),
      );
      await stand.worker();
      await stand.settle();
      expect(stand.received.length).toBe(20);
      await stand.pass(1_000, 100);
      expect(stand.received.length).toBe(30);
      await stand.pass(2_000, 100);
      expect([stand.received.length, await waiting(stand, webhook.id)]).toEqual([45, 0]);
    });
  });

  test("of an account without credits is parked, keeps what waits, and goes on when there are some", async () => {
    await withStand({}, async (stand) => {
      const webhook = await stand.opened.createWebhook();
      stand.credits = 2;
      await stand.opened.add(webhook.id, [{ slot: 1n }, { slot: 2n }, { slot: 3n }, { slot: 4n }]);
      await stand.worker();
      await stand.settle();
      const state = async () => (await stand.opened.state.webhooks.queues([webhook.id]))[0];
      expect(await state()).toMatchObject({ waiting: 2, parkedAt: stand.clock.now() });
      await stand.pass(40_000, 1_000);
      expect(stand.received.length).toBe(2);
      stand.credits = 10;
      await stand.pass(31_000, 1_000);
      expect(await state()).toMatchObject({ waiting: 0, parkedAt: null });
      expect([stand.received.length, stand.credits]).toEqual([4, 8]);
    });
  });

  test("whose webhook is paused begins nothing more, and is delivered when it is resumed", async () => {
    await withStand({}, async (stand) => {
      const webhook = await stand.opened.createWebhook();
      const worker = await stand.worker();
      await stand.opened.state.webhooks.setStatus(webhook.accountId, webhook.id, "paused");
      worker.changed();
      await stand.settle();
      await stand.opened.add(webhook.id, [{}]);
      await stand.pass(3_000);
      expect(stand.received.length).toBe(0);
      await stand.opened.state.webhooks.setStatus(webhook.accountId, webhook.id, "active");
      await stand.pass(3_000);
      expect(stand.received.length).toBe(1);
    });
  });

  test("takes rows from memory when they are committed, without a look at the store, and each of them once", async () => {
    await withStand({}, async (stand) => {
      const webhook = await stand.opened.createWebhook();
      const { store } = stand;
      let reads = 0;
      const fresh = (id: string, limit: number) => {
        reads += 1;
        return store.fresh(id, limit);
      };
      const worker = await stand.worker({}, { store: replaced(store, { fresh }) });
      for (let slot = 1n; slot <= 5n; slot += 1n) {
        worker.appended(await stand.opened.add(webhook.id, [{ slot }, { slot, ordinal: 1 }]));
        await stand.settle();
      }
      await stand.pass(5_000);
      expect([stand.received.length, new Set(stand.received.map(({ deliveryId }) => deliveryId)).size, reads]).toEqual([
        10, 10, 0,
      ]);
    });
  });

  test("of a receiver that fails now and then is told once what can be recovered, and later what came since", async () => {
    await withStand({}, async (stand) => {
      stand.receive = ({ body }) => answered(Number(JSON.parse(body).data.slot) % 2 === 0 ? 200 : 500);
      const webhook = await stand.opened.createWebhook({ retryPolicy: { maxAttempts: 1, backoffMultiplier: 1 } });
      await stand.worker();
      let slot = 0n;
      const deliver = async () => {
        for (let times = 0; times < 2; times += 1) {
          slot += 1n;
          await stand.opened.add(webhook.id, [{ slot }]);
          await stand.pass(2_000, 1_000);
        }
      };
      const told = async () =>
        (await stand.opened.state.webhooks.notices(webhook.id)).map(({ detail }) => detail["deliveries"]);
      for (let times = 0; times < 10; times += 1) await deliver();
      expect(await told()).toEqual([1]);
      await stand.pass(600_000, 10_000);
      await deliver();
      expect(await told()).toEqual([11, 1]);
      // Nothing was given up since.
      stand.receive = () => answered(200);
      await stand.pass(600_000, 10_000);
      await deliver();
      expect(await told()).toEqual([11, 1]);
    });
  });

  test("of a webhook that fails for five days is disabled, and one that recovers is told what can be recovered", async () => {
    await withStand({ receive: () => answered(500) }, async (stand) => {
      const webhook = await stand.opened.createWebhook({ retryPolicy: { maxAttempts: 1, backoffMultiplier: 1 } });
      await stand.worker();
      const notices = async () => (await stand.opened.state.webhooks.notices(webhook.id)).map(({ code }) => code);
      const deliver = async () => {
        await stand.opened.add(webhook.id, [{}]);
        await stand.pass(5_000, 1_000);
      };
      await deliver();
      await stand.pass(4 * 86_400_000, 3_600_000);
      await deliver();
      stand.receive = () => answered(200);
      await deliver();
      expect([await notices(), stand.told]).toEqual([["recoverable"], []]);
      stand.receive = () => answered(500);
      await deliver();
      await stand.pass(5 * 86_400_000, 3_600_000);
      await deliver();
      expect(await notices()).toEqual(["disabled", "recoverable"]);
      expect(stand.told).toEqual([`disabled ${webhook.id} failing`]);
    });
  });
});

describe("the store", () => {
  test("may be away: what an attempt has led to is written when it is back, and nothing is sent twice", async () => {
    await withStand({}, async (stand) => {
      const webhook = await stand.opened.createWebhook();
      const { store } = stand;
      let isAway = false;
      const record = async (...of: Parameters<typeof store.record>) => {
        if (isAway) throw new Error("the database is away");
        return await store.record(...of);
      };
      await stand.opened.add(webhook.id, [{ slot: 1n }, { slot: 2n }]);
      isAway = true;
      await stand.worker({}, { store: replaced(store, { record }) });
      await stand.pass(10_000, 500);
      expect([stand.received.length, await waiting(stand, webhook.id)]).toEqual([2, 2]);
      isAway = false;
      await stand.pass(5_000, 500);
      expect([stand.received.length, await waiting(stand, webhook.id)]).toEqual([2, 0]);
    });
  });

  test("that cannot be reached for the time of a lease ends the right to begin", async () => {
    await withStand({}, async (stand) => {
      const webhook = await stand.opened.createWebhook();
      const { store } = stand;
      let isAway = false;
      const beat = async (name: string) => {
        if (isAway) throw new Error("the database is away");
        await store.beat(name);
      };
      const worker = await stand.worker({}, { store: replaced(store, { beat }) });
      isAway = true;
      await stand.pass(6_000, 500);
      worker.appended(await stand.opened.add(webhook.id, [{}]));
      await stand.pass(1_000, 500);
      expect(stand.received.length).toBe(0);
      isAway = false;
      await stand.pass(5_000, 500);
      expect(stand.received.length).toBe(1);
    });
  });
});

const databaseUrl = Bun.env["DATABASE_URL"] ?? "";
if (databaseUrl === "") console.warn("NOT RUN: several workers of webhooks on PostgreSQL (DATABASE_URL is not set)");
else {
  const { newSchema } = await import("../../state/testing/schema.ts");
  describe("several workers", () => {
    test("share the queues, and what a silent one held is delivered by the others, with what was under way at most twice", async () => {
      await using schema = await newSchema(databaseUrl);
      await withStand({ databaseUrl: schema.url }, async (stand) => {
        const webhooks = await Promise.all(Array.from({ length: 12 }, () => stand.opened.createWebhook()));
        const replica = await stand.opened.replica();
        if (replica === null) throw new Error("PostgreSQL is shared");
        let isSilent = false;
        const { webhookDeliveries } = replica;
        const dying = replaced(webhookDeliveries, {
          beat: async (worker) => (isSilent ? await never() : await webhookDeliveries.beat(worker)),
          record: async (...of) => (isSilent ? await never() : await webhookDeliveries.record(...of)),
        });
        await stand.worker();
        await stand.worker({}, { store: dying });
        const all: string[] = [];
        const round = async () => {
          for (const { id } of webhooks) {
            const rows = await stand.opened.add(
              id,
              Array.from({ length: 20 }, (_, at) => ({ slot: BigInt(at) })),
            );
            all.push(...rows.map(({ deliveryId }) => deliveryId));
          }
        };
        await round();
        await stand.pass(4_000, 100);
        expect((await stand.store.workers()).length).toBe(2);
        isSilent = true;
        await round();
        for (let step = 0; step < 400; step += 1) {
          await stand.pass(100, 100);
          await Bun.sleep(2);
          const queues = await stand.opened.state.webhooks.queues(webhooks.map(({ id }) => id));
          if (queues.every((queue) => queue.waiting === 0)) break;
        }
        const queues = await stand.opened.state.webhooks.queues(webhooks.map(({ id }) => id));
        expect(queues.map((queue) => queue.waiting)).toEqual(webhooks.map(() => 0));
        expect(new Set(stand.received.map(({ deliveryId }) => deliveryId))).toEqual(new Set(all));
        expect((await stand.store.workers()).length).toBe(1);
        isSilent = false;
      });
    });
  });
}
