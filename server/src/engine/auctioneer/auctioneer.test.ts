import { expect, test } from "bun:test";
import { seededRandom } from "@sluice/lib";
import type { Address, Signature, Slot } from "@sluice/wire/identifiers";
import type { BundlePool, BundleRecord } from "../model/bundle.ts";
import type { LostBid } from "../model/service.ts";
import type { BlockSession, BundleEffects, BundleOutcome, SimulatedBundle } from "../simulation/index.ts";
import { acceptedBundle } from "../testing/accepted-bundle.ts";
import { AuctionLosses } from "./auction-losses.ts";
import { Auctioneer, type AuctioneerDependencies } from "./auctioneer.ts";
import { Candidates } from "./candidates.ts";
import type { BuildTarget } from "./slot-targeting.ts";

const leader = "leader" as Address;
const tipAccount = "tip" as Address;
const at = (slot: bigint): Slot => slot as Slot;

const recordOf = (id: string, options: Partial<BundleRecord> = {}): BundleRecord =>
  acceptedBundle({ id, transactions: [new Uint8Array([1])], signatures: [id as Signature], ...options });

function effectsOf(tip: bigint, writes: readonly string[], costUnits = 1_000): BundleEffects {
  const accounts = [...writes, tipAccount].map((each) => each as Address);
  const none = { reads: [], signatures: [], slot: 1n, fees: 5_000n } as const;
  return { ok: true, tip, computeUnits: costUnits, costUnits, writes: accounts, ...none };
}

/** A block in which bundles do what a test says they do, and which remembers what was applied. */
class FakeBlock implements BlockSession {
  readonly slot: bigint;
  readonly applied: string[] = [];
  isClosed = false;
  readonly attempted: string[] = [];
  readonly #outcomes: ReadonlyMap<string, BundleOutcome>;

  constructor(slot: bigint, outcomes: ReadonlyMap<string, BundleOutcome>) {
    this.slot = slot;
    this.#outcomes = outcomes;
  }

  async apply(bundles: readonly SimulatedBundle[]): Promise<readonly BundleOutcome[]> {
    this.applied.push(...bundles.map(({ id }) => id));
    return this.#answer(bundles);
  }

  async attempt(bundles: readonly SimulatedBundle[]): Promise<readonly BundleOutcome[]> {
    this.attempted.push(...bundles.map(({ id }) => id));
    return this.#answer(bundles);
  }

  #answer(bundles: readonly SimulatedBundle[]): readonly BundleOutcome[] {
    return bundles.map(({ id }) => this.#outcomes.get(id) ?? { ok: false, reason: "unavailable", cause: "closed" });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.isClosed = true;
  }
}

/** What a test may break on purpose. */
type Changeable<T> = { -readonly [Name in keyof T]: T[Name] };

function room(options: { readonly target?: () => BuildTarget | null; readonly takes?: () => boolean } = {}) {
  const records = new Map<string, BundleRecord>();
  const outcomes = new Map<string, BundleOutcome>();
  const blocks: FakeBlock[] = [];
  const delivered: string[][] = [];
  const state = { open: 0n, settled: at(0n), opened: [] as bigint[], unsimulatable: new Set<string>() };
  const faults: unknown[] = [];
  const lost: LostBid[] = [];
  const pool: Changeable<AuctioneerDependencies["pool"] & Pick<BundlePool, "onChange">> = {
    everyAccepted: () => [...records.values()].filter(({ state, sealed }) => state === "accepted" && sealed === null),
    live: (id) => records.get(id) ?? null,
    onChange: () => ({ [Symbol.dispose]: () => {} }),
    simulated: () => {},
    forwarded: (ids, to) => {
      for (const id of ids) {
        const record = records.get(id);
        if (record !== undefined) records.set(id, { ...record, forwarded: { times: 1, ...to } });
      }
    },
  };
  const candidates = new Candidates({ pool });
  class RecordedLosses extends AuctionLosses {
    override report(bids: readonly LostBid[]): void {
      lost.push(...bids);
    }
  }
  const dependencies: Changeable<Omit<AuctioneerDependencies, "pool">> & { readonly pool: typeof pool } = {
    pool,
    candidates,
    losses: new RecordedLosses({ pool, random: seededRandom(3), internalError: () => {} }),
    simulator: {
      openBlock: (slot) => {
        const block = new FakeBlock(slot, outcomes);
        blocks.push(block);
        return block;
      },
    },
    validators: {
      deliver: (_identity, bundles) => {
        if (options.takes?.() === false) return false;
        delivered.push(bundles.map(({ id }) => id));
        return true;
      },
    },
    target: options.target ?? (() => ({ slot: at(10n), leader, isOpen: true })),
    isOver: (slot) => slot < state.open,
    settledThrough: () => state.settled,
    tipAccounts: [tipAccount],
    openSealed: async ({ slot }) => void state.opened.push(slot),
    simulatable: async (bundles) => bundles.filter(({ id }) => !state.unsimulatable.has(id)),
    nowMs: () => 0,
    events: {
      ticked: () => {},
      delivered: () => {},
      winnerFailed: () => {},
      internalError: (_where, error) => void faults.push(error),
    },
  };
  const auctioneer = new Auctioneer(dependencies);
  const add = (id: string, effects: BundleOutcome, record: Partial<BundleRecord> = {}): void => {
    records.set(id, recordOf(id, record));
    outcomes.set(id, effects);
  };
  return { auctioneer, candidates, add, records, outcomes, blocks, delivered, state, faults, lost, dependencies };
}

