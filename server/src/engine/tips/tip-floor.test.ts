import { describe, expect, test } from "bun:test";
import { engineLimits } from "@sluice/contract/engine";
import { seededRandom } from "@sluice/lib";
import type { Slot } from "@sluice/wire/identifiers";
import { LandedTips, nextFloor, TipFloor } from "./tip-floor.ts";

const most = engineLimits.computeUnitsBlock;
const minimum = engineLimits.tipMinimum;
const hour = 3_600_000;

/** Feeds blocks of 400 ms. */
class Feed {
  readonly floor: TipFloor;
  now = 1_800_000_000_000;
  #slot = 0n;

  constructor(remembered: string | null = null) {
    this.floor = new TipFloor(remembered);
  }

  block(bundleComputeUnits: number, tips: readonly bigint[], others = 0): bigint {
    this.#slot += 1n;
    this.now += 400;
    const computeUnits = bundleComputeUnits + others;
    this.floor.observe({ slot: this.#slot as Slot, computeUnits, bundleComputeUnits, tips }, this.now);
    return this.floor.floor;
  }

  blocks(count: number, ...block: Parameters<Feed["block"]>): bigint {
    for (let fed = 0; fed < count; fed += 1) this.block(...block);
    return this.floor.floor;
  }
}

describe("one step of the floor", () => {
  test("is at most an eighth, never below the minimum, and never beyond what it goes towards", () => {
    const random = seededRandom(1);
    for (let round = 0; round < 20_000; round += 1) {
      const floor = minimum + BigInt(Math.floor(10 ** (random.next() * 12)) - 1);
      const quarter = random.next() < 0.1 ? null : BigInt(Math.floor(10 ** (random.next() * 13)));
      const use = random.next() < 0.5 ? random.next() : 0.9 + 0.1 * random.next();
      const next = nextFloor(floor, use, quarter);
      const target = use > 0.9 && quarter !== null && quarter > minimum ? quarter : minimum;
      const moved = next > floor ? next - floor : floor - next;
      expect(moved * 8n <= floor).toBe(true);
      expect(next >= minimum).toBe(true);
      expect(next > floor ? next <= target : next >= target).toBe(true);
      // It moves whenever it is not where it wants to be.
      expect(next === floor).toBe(target === floor);
    }
  });
  test("goes up only above 90% of use, and down otherwise", () => {
    expect(nextFloor(8_000n, 0.9, 100_000n)).toBe(7_000n);
    expect(nextFloor(8_000n, 0.901, 100_000n)).toBe(9_000n);
    expect(nextFloor(8_000n, 1, 7_500n)).toBe(7_500n);
    expect(nextFloor(8_000n, 1, null)).toBe(7_000n);
    expect(nextFloor(minimum, 0, 1_000_000n)).toBe(minimum);
  });
});

describe("the floor over blocks", () => {
  test("stays at the minimum whatever is paid, while there is room", () => {
    expect(new Feed().blocks(500, most * 0.5, [10n ** 9n, 10n ** 10n])).toBe(minimum);
  });
  test("does not move before twenty full blocks make nine tenths of twenty", () => {
    const feed = new Feed();
    expect(feed.blocks(18, most, [50_000n])).toBe(minimum);
    expect(feed.block(most, [50_000n])).toBe(minimum + minimum / 8n);
  });
  test("converges on the 25th percentile under lasting fullness, and comes back to the minimum afterwards", () => {
    const feed = new Feed();
    const tips = Array.from({ length: 100 }, (_, index) => BigInt(index + 1) * 1_000n);
    expect(feed.blocks(200, most, tips)).toBe(25_000n);
    expect(feed.blocks(100, most, tips)).toBe(25_000n);
    expect(feed.blocks(60, most / 2, tips)).toBe(minimum);
  });
  test("falls as fast as it rises: as many half-used blocks as full ones bring it down at least as far", () => {
    const random = seededRandom(4);
    for (let round = 0; round < 50; round += 1) {
      let floor = minimum + BigInt(Math.floor(random.next() * 1e9));
      const start = floor;
      const count = 1 + Math.floor(random.next() * 40);
      for (let step = 0; step < count; step += 1) floor = nextFloor(floor, 1, 10n ** 15n);
      for (let step = 0; step < count; step += 1) floor = nextFloor(floor, 0.5, 10n ** 15n);
      expect(floor <= start).toBe(true);
    }
  });
  test("cannot only rise, though every searcher pays twice of it: it stops where bundles stop filling blocks", () => {
    const random = seededRandom(20261122);
    for (let round = 0; round < 3; round += 1) {
      const feed = new Feed();
      // Each bundle is worth something to its searcher, who stays away once the floor is above that.
      const worth = Array.from({ length: 24 }, () => BigInt(Math.floor(10 ** (3.5 + 4 * random.next()))));
      const unitsEach = most / 12;
      let highest: bigint = minimum;
      let movedDown = false;
      for (let count = 0; count < 2_500; count += 1) {
        const before = feed.floor.floor;
        const sent = worth.filter((most) => before * 2n <= most && random.next() < 0.9).slice(0, 12);
        const after = feed.block(
          sent.length * unitsEach,
          sent.map(() => before * 2n),
        );
        expect((after > before ? after - before : before - after) * 8n <= before).toBe(true);
        if (after > highest) highest = after;
        if (after < before) movedDown = true;
      }
      expect(movedDown).toBe(true);
      expect(worth.some((each) => each > highest)).toBe(true);
    }
  });
  test("a seed's blocks in the same order give the same floors", () => {
    const run = () => {
      const random = seededRandom(9);
      const feed = new Feed();
      return Array.from({ length: 400 }, () => {
        const tips = Array.from({ length: Math.floor(random.next() * 30) }, () =>
          BigInt(Math.floor(random.next() * 1e7)),
        );
        return feed.block(Math.floor(random.next() ** 0.05 * most), tips);
      });
    };
    expect(run()).toEqual(run());
    expect(new Set(run()).size).toBeGreaterThan(10);
  });
  test("a block that was seen before changes nothing", () => {
    const feed = new Feed();
    feed.blocks(30, most, [50_000n]);
    const before = feed.floor.figures(feed.now);
    feed.floor.observe({ slot: 30n as Slot, computeUnits: most, bundleComputeUnits: most, tips: [9n] }, feed.now);
    feed.floor.observe({ slot: 3n as Slot, computeUnits: most, bundleComputeUnits: most, tips: [9n] }, feed.now);
    expect(feed.floor.figures(feed.now)).toEqual(before);
  });
  test("a chain that begins anew is followed from its first block on", () => {
    const feed = new Feed();
    const ahead = { computeUnits: 0, bundleComputeUnits: 0, tips: [] };
    feed.floor.observe({ ...ahead, slot: 900_000n as Slot }, feed.now);
    feed.floor.observe({ ...ahead, slot: 1n as Slot, tips: [7_000n] }, feed.now);
    expect(feed.floor.figures(feed.now).landed.p50).toBe(7_000n);
  });
});

describe("use of the bundle compute", () => {
  const useOf = (...block: [number, number]): number => {
    const feed = new Feed();
    feed.blocks(20, block[0], [], block[1]);
    return feed.floor.figures(feed.now).bundleShare;
  };
  test("counts against what other transactions leave", () => {
    expect(useOf(most / 2, 0)).toBeCloseTo(0.5, 9);
    expect(useOf(most / 4, most / 2)).toBeCloseTo(0.5, 9);
    expect(useOf(most / 2, most / 2)).toBe(1);
    expect(useOf(0, most)).toBe(0);
    expect(useOf(0, 0)).toBe(0);
  });
  test("is of the larger blocks that a chain evidently takes", () => {
    expect(useOf(most / 2, most)).toBe(1);
    const feed = new Feed();
    feed.block(0, [], most * 2);
    feed.blocks(19, most / 2, [], most / 2);
    expect(feed.floor.figures(feed.now).bundleShare).toBeLessThan(0.5);
  });
  test("is always from 0 to 1", () => {
    const random = seededRandom(6);
    const feed = new Feed();
    for (let count = 0; count < 500; count += 1) {
      feed.block(Math.floor(random.next() * most * 1.5), [], Math.floor(random.next() * most * 1.5));
      const { utilization, bundleShare } = feed.floor.figures(feed.now);
      for (const share of [utilization, bundleShare]) {
        expect(share).toBeGreaterThanOrEqual(0);
        expect(share).toBeLessThanOrEqual(1);
      }
    }
  });
});

describe("use of the block space", () => {
  const useOf = (feed: Feed): number => feed.floor.figures(feed.now).utilization;
  test("is of the limit of the last 20 blocks, by all transactions, with and without bundles", () => {
    const feed = new Feed();
    expect(useOf(feed)).toBe(0);
    feed.block(0, [], most / 10);
    expect(useOf(feed)).toBeCloseTo(0.1, 9);
    feed.blocks(20, most / 4, [], most / 2);
    expect(useOf(feed)).toBeCloseTo(0.75, 9);
    feed.blocks(10, 0, [], 0);
    expect(useOf(feed)).toBeCloseTo(0.375, 9);
    expect(feed.floor.figures(feed.now).bundleShare).not.toBeCloseTo(0.375, 2);
  });
});

describe("what landed", () => {
  test("no tips are no tip of 0: no percentile, and the median's average stays as it was", () => {
    const landed = new LandedTips(null);
    landed.add([]);
    expect([landed.count, landed.percentile(50), landed.averageMedian]).toEqual([0, null, null]);
    landed.add([2_000n]);
    for (let blocks = 0; blocks < 150; blocks += 1) landed.add([]);
    expect([landed.count, landed.percentile(50), landed.averageMedian]).toEqual([0, null, 2_000]);
  });

  test("is reported by percentiles of the last 150 blocks' tips", () => {
    const feed = new Feed();
    feed.blocks(10, 0, [10n ** 12n]);
    const tips = Array.from({ length: 100 }, (_, index) => BigInt(index + 1));
    feed.blocks(150, 0, tips);
    const { landed } = feed.floor.figures(feed.now);
    expect(landed).toMatchObject({ p25: 25n, p50: 50n, p75: 75n, p95: 95n, p99: 99n });
  });
  test("is zero before anything landed, and one tip is every percentile", () => {
    const feed = new Feed();
    const none = { p25: 0n, p50: 0n, p75: 0n, p95: 0n, p99: 0n, emaP50: 0n };
    expect(feed.floor.figures(feed.now).landed).toEqual(none);
    feed.block(0, [5_000n, 0n]);
    const one = { p25: 5_000n, p50: 5_000n, p75: 5_000n, p95: 5_000n, p99: 5_000n, emaP50: 5_000n };
    expect(feed.floor.figures(feed.now).landed).toEqual(one);
  });
  test("keeps every digit of a u64", () => {
    const feed = new Feed();
    feed.block(0, [2n ** 64n - 1n]);
    expect(feed.floor.figures(feed.now).landed.p99).toBe(2n ** 64n - 1n);
  });
  test("the median's average follows by half in 150 blocks", () => {
    const feed = new Feed();
    feed.block(0, [1_000n]);
    feed.blocks(75, 0, [1_000n]);
    // From here on every window's median is still the old one until the new tips are half of it.
    feed.blocks(150, 0, [3_000n, 3_000n, 3_000n, 3_000n, 3_000n, 3_000n, 3_000n, 3_000n, 3_000n]);
    const { emaP50 } = feed.floor.figures(feed.now).landed;
    expect(emaP50 > 1_850n && emaP50 < 2_000n).toBe(true);
  });
  test("many tips are kept within a bound", () => {
    const feed = new Feed();
    feed.block(
      0,
      Array.from({ length: 50_000 }, () => 1_000n),
    );
    feed.blocks(
      10,
      0,
      Array.from({ length: 3_000 }, () => 7_000n),
    );
    expect(feed.floor.figures(feed.now).landed.p25).toBe(7_000n);
  });
});

describe("the average of a day", () => {
  test("is weighted by time and not by blocks", () => {
    const feed = new Feed();
    feed.blocks(200, most, [64_000n]);
    expect(feed.floor.floor).toBe(64_000n);
    const raised = feed.now;
    feed.now += hour;
    expect(feed.floor.figures(feed.now).average24h).toBeGreaterThan(63_000n);
    feed.now = raised + hour;
    feed.blocks(200, 0, []);
    expect(feed.floor.floor).toBe(minimum);
    feed.now = raised + 4 * hour;
    const { average24h } = feed.floor.figures(feed.now);
    // An hour at 64,000 and three at 1,000, with some minutes of climbing and falling.
    expect(average24h > 15_500n && average24h < 18_000n).toBe(true);
    feed.now = raised + 30 * hour;
    expect(feed.floor.figures(feed.now).average24h).toBe(minimum);
  });
  test("survives a restart within 1,000 characters, and the time in which nothing ran counts for nothing", () => {
    const feed = new Feed();
    for (let hours = 0; hours < 40; hours += 1) {
      feed.blocks(30, most, [10n ** 15n + BigInt(hours)]);
      feed.now += hour;
    }
    const text = feed.floor.write(feed.now);
    expect(text.length).toBeLessThanOrEqual(1_000);
    const next = new TipFloor(text);
    const before = feed.floor.figures(feed.now);
    const after = next.figures(feed.now);
    expect(after.floor).toBe(before.floor);
    expect(Number(after.average24h) / Number(before.average24h)).toBeCloseTo(1, 9);
    expect(after.landed.emaP50).toBe(before.landed.emaP50);
    const later = new TipFloor(text);
    const gap = Number(later.figures(feed.now + 30 * 60_000).average24h) / Number(before.average24h);
    expect(gap).toBeGreaterThan(0.9);
  });
  test("a clock that is set back or far ahead leaves a mean that is within what was seen", () => {
    const feed = new Feed();
    const random = seededRandom(8);
    for (let count = 0; count < 300; count += 1) {
      feed.block(most, [20_000n]);
      feed.now += Math.floor((random.next() - 0.3) * 40 * hour);
      const { average24h } = feed.floor.figures(feed.now);
      expect(average24h >= minimum && average24h <= 20_000n).toBe(true);
    }
  });
  test("what is damaged is not believed", () => {
    const feed = new Feed();
    feed.blocks(100, most, [90_000n]);
    const text = feed.floor.write(feed.now);
    const [, slot, floor, median, hours] = JSON.parse(text);
    const damaged = ["", "null", "[]", text.slice(1), [2, slot, floor, median, hours], [1, slot, "1", median, hours]];
    damaged.push(
      [
        1,
        slot,
        floor,
        median,
        [
          [2, 1, 1],
          [1, 1, 1],
        ],
      ],
      [1, slot, floor, -1, hours],
    );
    for (const each of damaged) {
      const next = new TipFloor(typeof each === "string" ? each : JSON.stringify(each));
      expect(next.floor).toBe(minimum);
    }
    expect(new TipFloor(text).floor).toBe(feed.floor.floor);
  });
});
