import { describe, expect, test } from "bun:test";
import { ManualClock } from "@sluice/lib";
import fc from "fast-check";
import { SlotBelief, type SlotClaim } from "./slot-belief.ts";

/** Nodes whose slots a test sets, and a belief that hears of each change. */
class World {
  readonly clock = new ManualClock();
  readonly belief = new SlotBelief();
  readonly #claims: { node: object; slot: bigint | null; isHeard: boolean }[];

  constructor(nodes: number) {
    this.#claims = Array.from({ length: nodes }, () => ({ node: {}, slot: null, isHeard: true }));
  }

  /** The node of this index shows a slot. */
  show(index: number, slot: number | bigint): this {
    const claim = this.#claims[index];
    if (claim === undefined) throw new RangeError("no such node");
    claim.slot = BigInt(slot);
    claim.isHeard = true;
    return this.hear();
  }

  silence(index: number): this {
    const claim = this.#claims[index];
    if (claim !== undefined) claim.isHeard = false;
    return this.hear();
  }

  remove(index: number): this {
    this.#claims.splice(index, 1);
    return this.hear();
  }

  add(): number {
    return this.#claims.push({ node: {}, slot: null, isHeard: true }) - 1;
  }

  restarted: string[] = [];

  hear(): this {
    const claims: SlotClaim[] = this.#claims.map((claim) => ({ ...claim }));
    const restarted = this.belief.update(claims, this.clock.monotonic());
    if (restarted !== null) this.restarted.push(restarted);
    return this;
  }

