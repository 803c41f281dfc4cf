import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { webhookLimits } from "@sluice/contract/webhooks";
import { ManualClock } from "@sluice/lib";
import { eventually } from "@sluice/lib/testing";
import type { PastBlocks } from "../../history/index.ts";
import { blockOfHeader } from "../../history/testing/blocks.ts";
import { blockOf, headerOf, slotOf, stageOf } from "../../log/testing/chain-model.ts";
import { ScheduledChain, type ScheduledChainOptions } from "../testing/scheduled-chain.ts";
import { shardOf } from "./shards.ts";

// A busy machine takes some seconds for a database of a test's own.
setDefaultTimeout(60_000);

const databaseUrl = Bun.env["DATABASE_URL"] ?? "";
if (databaseUrl === "") console.warn("NOT RUN: scheduling of webhooks on PostgreSQL (DATABASE_URL is not set)");
const drivers: readonly (readonly [string, string | null])[] = [
  ["SQLite", null],
  ...(databaseUrl === "" ? [] : ([["PostgreSQL", databaseUrl]] as const)),
];

const blocks = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => blockOf(headerOf(from + index)));
const finals = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => stageOf(headerOf(from + index), "finalized"));

for (const [driver, url] of drivers) {
  describe(`webhooks on ${driver}`, () => {
    let clock: ManualClock;
    let world: ScheduledChain;
    const open = async (more: Partial<ScheduledChainOptions> = {}): Promise<ScheduledChain> => {
      clock = new ManualClock(1_790_000_000_000);
      world = await ScheduledChain.open({ clock, databaseUrl: url, ...more });
      return world;
    };
    beforeEach(async () => void (await open()));
    afterEach(async () => await world[Symbol.asyncDispose]());
    const slotsOf = (id: string, event?: string): number[] => world.of(id, event).map(({ slot }) => Number(slot));
    const told = (id: string, slots: readonly number[], event?: string) =>
      eventually(`webhook ${id} is told of ${slots.join(", ")}`, () => {
        expect(slotsOf(id, event)).toEqual([...slots]);
        return true;
      });

    test("are told of each block once at each stage, and a finalized event of final blocks alone", async () => {
      await world.append(blocks(100, 103));
      await world.start();
      const id = await world.create(["block.confirmed", "block.finalized"]);
      await world.append(blocks(104, 110));
      await told(id, [104, 105, 106, 107, 108, 109, 110], "block.confirmed");
      await world.append(finals(100, 106));
      await told(id, [100, 101, 102, 103, 104, 105, 106], "block.finalized");
      expect(await world.waiting(id)).toBe(14);
      expect(world.told).toEqual(world.committed);
    });

    test("are told by their present events, filters and state, and not at all once they are deleted", async () => {
      await world.append(blocks(100, 100));
      await world.start();
      const [changed, paused, deleted] = [
        await world.create(["block.confirmed"]),
        await world.create(["block.confirmed"]),
        await world.create(["block.confirmed"]),
      ];
      await world.append(blocks(101, 102));
      for (const id of [changed, paused, deleted]) await told(id, [101, 102]);
      await world.update(changed, { filters: '{"min_transaction_count":5}' });
      await world.setStatus(paused, "paused");
      await world.delete(deleted);
      // Slots of the model hold slot % 7 transactions.
      await world.append(blocks(103, 112));
      await told(changed, [101, 102, 103, 104, 110, 111]);
      await world.setStatus(paused, "active");
      await world.append(blocks(113, 113));
      await told(paused, [101, 102, 113]);
      expect(slotsOf(deleted)).toEqual([101, 102]);
    });

    test("are told of a fork that was confirmed and of what happened instead, and no fork is finalized", async () => {
      await world.append(blocks(100, 100));
      await world.start();
      const id = await world.create(["block.confirmed", "block.finalized"]);
      const fork = headerOf(101, headerOf(100), "fork");
      const chain = [headerOf(102, headerOf(100)), headerOf(103), headerOf(104)];
      await world.append([blockOf(fork)]);
      await told(id, [101]);
      await world.append(chain.map((header) => blockOf(header)));
      await told(id, [101, 102, 103, 104], "block.confirmed");
      await world.append([...finals(100, 100), ...chain.map((header) => stageOf(header, "finalized"))]);
      await told(id, [100, 102, 103, 104], "block.finalized");
      expect(world.of(id)[0]?.blockhash).toBe(fork.blockhash);
    });

    test("who wait for credits are made no deliveries, and get all that they missed when credits return", async () => {
      await world.append(blocks(100, 100));
      await world.start();
      const [parked, other] = [await world.create(["block.confirmed"]), await world.create(["block.confirmed"])];
      await world.append(blocks(101, 102));
      await told(parked, [101, 102]);
      await world.park(parked, true);
      await world.append(blocks(103, 140));
      await told(
        other,
        Array.from({ length: 40 }, (_, at) => 101 + at),
      );
      expect([slotsOf(parked), await world.waiting(parked)]).toEqual([[101, 102], 2]);
      await world.park(parked, false);
      await told(
        parked,
        Array.from({ length: 40 }, (_, at) => 101 + at),
      );
      await world.append(blocks(141, 145));
      await told(
        parked,
        Array.from({ length: 45 }, (_, at) => 101 + at),
      );
      expect(await world.waiting(parked)).toBe(45);
      await eventually("it is behind no longer", async () => {
        await world.append(blocks(146, 146));
        return (await world.state.webhooks.queues([parked]))[0]?.behindSince === null;
      });
    });

    test("who are behind for more than seven days are disabled, and those of the account that listen are told", async () => {
      await world.append(blocks(100, 100));
      await world.start();
      const id = await world.create(["block.confirmed"]);
      const listening = await world.create(["webhook.disabled"]);
      await world.park(id, true);
      await world.append(blocks(101, 101));
      await eventually("it is behind", async () => (await world.state.webhooks.queues([id]))[0]?.behindSince != null);
      clock.advance(webhookLimits.behindMs + 1);
      await eventually("it is disabled", async () => (await world.state.webhooks.read([id]))[0]?.status === "disabled");
      expect((await world.state.webhooks.notices(id)).map(({ code }) => code)).toEqual(["disabled"]);
      const [told] = await world.state.webhookDeliveries.fresh(listening, 10);
      expect({ event: told?.event, data: JSON.parse(told?.detail ?? "") }).toEqual({
        event: "webhook.disabled",
        data: { webhook_id: id, reason: "behind", disabled_at: new Date(clock.now()).toISOString() },
      });
    });

    test("are told of gaps by a notice, and of what follows", async () => {
      await world.append(blocks(100, 100));
      await world.start();
      const [id, final] = [await world.create(["block.confirmed"]), await world.create(["block.finalized"])];
      const after = headerOf(110, headerOf(109));
      await world.append([
        blockOf(after),
        stageOf(headerOf(100), "finalized"),
        { kind: "gap", from: slotOf(101), to: slotOf(109), reason: "unavailable" },
        stageOf(after, "finalized"),
      ]);
      await told(id, [110]);
      await told(final, [100, 110]);
      for (const [webhook, stage] of [
        [id, "confirmed"],
        [final, "finalized"],
      ] as const) {
        expect(await world.state.webhooks.notices(webhook)).toMatchObject([
          { code: "gap", detail: { stage, from: "101", to: "109", reason: "unavailable" } },
        ]);
      }
    });

    test("are told of what happened while no scheduler ran, from the past where the log was trimmed", async () => {
      await world[Symbol.asyncDispose]();
      const headers = Array.from({ length: 30 }, (_, at) => headerOf(100 + at));
      const past: PastBlocks = {
        first: async (_network, from) => {
          const header = headers.find(({ slot }) => slot >= from);
          return header === undefined || header.slot > 118n ? null : { header, block: blockOfHeader(header) };
        },
        last: async () => null,
        firstSlot: async () => slotOf(100),
      };
      await open({ past });
      await world.append(blocks(100, 104));
      await world.start();
      const id = await world.create(["block.confirmed"]);
      await world.append(blocks(105, 106));
      await told(id, [105, 106]);
      await world.stop();
      await world.append(blocks(107, 129));
      world.memory.trimBelow(slotOf(115));
      await world.start();
      await told(
        id,
        Array.from({ length: 25 }, (_, at) => 105 + at),
      );
    });

    test("are told of a gap where neither the log nor the past has what follows, and go on behind it", async () => {
      await world.append(blocks(100, 104));
      await world.start();
      const id = await world.create(["block.confirmed"]);
      await world.append(blocks(105, 106));
      await told(id, [105, 106]);
      await world.stop();
      await world.append(blocks(107, 129));
      world.memory.trimBelow(slotOf(115));
      await world.start();
      await told(id, [105, 106, ...Array.from({ length: 15 }, (_, at) => 115 + at)]);
      expect(await world.state.webhooks.notices(id)).toMatchObject([
        { code: "gap", detail: { from: "107", to: "114" } },
      ]);
    });

    test("of all shards are told everything once, also after a change of the number of shards", async () => {
      await world.append(blocks(100, 100));
      await world.start();
      const ids = await Promise.all(Array.from({ length: 12 }, () => world.create(["block.confirmed"])));
      await world.append(blocks(101, 103));
      for (const id of ids) await told(id, [101, 102, 103]);
      await world.stop();
      await world.append(blocks(104, 106));
      await world.start(4);
      expect(new Set(ids.map((id) => shardOf(id, 4))).size).toBeGreaterThan(1);
      for (const id of ids) {
        await eventually(`webhook ${id} is told of all`, async () => (await world.stored(id)).length === 6);
        expect(await world.waiting(id)).toBe(6);
      }
      await world.stop();
      await world.start(1);
      await world.append(blocks(107, 107));
      for (const id of ids) {
        await eventually(`webhook ${id} is told of all`, async () => (await world.stored(id)).length === 7);
      }
    });
  });
}
