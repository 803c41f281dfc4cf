import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { ManualClock, type Random, seededRandom } from "@sluice/lib";
import { eventually } from "@sluice/lib/testing";
import { modelChain } from "../../log/testing/chain-model.ts";
import { oneOf } from "../testing/drawn-blocks.ts";
import { type Kill, ScheduledChain } from "../testing/scheduled-chain.ts";

// Each schedule begins a database anew, which takes seconds on a busy machine.
setDefaultTimeout(120_000);

const databaseUrl = Bun.env["DATABASE_URL"] ?? "";
const drivers: readonly (readonly [string, string | null, number])[] = [
  ["SQLite", null, 6],
  ...(databaseUrl === "" ? [] : ([["PostgreSQL", databaseUrl, 2]] as const)),
];

const chance = (random: Random, share: number): boolean => random.next() < share;

interface Played {
  readonly world: ScheduledChain;
  readonly random: Random;
  readonly records: ReturnType<typeof modelChain>["records"];
  readonly webhooks: readonly string[];
}

/** Appends the records in parts, and meanwhile kills schedulers, parks queues and changes other webhooks. */
async function play({ world, random, records, webhooks }: Played): Promise<void> {
  const parked = new Set<string>();
  let others: readonly string[] = [];
  for (let at = 0; at < records.length; ) {
    const count = 1 + Math.floor(random.next() * 12);
    await world.append(records.slice(at, at + count));
    at += count;
    if (chance(random, 0.3)) {
      others = [...others, await world.create(["block.confirmed"])];
      for (const id of others) if (chance(random, 0.3)) await world.setStatus(id, "paused");
      const [first] = others;
      if (chance(random, 0.2) && first !== undefined) {
        await world.delete(first);
        others = others.slice(1);
      }
    }
    for (const id of webhooks) {
      if (!chance(random, 0.15)) continue;
      if (parked.delete(id)) await world.park(id, false);
      else {
        parked.add(id);
        await world.park(id, true);
      }
    }
    if (chance(random, 0.5)) await Bun.sleep(random.next() * 30);
    if (chance(random, 0.35)) {
      await world.stop();
      await world.begin();
    }
  }
  for (const id of parked) await world.park(id, false);
}

for (const [driver, url, seeds] of drivers) {
  describe(`on ${driver}, whatever is killed, forked, parked and changed meanwhile`, () => {
    test("each webhook is told all of the chain, each event once, and finalized events of the chain alone", async () => {
      for (let seed = 1; seed <= seeds; seed += 1) {
        const random = seededRandom(seed);
        await using world = await ScheduledChain.open({
          clock: new ManualClock(1_790_000_000_000),
          databaseUrl: url,
          shards: 1 + (seed % 2),
        });
        const { records, blocks, finalized } = modelChain(seed, 90);
        const webhooks = [
          await world.create(["block.confirmed", "block.finalized", "transaction.confirmed"]),
          await world.create(["block.confirmed", "transaction.finalized"]),
          await world.create(["block.finalized", "account.updated"]),
        ];
        world.killOf = (): Kill => {
          if (!chance(random, 0.12)) return null;
          return oneOf(random, ["before", "after", "unanswered", "unanswered"] as const);
        };
        await world.begin();
        await play({ world, random, records, webhooks });
        world.killOf = () => null;
        await world.stop();
        await world.start();
        const chain = blocks.map(({ blockhash }) => blockhash);
        const final = blocks.slice(0, finalized).map(({ blockhash }) => blockhash);
        const [all, second, third] = webhooks;
        const hashes = (id: string | undefined, event: string): string[] =>
          world.of(id ?? "", event).map(({ blockhash }) => blockhash);
        await eventually(`seed ${seed}: all is told`, () => {
          for (const id of [all, second]) expect(hashes(id, "block.confirmed")).toEqual(expect.arrayContaining(chain));
          for (const id of [all, third]) {
            expect(new Set(hashes(id, "block.finalized"))).toEqual(new Set(final));
            expect(hashes(id, "block.finalized").length).toBe(final.length);
          }
          return true;
        });
        // What is not waited for above may still be on its way.
        for (const id of webhooks) {
          await eventually(`seed ${seed}: the store has what was committed`, async () => {
            const stored = await world.stored(id);
            expect(new Set(stored)).toEqual(new Set(world.of(id).map(({ deliveryId }) => deliveryId)));
            expect(await world.waiting(id)).toBe(stored.length);
            return true;
          });
        }
        const known = new Set(records.flatMap((record) => (record.kind === "block" ? [record.header.blockhash] : [])));
        expect(world.committed.every(({ blockhash }) => known.has(blockhash))).toBe(true);
        const transactions = blocks.reduce((sum, { transactions: count }) => sum + count, 0);
        const ofChain = world
          .of(all ?? "", "transaction.confirmed")
          .filter(({ blockhash }) => chain.includes(blockhash));
        expect(new Set(ofChain.map(({ eventId }) => eventId)).size).toBe(transactions);
      }
    });
  });
}
