import { expect, test } from "bun:test";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ManualClock, systemRandom } from "@sluice/lib";
import fc from "fast-check";
import { AdvanceFile, readAdvances } from "./advance-file.ts";
import { type Advance, type AdvanceRecords, advanceOf } from "./advances.ts";
import { createCredits, openCredits } from "./credits.ts";
import { tallyInMemory } from "./tally.ts";
import { killedWhenDone } from "./testing/killed-child.ts";
import { MeterInMemory } from "./testing/meter-in-memory.ts";

const month = "2026-11";
const log = { warn: () => undefined };
const allowance = 1_000_000n;

function newDirectory(): Disposable & { readonly path: string } {
  const path = mkdtempSync(join(tmpdir(), "sluice-advances-"));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

test("an advance is at most a minute at the account's pace and its share of a hundredth of what was left", () => {
  const ground = fc.record({
    left: fc.bigInt({ min: -10n, max: 2n ** 62n }),
    pace: fc.double({ min: 0, max: 1e9, noNaN: true }),
    processes: fc.integer({ min: 1, max: 500 }),
  });
  fc.assert(
    fc.property(ground, ({ left, pace, processes }) => {
      const credits = advanceOf({ left, pace, processes });
      expect(Number.isSafeInteger(credits)).toBe(true);
      expect(credits).toBeGreaterThanOrEqual(0);
      expect(credits).toBeLessThanOrEqual(Math.ceil(pace * 60));
      const ofAll = BigInt(credits) * BigInt(processes) * 100n;
      expect(ofAll <= (left > 0n ? left : 0n)).toBe(true);
    }),
  );
  expect(advanceOf({ left: 100_000n, pace: 5, processes: 3 })).toBe(300);
  expect(advanceOf({ left: 100_000n, pace: 50, processes: 3 })).toBe(333);
  expect(advanceOf({ left: 299n, pace: 50, processes: 3 })).toBe(0);
});

/** Credits over a store that can go away, and records that a test can hold back. */
function boot() {
  const clock = new ManualClock(Date.UTC(2026, 10, 20));
  const meter = new MeterInMemory();
  const state = { isAway: false, canRecord: true, gate: null as Promise<void> | null };
  const recorded: Advance[] = [];
  const booked: number[] = [];
  const advances: AdvanceRecords = {
    processes: 2,
    record: async (advance) => {
      if (state.gate !== null) await state.gate;
      if (!state.canRecord) throw new Error("the disk is full");
      recorded.push(advance);
    },
    booked: (_advance, spent) => void booked.push(spent),
  };
  const reach = async <T>(work: () => Promise<T>): Promise<T> => {
    if (state.isAway) throw new Error("connection refused");
    return await work();
  };
  const credits = createCredits(
    { sweepIntervalMs: null },
    {
      clock,
      log,
      advances,
      tally: tallyInMemory("holder", 100),
      store: {
        lease: (...lease) => reach(() => meter.lease(...lease)),
        giveBack: (...giving) => reach(() => meter.giveBack(...giving)),
        settle: (...settlement) => reach(() => meter.settle(...settlement)),
        bookAdvance: (advance) => reach(() => meter.bookAdvance(advance)),
        openBooks: (...asked) => reach(() => meter.openBooks(...asked)),
        used: (...asked) => reach(() => meter.used(...asked)),
      },
    },
  );
  /** What is taken, one credit after the other, until a take is refused; and the refusal. */
  const spend = async (accountId = "a", most = 100_000): Promise<{ taken: number; code: string }> => {
    for (let taken = 0; taken < most; taken += 1) {
      try {
        if (!(await credits.take(accountId, allowance, 1))) return { taken, code: "exhausted" };
      } catch (error) {
        return { taken, code: String((error as { code?: unknown }).code) };
      }
    }
    return { taken: most, code: "none" };
  };
  /** An account that spends a hundred credits a second. */
  const run = async (accountId = "a"): Promise<void> => {
    for (let second = 0; second < 3; second += 1) {
      await spend(accountId, 100);
      clock.advance(1_000);
      await credits.sweep();
    }
  };
  return { clock, meter, state, credits, recorded, booked, spend, run };
}

test("while the store is away an account goes on by what it holds and one advance on record, and is refused after that", async () => {
  const { clock, state, credits, recorded, spend, run } = boot();
  await run();
  state.isAway = true;
  const { remaining } = credits.balance("a");
  const { taken, code } = await spend();
  expect(code).toBe("STORE_UNAVAILABLE");
  const [advance] = recorded;
  // A hundredth of what was left, shared by two, is less than a minute at its pace.
  expect(advance?.credits).toBeWithin(4_900, 5_000);
  expect(taken).toBe(remaining + (advance?.credits ?? 0));
  expect(credits.isFailing).toBe(true);
  expect(credits.isAdvancing).toBe(false);
  for (let second = 0; second < 120; second += 1) {
    clock.advance(1_000);
    await credits.sweep();
    expect(await spend()).toEqual({ taken: 0, code: "STORE_UNAVAILABLE" });
  }
  expect(recorded.length).toBe(1);
});

test("when the store is back what was spent of an advance is charged, once and to the credit, and the rest is not", async () => {
  for (const goesOn of [true, false]) {
    const { clock, meter, state, credits, booked, spend, run } = boot();
    await run();
    state.isAway = true;
    const { taken } = await spend("a", 2_000);
    expect([taken, credits.isAdvancing]).toEqual([2_000, true]);
    state.isAway = false;
    clock.advance(1_000);
    // With a take, or without any.
    if (goesOn) expect(await spend("a", 1)).toEqual({ taken: 1, code: "none" });
    for (let sweep = 0; sweep < 3; sweep += 1) {
      clock.advance(1_000);
      await credits.sweep();
    }
    expect(booked.length).toBe(1);
    const spent = 300 + 2_000 + (goesOn ? 1 : 0);
    expect(await credits.spent("a")).toEqual({ month, used: BigInt(spent) });
    await credits[Symbol.asyncDispose]();
    expect([meter.usedNow("a", month), credits.isSettled]).toEqual([BigInt(spent), true]);
  }
});

test("nothing of an advance is spent before its record is on disk, and nothing at all where it cannot be written", async () => {
  const { state, credits, recorded, spend, run } = boot();
  await run();
  state.isAway = true;
  const { remaining } = credits.balance("a");
  const gate = Promise.withResolvers<void>();
  state.gate = gate.promise;
  let isAnswered = false;
  const taken = spend("a", remaining + 1).finally(() => {
    isAnswered = true;
  });
  for (let turn = 0; turn < 200; turn += 1) await Promise.resolve();
  expect([isAnswered, recorded.length]).toEqual([false, 0]);
  gate.resolve();
  expect(await taken).toEqual({ taken: remaining + 1, code: "none" });
  const other = boot();
  await other.run();
  [other.state.isAway, other.state.canRecord] = [true, false];
  const held = other.credits.balance("a").remaining;
  expect(await other.spend()).toEqual({ taken: held, code: "STORE_UNAVAILABLE" });
});

test("an account of which nothing is known, or of which little was left, has no advance", async () => {
  const { state, credits, recorded, spend, run } = boot();
  await run();
  for (let take = 0; take < 3; take += 1) await credits.take("poor", 150n, 30);
  state.isAway = true;
  expect(await spend("stranger")).toEqual({ taken: 0, code: "STORE_UNAVAILABLE" });
  await expect(Promise.resolve(credits.take("poor", 150n, 60))).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  expect(recorded).toEqual([]);
});

test("an advance is charged to the month in which it was spent, and the next month has none", async () => {
  const { clock, meter, state, credits, spend, run } = boot();
  await run();
  state.isAway = true;
  await spend("a", 1_000);
  clock.jump(Date.UTC(2026, 11, 1));
  expect(await spend()).toEqual({ taken: 0, code: "STORE_UNAVAILABLE" });
  state.isAway = false;
  for (let sweep = 0; sweep < 4; sweep += 1) {
    clock.advance(1_000);
    await credits.sweep();
  }
  await credits[Symbol.asyncDispose]();
  expect([meter.usedNow("a", month), meter.usedNow("a", "2026-12")]).toEqual([1_300n, 0n]);
});

test("records are on disk when they are acknowledged, a torn one is none, and the file is emptied when all are charged", async () => {
  using directory = newDirectory();
  const path = join(directory.path, "credits.advances");
  await using file = new AdvanceFile(path);
  const advances = [1, 2, 3].map((number) => ({ accountId: `a ${number}`, month, number, credits: 10 * number }));
  await Promise.all(advances.map((advance) => file.record(advance)));
  expect(readAdvances(path)).toEqual(advances);
  // A kill, or a full disk, in the middle of the next.
  writeFileSync(path, `${readFileSync(path, "utf8")}{"accountId":"a 4","mon`);
  expect(readAdvances(path)).toEqual(advances);
  const later = { accountId: "a 5", month, number: 5, credits: 7 };
  await file.record(later);
  expect(readAdvances(path)).toEqual([...advances, later]);
  for (const advance of advances) file.booked(advance);
  expect(file.unbooked).toBe(1);
  file.booked(later);
  const next = { accountId: "a 6", month, number: 6, credits: 1 };
  await file.record(next);
  expect(readAdvances(path).at(-1)).toEqual(next);
  expect(readAdvances(join(directory.path, "none"))).toEqual([]);
});

/** A process that spends so many credits of an advance, and is killed. */
async function advanceAndKill(directory: string, spent: number): Promise<number> {
  const printed = await killedWhenDone("advancer.ts", [directory, String(spent)]);
  return Number(/done (\d+)/.exec(printed)?.[1]);
}

test("what a process had spent of an advance when it was killed is charged by the next one on its directory, once", async () => {
  for (const isTallyLost of [false, true]) {
    using directory = newDirectory();
    const credited = await advanceAndKill(directory.path, 1_234);
    expect(credited).toBeGreaterThan(1_234);
    const folder = join(directory.path, "credits");
    const [name] = [...new Bun.Glob("*.tally").scanSync(folder)];
    if (name === undefined) throw new Error("the killed process has left no tally");
    if (isTallyLost) rmSync(join(folder, name));
    const meter = Object.assign(new MeterInMemory(), { closeBooksBefore: async () => 0 });
    const next = () =>
      openCredits(
        { directory: folder, meter: "credits", sweepIntervalMs: null },
        {
          clock: new ManualClock(Date.UTC(2026, 10, 22)),
          random: systemRandom,
          log,
          store: meter,
          events: { creditsReconciled: () => undefined, creditsHeld: () => undefined },
        },
      );
    for (let start = 0; start < 2; start += 1) {
      const credits = next();
      await credits[Symbol.asyncDispose]();
    }
    // Without the tally nothing proves that less than all of it was spent.
    expect(meter.usedNow("a", month)).toBe(isTallyLost ? BigInt(credited) : 1_234n);
    expect(existsSync(join(folder, name.replace(".tally", ".advances")))).toBe(true);
  }
}, 60_000);

test("an account is on an advance until the last credit of it is spent", async () => {
  const { state, credits, run } = boot();
  await run();
  state.isAway = true;
  const take = async () => expect(await credits.take("a", allowance, 1)).toBe(true);
  const isAdvancing = (): boolean => credits.isAdvancing;
  while (!isAdvancing()) await take();
  while (credits.balance("a").remaining > 1) await take();
  expect(isAdvancing()).toBe(true);
  await take();
  expect(isAdvancing()).toBe(false);
});

test("a take that waits for an advance is served by a lease when the store is back before the record is on disk", async () => {
  const { state, credits, recorded, run } = boot();
  await run();
  state.isAway = true;
  const gate = Promise.withResolvers<void>();
  state.gate = gate.promise;
  while (credits.balance("a").remaining > 0) expect(credits.take("a", allowance, 1)).toBe(true);
  const waiting = credits.take("a", allowance, 1);
  await new Promise((resolve) => setImmediate(resolve));
  state.isAway = false;
  expect(await credits.take("b", allowance, 1)).toBe(true);
  gate.resolve();
  expect(await waiting).toBe(true);
  expect([recorded.length, credits.isAdvancing]).toEqual([1, false]);
});

test("an account that spends no more is advanced less, by a hundredth a sweep", async () => {
  const { clock, state, credits, recorded, run } = boot();
  await run();
  for (let second = 0; second < 100; second += 1) {
    clock.advance(1_000);
    await credits.sweep();
  }
  state.isAway = true;
  expect(await credits.take("a", allowance, 1)).toBe(true);
  // A minute at a hundred credits a second, a hundred times less by a hundredth.
  expect(recorded[0]?.credits).toBe(2_197);
});

test("a record of nothing is none", () => {
  using directory = newDirectory();
  const path = join(directory.path, "advances");
  const lines = [
    { accountId: "a", month, number: 0, credits: 5 },
    { accountId: "a", month, number: 1, credits: 0 },
    { accountId: "a", month, number: 2, credits: 5 },
  ];
  writeFileSync(path, lines.map((line) => JSON.stringify(line)).join("\n"));
  expect(readAdvances(path).map(({ number }) => number)).toEqual([2]);
});
