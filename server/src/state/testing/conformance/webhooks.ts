import { describe, expect, test } from "bun:test";
import type { WebhookContent, WebhookRecord } from "../../webhook-records.ts";
import type { ConformanceSubject } from "./subject.ts";

const secret = (fill: number): Uint8Array => new Uint8Array(20).fill(fill);

const content: WebhookContent = {
  url: "https://example.com/☃",
  events: ["transaction.confirmed"],
  filters: '{"program_id":"11111111111111111111111111111111"}',
  description: "",
  retryPolicy: { maxAttempts: 7, backoffMultiplier: 2.5 },
  fifo: true,
};

export function webhookConformance({ state, clock, replicas, execute }: ConformanceSubject): void {
  const account = async (name: string): Promise<string> => (await state().accounts.create({ name })).id;
  const create = async (
    accountId: string,
    more: Partial<WebhookContent & Pick<WebhookRecord, "network" | "id">> = {},
  ): Promise<WebhookRecord> => {
    const { webhooks } = state();
    const id = more.id ?? webhooks.newId();
    const made = await webhooks.create(
      { ...content, network: "devnet", accountId, secret: secret(1), ...more, id },
      100,
    );
    if (made === null) throw new Error("there was room");
    return made;
  };

  describe("webhooks", () => {
    test("are an account's own: created, read, listed in order, changed and deleted by it alone", async () => {
      const [one, two] = [await account("of webhooks"), await account("of none")];
      const { webhooks } = state();
      const made = await create(one);
      expect(made).toEqual({
        ...content,
        id: made.id,
        accountId: one,
        network: "devnet",
        status: "active",
        statusReason: null,
        statusAt: clock.now(),
        secret: secret(1),
        nextSecret: null,
        overlapEndsAt: null,
        retiredSecrets: [],
        createdAt: clock.now(),
        updatedAt: clock.now(),
        lastSuccessAt: null,
        failingSince: null,
      });
      const other = await create(one, { network: "testnet", description: "second" });
      const listed = await webhooks.list({ accountId: one, limit: 1 });
      expect(listed.items).toEqual([made]);
      const rest = await webhooks.list({ accountId: one, limit: 1, cursor: listed.nextCursor });
      expect([rest.items, rest.nextCursor]).toEqual([[other], null]);
      expect((await webhooks.list({ accountId: one, network: "testnet" })).items).toEqual([other]);
      expect((await webhooks.list({ accountId: two })).items).toEqual([]);
      for (const id of [made.id, "", "\0", "wh_unknown"]) {
        expect(await webhooks.get(two, id)).toBeNull();
        expect(await webhooks.update(two, id, { url: "https://other" })).toBeNull();
        expect(await webhooks.setStatus(two, id, "paused")).toBeNull();
        expect(await webhooks.delete(two, id)).toBe(false);
      }
      const changes = { url: "https://b", events: ["block.confirmed"], filters: "{}", fifo: false };
      const changed = await webhooks.update(one, made.id, {
        ...changes,
        retryPolicy: { maxAttempts: 1, backoffMultiplier: 1 },
      });
      expect(changed).toMatchObject({ ...changes, retryPolicy: { maxAttempts: 1, backoffMultiplier: 1 } });
      expect(await webhooks.get(one, made.id)).toEqual(changed);
      expect((await webhooks.update(one, made.id, { retryPolicy: { maxAttempts: 4 } }))?.retryPolicy).toEqual({
        maxAttempts: 4,
        backoffMultiplier: 1,
      });
      expect((await webhooks.update(one, made.id, { retryPolicy: { maxAttempts: 1 } }))?.retryPolicy.maxAttempts).toBe(
        1,
      );
      expect(await webhooks.read([made.id, "wh_unknown"])).toEqual(changed === null ? [] : [changed]);
      expect(await webhooks.delete(one, made.id)).toBe(true);
      expect(await webhooks.get(one, made.id)).toBeNull();
      expect(await webhooks.delete(one, made.id)).toBe(false);
    });

    test("are as many as an account may have, also when several processes create at once", async () => {
      const accountId = await account("of many webhooks");
      const stores = replicas();
      const made = await Promise.all(
        Array.from({ length: 8 }, (_, index) => {
          const { webhooks } = stores[index % stores.length] ?? state();
          return webhooks.create(
            { ...content, id: webhooks.newId(), network: "devnet", accountId, secret: secret(1) },
            5,
          );
        }),
      );
      expect(made.filter((record) => record !== null).length).toBe(5);
      expect(await state().webhooks.count(accountId)).toEqual({ active: 5, paused: 0, disabled: 0 });
    });

    test("count each change that matters by network, and say which webhooks changed since a revision", async () => {
      const accountId = await account("of changes");
      const { webhooks } = state();
      const before = await webhooks.revision("mainnet");
      const elsewhere = await webhooks.revision("devnet");
      const one = await create(accountId, { network: "mainnet" });
      const two = await create(accountId, { network: "mainnet" });
      await webhooks.update(accountId, one.id, { description: "only words" });
      expect(await webhooks.changedSince("mainnet", before)).toEqual({ revision: before + 2n, ids: [one.id, two.id] });
      await webhooks.update(accountId, one.id, { fifo: false });
      await webhooks.setStatus(accountId, one.id, "paused");
      await webhooks.setStatus(accountId, one.id, "paused");
      await webhooks.delete(accountId, two.id);
      for (const replica of replicas()) {
        const since = await replica.webhooks.changedSince("mainnet", before + 2n);
        expect([since.revision > before + 4n, since.ids]).toEqual([true, [one.id, two.id]]);
      }
      expect((await webhooks.changedSince("mainnet", before + 1_000n)).ids).toBeNull();
      expect(await webhooks.revision("devnet")).toBe(elsewhere);
      await execute("delete from webhook_changes where network = 'mainnet'");
      expect((await webhooks.changedSince("mainnet", before)).ids).toBeNull();
    });

    test("keep each secret that was rotated out until its own time is over, up to a bound", async () => {
      const accountId = await account("of secrets");
      const { webhooks } = state();
      const { id } = await create(accountId);
      const at = clock.now();
      const rotate = (fill: number, from: number) =>
        webhooks.rotateSecret(accountId, id, { nextSecret: secret(fill), overlapEndsAt: from + 10, at: from });
      expect(await rotate(2, at)).toMatchObject({ secret: secret(1), nextSecret: secret(2), overlapEndsAt: at + 10 });
      expect(await rotate(3, at + 5)).toMatchObject({
        secret: secret(2),
        nextSecret: secret(3),
        overlapEndsAt: at + 15,
        retiredSecrets: [{ secret: secret(1), endsAt: at + 10 }],
      });
      expect(await rotate(4, at + 12)).toMatchObject({
        secret: secret(3),
        nextSecret: secret(4),
        retiredSecrets: [{ secret: secret(2), endsAt: at + 15 }],
      });
      expect(await rotate(5, at + 30)).toMatchObject({ secret: secret(4), nextSecret: secret(5), retiredSecrets: [] });
      for (let fill = 6; fill < 12; fill += 1) await rotate(fill, at + 31);
      const full = await webhooks.get(accountId, id);
      expect(full?.retiredSecrets.map(({ secret: [first] }) => first)).toEqual([4, 5, 6, 7, 8, 9]);
      expect([await rotate(12, at + 31), await webhooks.get(accountId, id)]).toEqual(["full", full]);
      expect(await rotate(13, at + 40)).toMatchObject({ nextSecret: secret(13) });
      const ended = await webhooks.endOverlap(accountId, id);
      expect(ended).toMatchObject({
        secret: secret(13),
        nextSecret: null,
        overlapEndsAt: null,
        retiredSecrets: [],
      });
      expect(await webhooks.endOverlap(accountId, id)).toEqual(ended);
    });

    test("are paused and active again, without the reason and the failures of before", async () => {
      const accountId = await account("of states");
      const { webhooks } = state();
      const { id } = await create(accountId);
      expect(await webhooks.setStatus(accountId, id, "paused")).toMatchObject({ status: "paused" });
      await execute(
        `update webhooks set status = 'disabled', status_reason = 'gone', failing_since = 5 where id = '${id}'`,
      );
      expect(await webhooks.get(accountId, id)).toMatchObject({
        status: "disabled",
        statusReason: "gone",
        failingSince: 5,
      });
      expect(await webhooks.setStatus(accountId, id, "active")).toMatchObject({
        status: "active",
        statusReason: null,
        failingSince: null,
      });
    });

    test("are read in pages of a network whatever the size of their filters, each once", async () => {
      const accountId = await account("of large filters");
      const large = `{"accounts":["${"1".repeat(3 * 1024 * 1024)}"]}`;
      const ids: string[] = [];
      for (let at = 0; at < 12; at += 1)
        ids.push((await create(accountId, { filters: at % 3 === 0 ? large : "{}" })).id);
      const read: string[] = [];
      for (let after = ""; ; ) {
        const page = await state().webhooks.page("devnet", after, 1_000);
        read.push(...page.map(({ id }) => id));
        after = page.at(-1)?.id ?? "";
        if (page.length === 0) break;
      }
      expect(read.filter((id) => ids.includes(id))).toEqual(ids);
      const listed: string[] = [];
      for (let cursor: string | null = null; ; ) {
        const page = await state().webhooks.list({ accountId, limit: 1_000, cursor });
        listed.push(...page.items.map(({ id }) => id));
        cursor = page.nextCursor;
        if (cursor === null) break;
      }
      expect(listed).toEqual(ids);
      for (const id of ids) await state().webhooks.delete(accountId, id);
    }, 60_000);

    test("have notices, the newest first and the oldest gone, and a queue", async () => {
      const accountId = await account("of notices");
      const { webhooks } = state();
      const { id } = await create(accountId);
      for (let at = 0; at < 55; at += 1) await webhooks.addNotice(id, { code: "gap", detail: { from: at } });
      const notices = await webhooks.notices(id);
      expect([notices.length, notices[0]?.detail, notices.at(-1)?.detail]).toEqual([50, { from: 54 }, { from: 5 }]);
      expect(await webhooks.queues([id, "wh_unknown"])).toEqual([
        { webhookId: id, waiting: 0, parkedAt: null, behindSince: null },
      ]);
    });

    test("leave nothing behind when they are deleted, in as many steps as it takes", async () => {
      const accountId = await account("of what is left");
      const { webhooks } = state();
      while ((await webhooks.clean(1_000)) > 0);
      const { id } = await create(accountId);
      const kept = await create(accountId);
      for (const [at, webhook] of [id, id, id, kept.id].entries()) {
        await execute(
          `insert into webhook_deliveries (delivery_id, webhook_id, event_id, event, slot, blockhash, ordinal, status,
            attempts, created_at, due_at) values ('dlv_left_${at}', '${webhook}', 'e', 'block.confirmed', 1, 'b', 0,
            'pending', 0, 1, 0)`,
        );
      }
      await webhooks.addNotice(id, { code: "gap", detail: {} });
      expect(await webhooks.clean(2)).toBe(0);
      await webhooks.delete(accountId, id);
      const steps: number[] = [];
      for (;;) {
        const step = await webhooks.clean(2);
        if (step === 0) break;
        steps.push(step);
      }
      expect(steps).toEqual([2, 1, 1]);
      expect([await webhooks.notices(id), await webhooks.queues([id])]).toEqual([[], []]);
      expect((await webhooks.queues([kept.id])).length).toBe(1);
      await execute("delete from webhook_deliveries where delivery_id = 'dlv_left_3'");
    });
  });
}