  /** All of the nodes move on by one slot, so many times, a slot every 400 ms. */
  run(slots: number, ...indices: readonly number[]): this {
    for (let step = 0; step < slots; step += 1) {
      this.clock.advance(400);
      for (const index of indices) this.show(index, (this.#claims[index]?.slot ?? 0n) + 1n);
    }
    return this;
  }

  slotOf(index: number): bigint {
    return this.#claims[index]?.slot ?? 0n;
  }

  isPlausible(index: number): boolean {
    const ceiling = this.belief.ceiling(this.clock.monotonic());
    return ceiling === null || this.slotOf(index) <= ceiling;
  }

  get best(): bigint | null {
    return this.belief.best;
  }
}

describe("before anything is believed", () => {
  test("the only node is believed, whatever it says", () => {
    const world = new World(1).show(0, 100);
    expect([world.best, world.belief.confirmed]).toEqual([100n, 100n]);
    expect(world.show(0, 1_000_000).best).toBe(1_000_000n);
    expect(world.show(0, 3).best).toBe(3n);
  });

  test("of three or more the second highest is believed, in whatever order they are heard", () => {
    for (const order of [
      [0, 1, 2],
      [2, 1, 0],
      [1, 2, 0],
      [2, 0, 1],
    ]) {
      const world = new World(3);
      const slots = [1_000, 1_003, 1_000_000];
      for (const index of order) world.show(index, slots[index] ?? 0);
      expect(world.best).toBe(1_003n);
      expect([0, 1, 2].map((index) => world.isPlausible(index))).toEqual([true, true, false]);
    }
  });

  test("of two that differ by more than 64 the highest that advances is believed, and that is known as a dispute", () => {
    const world = new World(2).show(0, 1_000).show(1, 4_500);
    expect(world.best).toBe(1_000n);
    world.run(8, 0, 1);
    expect(world.best).toBe(4_508n);
    expect(world.belief.isDisputed).toBe(true);
    const frozen = new World(2).show(0, 1_000).show(1, 4_500).run(8, 0);
    expect(frozen.best).toBe(1_008n);
    expect([frozen.belief.isDisputed, frozen.isPlausible(1)]).toEqual([false, false]);
  });

  test("a third node ends a dispute: with two that agree it is the one that stands alone", () => {
    const world = new World(3).show(0, 1_000).show(1, 900_000).run(8, 0, 1);
    expect(world.best).toBe(900_008n);
    world.show(2, 1_009);
    expect([world.best, world.belief.isDisputed, world.isPlausible(1)]).toEqual([1_008n + 1n, false, false]);
  });

  test("two within 64 slots are not in dispute", () => {
    const world = new World(2).show(0, 100).show(1, 164);
    expect([world.best, world.belief.confirmed, world.belief.isDisputed]).toEqual([164n, 100n, false]);
  });

  test("one that is heard before the others is believed for the time being, and not when they contradict it", () => {
    const world = new World(3).show(2, 1_000_000);
    expect([world.best, world.belief.confirmed]).toEqual([1_000_000n, null]);
    world.show(0, 1_000).show(1, 1_001);
    expect([world.best, world.belief.confirmed]).toEqual([1_001n, 1_001n]);
  });

  test("one that was heard alone for ten seconds stands against a newcomer that contradicts it", () => {
    const world = new World(2).show(0, 1_000).run(30, 0);
    world.show(1, 500_000);
    expect([world.best, world.isPlausible(1)]).toEqual([1_030n, false]);
    expect(world.run(10, 0, 1).best).toBe(1_040n);
  });
});

describe("once something is believed", () => {
  const three = () => new World(3).show(0, 1_000).show(1, 1_000).show(2, 1_000).run(10, 0, 1, 2);

  test("a claim of up to 64 slots beyond what two show is believed, one more is not, and the others stay near", () => {
    const world = three();
    expect(world.show(2, 1_074).best).toBe(1_074n);
    expect(three().show(2, 1_075).best).toBe(1_010n);
    expect(world.belief.standard(true)).toBe(1_010n);
    expect(world.belief.standard(false)).toBe(1_074n);
  });

  test("a slot of which a second node has shown a later one is believed, however far it is", () => {
    const world = three().show(2, 50_000);
    expect(world.best).toBe(1_010n);
    expect(world.show(1, 49_900).best).toBe(49_900n);
  });

  test("a claim that creeps on by 60 slots at each notice never leads by more than one jump", () => {
    const world = three();
    for (let step = 0; step < 200; step += 1) {
      world.run(1, 0, 1).show(2, world.slotOf(2) + 60n);
      expect(world.best ?? 0n).toBeLessThanOrEqual(world.slotOf(0) + 68n);
    }
    expect(world.isPlausible(2)).toBe(false);
  });

  test("a node that goes on alone while all others stand still is believed all the time, also when they follow again far behind", () => {
    const world = three();
    for (let step = 0; step < 300; step += 1) {
      world.run(1, 2);
      expect(world.best).toBe(world.slotOf(2));
    }
    for (let step = 0; step < 300; step += 1) {
      world
        .run(1, 0, 1)
        .run(0, 2)
        .show(2, world.slotOf(2) + 1n);
      expect([world.best, world.isPlausible(2)]).toEqual([world.slotOf(2), true]);
    }
    // They are behind all the same: more than what one claim alone could make of it.
    expect((world.belief.standard(true) ?? 0n) - world.slotOf(0)).toBeGreaterThan(200n);
  });

  test("when the pause is over the lead shrinks to 64 slots again", () => {
    const world = three();
    world.clock.advance(60_000);
    world.run(20, 0, 1, 2);
    const ahead = world.slotOf(0) + 65n;
    expect(world.show(2, ahead).best).toBe(world.slotOf(0));
  });

  test("silent nodes confirm nothing", () => {
    const world = three().show(2, 80_000).silence(2);
    expect(world.show(1, 70_000).best).toBe(1_010n);
  });

  test("after 30 s in which no node reaches the believed slot it is determined anew", () => {
    const world = three();
    for (const index of [0, 1, 2]) world.show(index, 5);
    expect(world.best).toBe(1_010n);
    world.run(74, 0, 1, 2);
    expect([world.best, world.restarted]).toEqual([1_010n, []]);
    world.run(1, 0, 1, 2);
    expect([world.best, world.restarted]).toEqual([80n, ["unreached"]]);
  });

  test("a chain that stands still is no reason to begin anew", () => {
    const world = three();
    for (let minute = 0; minute < 10; minute += 1) {
      world.clock.advance(60_000);
      world.hear();
    }
    expect([world.best, world.restarted]).toEqual([1_010n, []]);
  });

  test("when the node that was believed is taken away the others are measured by each other at once", () => {
    const world = new World(2).show(0, 1_000).show(1, 900_000).run(8, 0, 1);
    expect(world.best).toBe(900_008n);
    world.remove(1);
    expect([world.best, world.restarted]).toEqual([1_008n, ["removed"]]);
  });

  test("the confirmed slot never passes what a second node shows, and goes back only with a new beginning", () => {
    const world = three();
    expect(world.belief.confirmed).toBe(1_010n);
    world.show(2, 1_060);
    expect(world.belief.confirmed).toBe(1_010n);
    world.show(1, 1_020);
    expect(world.belief.confirmed).toBe(1_020n);
    world.show(0, 3).show(1, 4);
    expect(world.belief.confirmed).toBe(1_020n);
  });
});

describe("property: one liar among honest nodes", () => {
  const step = fc.record({
    waitMs: fc.integer({ min: 50, max: 1_500 }),
    /** What the liar claims: relative to the best honest slot, or absolute. */
    lie: fc.oneof(
      fc.record({ ahead: fc.bigInt({ min: -200n, max: 200n }) }),
      fc.record({ ahead: fc.bigInt({ min: 0n, max: 10n ** 12n }) }),
      fc.record({ absolute: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }) }),
    ),
    /** By how much each honest node is behind the chain. */
    behind: fc.array(fc.integer({ min: 0, max: 4 }), { minLength: 4, maxLength: 4 }),
    isSilent: fc.boolean(),
  });

  test("whatever it claims and whenever, no honest node is implausible or put out, and the best slot stays near the truth", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 2, max: 4 }),
        fc.integer({ min: 0, max: 4 }),
        fc.array(step, { minLength: 5, maxLength: 120 }),
        (honest, liarAt, steps) => {
          const world = new World(honest + 1);
          const liar = Math.min(liarAt, honest);
          const others = Array.from({ length: honest + 1 }, (_, index) => index).filter((index) => index !== liar);
          // The liar may be the first that is heard.
          world.show(liar, 7n ** 20n % 2n ** 60n);
          for (const index of others) world.show(index, 10_000);
          let atMs = 0;
          for (const { waitMs, lie, behind, isSilent } of steps) {
            atMs += waitMs;
            world.clock.advance(waitMs);
            const head = 10_000n + BigInt(Math.floor(atMs / 400));
            if (isSilent) world.silence(liar);
            else world.show(liar, "ahead" in lie ? (head + lie.ahead < 0n ? 0n : head + lie.ahead) : lie.absolute);
            for (const [place, index] of others.entries()) {
              const slot = head - BigInt(behind[place] ?? 0);
              world.show(index, slot > world.slotOf(index) ? slot : world.slotOf(index));
            }
            const best = world.best;
            if (best === null) throw new Error("nothing is believed");
            for (const index of others) {
              if (!world.isPlausible(index)) throw new Error("an honest node is implausible");
              const lag = (world.belief.standard(true) ?? 0n) - world.slotOf(index);
              if (lag > 50n) throw new Error(`an honest node lags by ${lag}`);
            }
            if (best > head + 64n + 20n || best < head - 8n) throw new Error(`the best slot is ${best - head} off`);
            const { confirmed } = world.belief;
            if (confirmed !== null && confirmed > head)
              throw new Error("a slot that no honest node has shown is confirmed");
          }
          if (world.restarted.length > 0) throw new Error("belief began anew");
        },
      ),
      { numRuns: 300 },
    );
  });
});