test("of bundles that meet on an account the one that pays most wins, and the other competes again", async () => {
  const { auctioneer, add, delivered } = room();
  add("less", effectsOf(2_000n, ["pool"]));
  add("more", effectsOf(3_000n, ["pool"]));
  add("apart", effectsOf(1_000n, ["other"]));
  await auctioneer.tick();
  expect(delivered.map((ids) => ids.toSorted())).toEqual([["apart", "more"]]);
  await auctioneer.tick();
  expect(delivered.at(-1)).toEqual(["less"]);
});

test("a winner that does not run gives way to the next best in the same tick", async () => {
  const { auctioneer, candidates, add, outcomes, delivered } = room();
  add("less", effectsOf(2_000n, ["pool"]));
  add("more", effectsOf(3_000n, ["pool"]));
  candidates.seen(recordOf("more"), effectsOf(3_000n, ["pool"]));
  outcomes.set("more", { ok: false, reason: "simulation_failed", index: 0, signature: null, error: "x", logs: [] });
  await auctioneer.tick();
  expect(delivered).toEqual([["less"]]);
});

test("a winner that pays less than it claims is not handed over", async () => {
  const { auctioneer, candidates, add, delivered } = room();
  add("poor", effectsOf(999n, ["pool"]));
  candidates.seen(recordOf("poor"), effectsOf(5_000n, ["pool"]));
  await auctioneer.tick();
  expect(delivered).toEqual([]);
});

test("a bundle is handed over once, and again only when its slot was looked at without it", async () => {
  const { auctioneer, add, delivered, state } = room();
  add("one", effectsOf(2_000n, ["pool"]));
  await auctioneer.tick();
  await auctioneer.tick();
  expect(delivered).toEqual([["one"]]);
  const later = room({ target: () => ({ slot: at(11n), leader, isOpen: true }) });
  later.add("one", effectsOf(2_000n, ["pool"]), { forwarded: { times: 1, slot: at(10n), leader } });
  later.state.settled = at(9n);
  await later.auctioneer.tick();
  expect(later.delivered).toEqual([]);
  later.state.settled = at(10n);
  await later.auctioneer.tick();
  expect(later.delivered).toEqual([["one"]]);
  expect(state.opened).toEqual([10n, 10n]);
});

test("a bundle for one slot waits until that slot is open", async () => {
  const target = { slot: at(10n), leader, isOpen: false };
  const { auctioneer, add, delivered } = room({ target: () => target });
  add("targeted", effectsOf(2_000n, ["pool"]), { targetSlot: at(10n) });
  add("elsewhere", effectsOf(2_000n, ["other"]), { targetSlot: at(11n) });
  await auctioneer.tick();
  expect(delivered).toEqual([]);
  target.isOpen = true;
  await auctioneer.tick();
  expect(delivered).toEqual([["targeted"]]);
});

test("what a leader does not take is not lost: the block is begun anew and the bundle competes again", async () => {
  let takes = false;
  const { auctioneer, add, blocks, delivered } = room({ takes: () => takes });
  add("one", effectsOf(2_000n, ["pool"]));
  await auctioneer.tick();
  expect(delivered).toEqual([]);
  takes = true;
  await auctioneer.tick();
  expect([delivered, blocks[0]?.isClosed]).toEqual([[["one"]], true]);
});

