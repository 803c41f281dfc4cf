import { describe, expect, test } from "bun:test";
import { webhookLimits } from "@sluice/contract/webhooks";
import type { State } from "../../records.ts";
import type { NewDelivery, ShardSchedule, WebhookStage } from "../../webhook-schedule-records.ts";
import type { ConformanceSubject } from "./subject.ts";

const network = "testnet";
let drawn = 0;
const draw = (prefix: string): string => `${prefix}${(drawn++).toString().padStart(6, "0")}`;

const deliveryOf = (webhookId: string, more: Partial<NewDelivery> = {}): NewDelivery => ({
  deliveryId: draw("delivery_"),
  webhookId,
  eventId: draw("event"),
  event: "transaction.confirmed",
  slot: 2n ** 60n,
  blockhash: "hash",
  ordinal: 1,
  txIndex: 7,
  account: null,
  undecided: null,
  ...more,
});

export function webhookScheduleConformance({ state, clock, replicas, execute }: ConformanceSubject): void {
  const newAccount = async (): Promise<string> => (await state().accounts.create({ name: "of schedules" })).id;
  const create = async (more: { accountId?: string; events?: readonly string[] } = {}): Promise<string> => {
    const accountId = more.accountId ?? (await newAccount());
    const id = state().webhooks.newId();
    await state().webhooks.create(
      {
        id,
        accountId,
        network,
        url: "https://example.com",
        events: more.events ?? ["transaction.confirmed"],
        filters: "{}",
        description: "",
        retryPolicy: { maxAttempts: 1, backoffMultiplier: 1 },
        fifo: false,
        secret: new Uint8Array(1),
      },
      100,
    );
    return id;
  };
  const waitingOf = async (id: string): Promise<number | undefined> =>
    (await state().webhooks.queues([id]))[0]?.waiting;
  const revision = (): Promise<bigint> => state().webhooks.revision(network);

  /** The schedule of the only shard under a new lease, at `start` at both stages. */
  const begin = async (start: string): Promise<ShardSchedule> => {
    const schedule = await under(state());
    const seen = await schedule.cursors();
    const next = (["confirmed", "finalized"] as const).map((stage) => ({ shard: 0, stage, cursor: start }));
    expect(await schedule.layOut(next, seen)).toBe(true);
    return schedule;
  };
  const under = async (of: State): Promise<ShardSchedule> => {
    const name = `${network}:webhook-scheduler`;
    const lease = await of.leases.take(name, draw("holder"), await of.leases.find(name));
    if (lease === null) throw new Error("the lease was to be had");
    return of.webhookSchedule.under(lease, { network, shard: 0 });
  };
  const step = async (
    schedule: ShardSchedule,
    [from, to]: readonly [string, string],
    deliveries: readonly NewDelivery[],
    stage: WebhookStage = "confirmed",
  ) => await schedule.step({ stage, from, to, revision: await revision(), deliveries });
  const cursorAt = async (schedule: ShardSchedule, stage: WebhookStage): Promise<string | undefined> =>
    (await schedule.cursors()).find((each) => each.stage === stage)?.cursor;

  describe("the schedule of webhooks", () => {
    test("writes deliveries, the count of what waits and the cursor together, each delivery once", async () => {
      const [one, two] = [await create(), await create()];
      const schedule = await begin("a");
      const asked = '{"owner":"program"}';
      const first = deliveryOf(one, { account: "account", txIndex: null, event: "account.updated", undecided: asked });
      const deliveries = [first, deliveryOf(two), deliveryOf(one)];
      expect(await step(schedule, ["a", "b"], deliveries)).toEqual({ ok: true, behind: [] });
      expect([await waitingOf(one), await waitingOf(two)]).toEqual([2, 1]);
      const rows = await state().webhookDeliveries.fresh(one, 10);
      expect(rows.map(({ account, undecided }) => [account, undecided]).toSorted()).toEqual([
        [null, null],
        ["account", asked],
      ]);
      expect(await step(schedule, ["b", "c"], [first, deliveryOf(one)])).toEqual({ ok: true, behind: [] });
      expect([await waitingOf(one), await waitingOf(two)]).toEqual([3, 1]);
      expect(await cursorAt(schedule, "confirmed")).toBe("c");
      expect(await cursorAt(schedule, "finalized")).toBe("a");
      // Many more than one statement of SQLite takes, for many webhooks.
      const many = await Promise.all(Array.from({ length: 70 }, () => create()));
      const made = many.flatMap((id) => [deliveryOf(id), deliveryOf(id)]);
      expect(await step(schedule, ["c", "d"], made)).toEqual({ ok: true, behind: [] });
      const queues = await state().webhooks.queues(many);
      expect(queues.map(({ waiting }) => waiting)).toEqual(many.map(() => 2));
    });

    test("writes nothing that was matched before a change of webhooks, and nothing from another cursor", async () => {
      const id = await create();
      const schedule = await begin("a");
      const before = await revision();
      await create();
      const deliveries = [deliveryOf(id)];
      const late = { stage: "confirmed", from: "a", to: "b", revision: before, deliveries } as const;
      expect(await schedule.step(late)).toEqual({ ok: false, code: "REVISION" });
      expect(await step(schedule, ["z", "b"], deliveries)).toEqual({ ok: false, code: "CURSOR" });
      expect([await waitingOf(id), await cursorAt(schedule, "confirmed")]).toEqual([0, "a"]);
      expect(await schedule.move({ stage: "confirmed", from: "z", to: "b" })).toBe(false);
      expect(await schedule.move({ stage: "confirmed", from: "a", to: "b" })).toBe(true);
      expect(await cursorAt(schedule, "confirmed")).toBe("b");
    });

    test("is refused as a whole once another process has taken the lease", async () => {
      const id = await create();
      const former = await begin("a");
      const successor = await under(replicas().at(-1) ?? state());
      await expect(step(former, ["a", "b"], [deliveryOf(id)])).rejects.toMatchObject({ code: "OVERLOADED" });
      await expect(former.move({ stage: "confirmed", from: "a", to: "b" })).rejects.toMatchObject({
        code: "OVERLOADED",
      });
      expect([await waitingOf(id), await cursorAt(successor, "confirmed")]).toEqual([0, "a"]);
      expect(await step(successor, ["a", "b"], [deliveryOf(id)])).toEqual({ ok: true, behind: [] });
    });

    test("keeps a webhook behind that has no room or waits for credits, from where it was told last", async () => {
      const [full, parked, other] = [await create(), await create(), await create()];
      const schedule = await begin("a");
      await execute(`update webhook_queues set waiting = ${webhookLimits.waiting} where webhook_id = '${full}'`);
      await execute(`update webhook_queues set parked_at = 1 where webhook_id = '${parked}'`);
      const deliveries = [deliveryOf(full), deliveryOf(other), deliveryOf(parked)];
      const outcome = await step(schedule, ["a", "b"], deliveries);
      expect(outcome.ok && outcome.behind.toSorted()).toEqual([full, parked].toSorted());
      expect([await waitingOf(full), await waitingOf(parked), await waitingOf(other)]).toEqual([
        webhookLimits.waiting,
        0,
        1,
      ]);
      clock.advance(1_000);
      // Also where whoever matched did not know of it.
      const again = await step(schedule, ["b", "c"], [deliveryOf(full)]);
      expect(again).toEqual({ ok: true, behind: [full] });
      await step(schedule, ["a", "b"], [deliveryOf(full)], "finalized");
      const behind = await schedule.behind();
      expect(behind.find(({ webhookId }) => webhookId === full)).toEqual({
        webhookId: full,
        cursors: { confirmed: "a", finalized: "a" },
        since: clock.now() - 1_000,
      });
      expect(behind.find(({ webhookId }) => webhookId === parked)?.cursors).toEqual({
        confirmed: "a",
        finalized: null,
      });
      expect(behind.some(({ webhookId }) => webhookId === other)).toBe(false);
    });

    test("makes the deliveries of those behind as room frees, from their own cursors, until they join", async () => {
      const [first, second] = [await create(), await create()];
      const schedule = await begin("a");
      await execute(`update webhook_queues set parked_at = 1 where webhook_id in ('${first}', '${second}')`);
      await step(schedule, ["a", "b"], [deliveryOf(first), deliveryOf(second)]);
      await execute(`update webhook_queues set parked_at = null where webhook_id = '${first}'`);
      const webhooks = [first, second].map((webhookId) => ({ webhookId, from: "a" }));
      const made = [deliveryOf(first), deliveryOf(second)];
      const catchUp = async (to: string, of = webhooks) =>
        await schedule.catchUp({
          stage: "confirmed",
          webhooks: of,
          to,
          revision: await revision(),
          deliveries: made.filter(({ webhookId }) => of.some((each) => each.webhookId === webhookId)),
        });
      expect(await catchUp("b")).toEqual({ ok: true, full: [second] });
      expect([await waitingOf(first), await waitingOf(second)]).toEqual([1, 0]);
      expect(await catchUp("c")).toEqual({ ok: false, code: "CURSOR" });
      expect(await schedule.join("confirmed", webhooks)).toBe(false);
      expect(await schedule.join("confirmed", [{ webhookId: first, from: "b" }])).toBe(true);
      expect((await state().webhooks.queues([first]))[0]?.behindSince).toBeNull();
      expect((await schedule.behind()).map(({ webhookId }) => webhookId)).not.toContain(first);
      await execute(`update webhook_queues set parked_at = null where webhook_id = '${second}'`);
      expect(await catchUp("b", webhooks.slice(1))).toEqual({ ok: true, full: [] });
      const late = { stage: "confirmed", webhooks: [], to: "c", revision: 0n, deliveries: [] } as const;
      expect(await schedule.catchUp(late)).toEqual({ ok: false, code: "REVISION" });
    });

    test("disables what was behind for too long, as a change that its owner and those who listen are told of", async () => {
      const accountId = await newAccount();
      const id = await create({ accountId });
      const listening = await create({ accountId, events: ["webhook.disabled"] });
      const others = [await create({ accountId }), await create({ events: ["webhook.disabled"] })];
      const schedule = await begin("a");
      await execute(`update webhook_queues set parked_at = 1 where webhook_id = '${id}'`);
      await step(schedule, ["a", "b"], [deliveryOf(id)]);
      const before = await revision();
      const event = { eventId: "b".repeat(64), event: "webhook.disabled", data: '{"webhook_id":"w"}' };
      const told = { webhookId: id, code: "disabled", detail: { reason: "behind" }, event };
      expect([await schedule.disableBehind(told), await schedule.disableBehind(told)]).toEqual([true, false]);
      expect(await schedule.disableBehind({ ...told, webhookId: "wh_unknown" })).toBe(false);
      expect(await revision()).toBe(before + 1n);
      expect(await state().webhooks.read([id])).toMatchObject([{ status: "disabled", statusReason: "behind" }]);
      expect((await state().webhooks.notices(id)).map(({ code, detail }) => [code, detail])).toEqual([
        ["disabled", { reason: "behind" }],
      ]);
      expect(await waitingOf(listening)).toBe(1);
      expect(await state().webhookDeliveries.fresh(listening, 10)).toMatchObject([
        { event: event.event, eventId: event.eventId, detail: event.data },
      ]);
      for (const other of [id, ...others]) expect(await waitingOf(other)).toBe(0);
      expect((await schedule.behind()).map(({ webhookId }) => webhookId)).not.toContain(id);
    });

    test("notes each gap once, and the newest notices alone are kept", async () => {
      const [one, two] = [await create(), await create()];
      const schedule = await begin("a");
      const gap = { stage: "confirmed", from: 2n ** 60n, to: 2n ** 60n + 1n, reason: "unavailable" } as const;
      await schedule.noteGap([one, two], gap);
      await schedule.noteGap([one], gap);
      expect(await state().webhooks.notices(one)).toMatchObject([
        { code: "gap", at: clock.now(), detail: { from: `${gap.from}`, to: `${gap.to}`, reason: "unavailable" } },
      ]);
      for (let at = 1n; at <= 55n; at += 1n) {
        clock.advance(1);
        await schedule.noteGap([one, two], { ...gap, from: at, to: at });
      }
      const notices = await state().webhooks.notices(two);
      expect([notices.length, notices[0]?.detail["from"]]).toEqual([50, "55"]);
    });

    test("lays out cursors for another number of shards only where nobody else did meanwhile", async () => {
      const schedule = await begin("a");
      const seen = await schedule.cursors();
      await schedule.move({ stage: "confirmed", from: "a", to: "b" });
      const next = [0, 1].flatMap((shard) => [
        { shard, stage: "confirmed" as const, cursor: "a" },
        { shard, stage: "finalized" as const, cursor: "a" },
      ]);
      expect(await schedule.layOut(next, seen)).toBe(false);
      expect(await schedule.layOut(next, await schedule.cursors())).toBe(true);
      expect(await schedule.cursors()).toEqual(next);
    });
  });
}
