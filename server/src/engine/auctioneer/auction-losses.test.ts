import { beforeEach, expect, test } from "bun:test";
import type { BundleState } from "@sluice/contract/engine";
import { seededRandom } from "@sluice/lib";
import type { Slot } from "@sluice/wire/identifiers";
import type { BundlePool, BundleRecord } from "../model/bundle.ts";
import type { LostBid } from "../model/service.ts";
import { FakeBlockEngineService } from "../testing/fake-service.ts";
import { AuctionLosses } from "./auction-losses.ts";

let records: Map<string, BundleRecord>;
let report: (record: BundleRecord) => void;
let lostBids: AuctionLosses;

beforeEach(() => {
  records = new Map();
  const pool: Pick<BundlePool, "live" | "onChange"> = {
    live: (id) => records.get(id) ?? null,
    onChange: (listener) => {
      report = (record) => listener(record, "accepted");
      return { [Symbol.dispose]: () => {} };
    },
  };
  lostBids = new AuctionLosses({ pool, random: seededRandom(3), internalError: () => {} });
});

async function bundle(searcherId: string, tag: number): Promise<string> {
  const searcher = { id: searcherId, accountId: searcherId, pubkey: null };
  const options = { tip: 1n, mevType: "jit", targetSlot: null, sealed: null, ingress: "rest" } as const;
  const outcome = await new FakeBlockEngineService().submit(
    { transactions: [Uint8Array.of(tag)], ...options },
    searcher,
  );
  if (!outcome.ok) throw new Error("the engine refuses");
  records.set(outcome.record.id, outcome.record);
  return outcome.record.id;
}

function become(id: string, state: BundleState): void {
  const record = records.get(id);
  if (record === undefined) throw new Error(`there is no bundle ${id}`);
  records.set(id, { ...record, state });
  report({ ...record, state });
}

const bidOf = (id: string, slot: bigint): LostBid => {
  return { id, slot: slot as Slot, lost: "state_auction", auctionId: "first", bid: 5n };
};

test("the first slot that a bundle loses is reported to its searcher alone, and the last is remembered", async () => {
  const [mine, other] = [await bundle("me", 1), await bundle("other", 2)];
  const reported: LostBid[] = [];
  const following = lostBids.follow("me", (bid) => reported.push(bid));
  for (const slot of [1n, 2n, 3n]) lostBids.report([bidOf(mine, slot), bidOf(other, slot)]);
  expect(reported).toEqual([bidOf(mine, 1n)]);
  expect(lostBids.of(mine)).toEqual(bidOf(mine, 3n));
  following[Symbol.dispose]();
  lostBids.report([bidOf(await bundle("me", 3), 4n)]);
  expect(reported).toHaveLength(1);
});

test("all that lose one tick are told the same auction, another than at the next, and none that names a bundle", async () => {
  const ids = [await bundle("me", 1), await bundle("other", 2), await bundle("third", 3)];
  const lose = (tick: number) => {
    const losers = ids.map((id) => ({
      bundle: { id, tip: 5n, computeUnits: 1, locks: { writes: [], reads: [] } },
      lost: "state_auction" as const,
    }));
    lostBids.lost({ slot: 9n as Slot, tick }, losers);
    lostBids.slotOver();
    return ids.map((id) => lostBids.of(id)?.auctionId);
  };
  const [first, second] = [new Set(lose(1)), new Set(lose(2))];
  expect([first.size, second.size, first.union(second).size]).toEqual([1, 1, 2]);
  for (const each of first) {
    expect(each).toMatch(/^[0-9a-f]{64}$/);
    expect(ids).not.toContain(each ?? "");
  }
});

test("who follows a bundle that another has sent first is told what it loses, too", async () => {
  const id = await bundle("first", 1);
  const record = records.get(id);
  if (record !== undefined) records.set(id, { ...record, followers: ["me"] });
  const reported: LostBid[] = [];
  lostBids.follow("me", (bid) => reported.push(bid));
  lostBids.report([bidOf(id, 1n)]);
  expect(reported).toEqual([bidOf(id, 1n)]);
});

test("a bundle that is in a block, or has ended, loses nothing", async () => {
  const id = await bundle("me", 1);
  const reported: LostBid[] = [];
  lostBids.follow("me", (bid) => reported.push(bid));
  become(id, "included");
  lostBids.report([bidOf(id, 1n), bidOf("unknown", 1n)]);
  expect([reported, lostBids.of(id), lostBids.of("unknown")]).toEqual([[], null, null]);
});

test("what a bundle lost by is there while its end is reported, and forgotten then", async () => {
  const id = await bundle("me", 1);
  lostBids.report([bidOf(id, 1n)]);
  become(id, "expired");
  expect(lostBids.of(id)).toEqual(bidOf(id, 1n));
  await null;
  expect(lostBids.of(id)).toBeNull();
});