test("bundles that have ended or are sealed do not compete", async () => {
  const { auctioneer, add, delivered } = room();
  add("included", effectsOf(2_000n, ["a"]), { state: "included" });
  add("sealed", effectsOf(2_000n, ["b"]), { sealed: new Uint8Array([1]) });
  await auctioneer.tick();
  expect(delivered).toEqual([]);
});

test("without a leader nothing is built, and a new slot is a new block", async () => {
  const target: { now: BuildTarget | null } = { now: null };
  const { auctioneer, add, blocks } = room({ target: () => target.now });
  add("one", effectsOf(2_000n, ["pool"]));
  await auctioneer.tick();
  expect(blocks).toEqual([]);
  target.now = { slot: at(10n), leader, isOpen: true };
  await auctioneer.tick();
  target.now = { slot: at(11n), leader, isOpen: true };
  await auctioneer.tick();
  expect(blocks.map(({ slot, isClosed }) => [slot, isClosed])).toEqual([
    [10n, true],
    [11n, false],
  ]);
});

const sessionOver: BundleOutcome = { ok: false, reason: "unavailable", cause: "session_over" };
const failed: BundleOutcome = {
  ok: false,
  reason: "simulation_failed",
  index: 0,
  signature: null,
  error: "x",
  logs: [],
};

test("what a winner left that is not handed over is not what others run on", async () => {
  const { auctioneer, candidates, add, blocks, delivered } = room();
  add("poor", effectsOf(999n, ["pool"]));
  add("good", effectsOf(2_000n, ["other"]));
  candidates.seen(recordOf("poor"), effectsOf(5_000n, ["pool"]));
  await auctioneer.tick();
  expect(delivered).toEqual([["good"]]);
  expect(blocks.map(({ applied, isClosed }) => [applied.toSorted(), isClosed])).toEqual([
    [["good", "poor"], true],
    [["good"], false],
  ]);
});

test("a session that is lost is no fault of its bundles: they compete at the next tick, on what the leader has", async () => {
  const { auctioneer, candidates, add, outcomes, blocks, delivered } = room();
  add("first", effectsOf(2_000n, ["pool"]));
  await auctioneer.tick();
  add("second", effectsOf(2_000n, ["other"]));
  candidates.seen(recordOf("second"), effectsOf(2_000n, ["other"]));
  outcomes.set("second", sessionOver);
  await auctioneer.tick();
  expect(delivered).toEqual([["first"]]);
  outcomes.set("second", effectsOf(2_000n, ["other"]));
  await auctioneer.tick();
  expect(delivered).toEqual([["first"], ["second"]]);
  expect(blocks.at(-1)?.applied).toEqual(["first", "second"]);
  expect(blocks.filter(({ isClosed }) => !isClosed)).toHaveLength(1);
});

test("a bundle on which machines end is not run again for the same block", async () => {
  const { auctioneer, add, blocks } = room();
  add("hostile", { ok: false, reason: "unavailable", cause: "machine_ended" });
  await auctioneer.tick();
  await auctioneer.tick();
  expect(blocks.flatMap(({ attempted }) => attempted)).toEqual(["hostile"]);
});

test("a fault in the middle of a tick takes no bundle's chance in the block", async () => {
  const { auctioneer, add, blocks, delivered, faults, dependencies } = room();
  add("one", effectsOf(2_000n, ["pool"]));
  const { simulated } = dependencies.pool;
  dependencies.pool.simulated = () => {
    throw new Error("broken");
  };
  await auctioneer.tick();
  expect([faults.length, delivered.length]).toEqual([1, 0]);
  dependencies.pool.simulated = simulated;
  await auctioneer.tick();
  expect(delivered).toEqual([["one"]]);
  expect(blocks.filter(({ isClosed }) => !isClosed)).toHaveLength(1);
});

test("winners of a slot that went by while they ran are not handed to its leader", async () => {
  const target = { now: { slot: at(10n), leader, isOpen: true } };
  const { auctioneer, add, delivered, dependencies, state } = room({ target: () => target.now });
  add("one", effectsOf(2_000n, ["pool"]));
  dependencies.openSealed = async () => {
    state.open = 11n;
    target.now = { slot: at(11n), leader: "next" as Address, isOpen: true };
  };
  await auctioneer.tick();
  expect(delivered).toEqual([]);
  await auctioneer.tick();
  expect(delivered).toEqual([["one"]]);
});

test("a transaction that is in the block is not sold again as part of another bundle", async () => {
  const { auctioneer, add, delivered } = room();
  const holding = (id: string): BundleOutcome => ({ ...effectsOf(2_000n, ["pool"]), signatures: [id as Signature] });
  add("one", holding("shared"), { signatures: ["shared" as Signature] });
  await auctioneer.tick();
  add("two", holding("shared"), { signatures: ["shared" as Signature] });
  await auctioneer.tick();
  expect(delivered).toEqual([["one"]]);
});

test("what is seen of a bundle that has ended already is not kept", async () => {
  const { auctioneer, candidates, add, blocks } = room();
  candidates.seen(recordOf("gone"), effectsOf(2_000n, ["pool"]));
  add("gone", effectsOf(2_000n, ["pool"]));
  await auctioneer.tick();
  expect(blocks[0]?.attempted).toEqual(["gone"]);
});

test("of what the chain has not reported enough about nothing is run, and nothing is held against it", async () => {
  const { auctioneer, add, blocks, delivered, state } = room();
  add("one", effectsOf(2_000n, ["pool"]));
  state.unsimulatable.add("one");
  await auctioneer.tick();
  expect([delivered.length, blocks[0]?.attempted]).toEqual([0, []]);
  state.unsimulatable.clear();
  await auctioneer.tick();
  expect(delivered).toEqual([["one"]]);
});

test("a bundle that fails block after block is run for fewer and fewer of them", async () => {
  const target = { now: { slot: at(10n), leader, isOpen: true } };
  const { auctioneer, add, blocks } = room({ target: () => target.now });
  add("broken", failed);
  for (let slot = 10n; slot < 110n; slot += 1n) {
    target.now = { slot: at(slot), leader, isOpen: true };
    await auctioneer.tick();
  }
  const runs = blocks.flatMap(({ attempted }) => attempted).length;
  expect([runs >= 8, runs <= 16]).toEqual([true, true]);
});

test("a bid is lost when its slot is over and not before, to whom it conflicts with or to the block's limits", async () => {
  let target: BuildTarget | null = { slot: at(10n), leader, isOpen: true };
  const { auctioneer, add, outcomes, state, lost, delivered } = room({ target: () => target });
  add("more", effectsOf(3_000n, ["pool"]));
  add("later", effectsOf(2_500n, ["pool"]));
  add("less", effectsOf(2_000n, ["pool"]));
  add("large", effectsOf(1_000n, ["other"], 60_000_001));
  await auctioneer.tick();
  // A loser of one tick wins the next one of the same slot; the third does not run on what they left.
  outcomes.set("less", { ok: false, reason: "simulation_failed", index: 0, signature: null, error: "", logs: [] });
  await auctioneer.tick();
  await auctioneer.tick();
  expect([delivered, lost]).toEqual([[["more"], ["later"]], []]);
  target = null;
  await auctioneer.tick();
  expect(lost).toEqual([]);
  state.open = 11n;
  await auctioneer.tick();
  expect(lost.map(({ id, lost: to, bid, slot }) => [id, to, bid, slot])).toEqual([
    ["less", "state_auction", 2_000n, at(10n)],
    ["large", "winning_batch", 1_000n, at(10n)],
  ]);
  target = { slot: at(12n), leader, isOpen: true };
  await auctioneer.tick();
  expect(lost).toHaveLength(2);
});

test("a tick of many winners hands over the best that there was time to run, and the others at later ticks", async () => {
  const { auctioneer, add, blocks, delivered } = room();
  for (let index = 0; index < 200; index++) {
    add(`bundle ${index}`, effectsOf(1_000n + BigInt(index), [`account ${index}`]));
  }
  await auctioneer.tick();
  expect(delivered.map(({ length }) => length)).toEqual([200]);
  const slow = room();
  for (let index = 0; index < 200; index++) {
    slow.add(`bundle ${index}`, effectsOf(1_000n + BigInt(index), [`account ${index}`]));
  }
  // Each look at the clock is as much later as a tick may last.
  let nowMs = 0;
  slow.dependencies.nowMs = () => {
    nowMs += 100;
    return nowMs;
  };
  for (let tick = 0; tick < 4; tick++) await slow.auctioneer.tick();
  expect(slow.delivered.map(({ length }) => length)).toEqual([64, 64, 64, 8]);
  expect(slow.delivered[0]).toContain("bundle 199");
  expect(slow.delivered.flat().toSorted()).toEqual(delivered.flat().toSorted());
  expect(new Set(slow.blocks.flatMap(({ applied }) => applied)).size).toBe(200);
  expect(slow.blocks).toHaveLength(blocks.length);
});
