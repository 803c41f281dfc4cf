import { describe, expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ManualClock, systemClock, systemRandom } from "@sluice/lib";
import { openState, type State } from "../state/index.ts";
import { newSchema } from "../state/testing/schema.ts";
import { monthOf } from "./account-credits.ts";
import { openCredits } from "./credits.ts";
import { Reconciler } from "./reconciler.ts";
import type { Settlement } from "./settle-holder.ts";
import { createTally, readBootId, takeDeadTally, tallyHolders } from "./tally-file.ts";
import { killedWhenDone } from "./testing/killed-child.ts";
import { MeterInMemory } from "./testing/meter-in-memory.ts";

const databaseUrl = Bun.env["DATABASE_URL"] ?? "";
if (databaseUrl === "") console.warn("NOT RUN: leases of killed processes on PostgreSQL (DATABASE_URL is not set)");
/** A database of a test's own: "" is SQLite in its directory, else a schema of PostgreSQL that is gone afterwards. */
interface Place extends AsyncDisposable {
  readonly url: string;
}

const inDirectory = async (): Promise<Place> => ({ url: "", [Symbol.asyncDispose]: async () => undefined });

const inSchema = (): Promise<Place> => newSchema(databaseUrl);

const drivers: readonly (readonly [string, () => Promise<Place>])[] = [
  ["SQLite", inDirectory],
  ...(databaseUrl === "" ? [] : ([["PostgreSQL", inSchema]] as const)),
];
const log = { info: () => undefined, warn: () => undefined };
const holderOf = (digit: string): string => digit.repeat(24);

/** A directory that is gone afterwards. */
function newDirectory(): Disposable & { readonly path: string } {
  const path = mkdtempSync(join(tmpdir(), "sluice-tally-"));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

/** Reconcilers of a meter in memory on one directory, and what they have reported. */
function bootReconcilers(directory: string, bootId: string | null = readBootId()) {
  const clock = new ManualClock(Date.UTC(2026, 10, 22));
  const meter = new MeterInMemory();
  const store = Object.assign(meter, { closeBooksBefore: async () => 0 });
  const place = { directory, meter: "credits", bootId };
  const reported: Settlement[] = [];
  const events = { creditsReconciled: (_meter: string, settlement: Settlement) => void reported.push(settlement) };
  const make = (own = holderOf("f")): Reconciler =>
    new Reconciler({ place, own, intervalMs: null }, { clock, store, log, events });
  return { clock, meter, place, reported, make };
}

const month = "2026-11";

/** A process that has leased and spent, and then died. */
async function die(boot: ReturnType<typeof bootReconcilers>, holder: string, leased: bigint, spent: number) {
  const own = createTally(boot.place, holder);
  const entry = own.tally.open();
  if (entry === null) throw new Error("no room");
  const lease = () => boot.meter.lease("a", month, leased, null, { holder, number: entry.number });
  await lease();
  entry.spend(spent);
  own.release(false);
  return { lease };
}

/** Starts a process that spends and kills it once it has spent as much as it was to. */
async function spendAndKill(directory: string, url: string, accountId: string, requested: number): Promise<void> {
  const printed = await killedWhenDone("spender.ts", [directory, url, accountId, "1000000", String(requested)]);
  expect(printed).toContain(`done ${requested}`);
}

async function openAccount(directory: string, url: string): Promise<{ state: State; accountId: string }> {
  const state = await openState(
    { directory: join(directory, "state"), databaseUrl: url === "" ? null : url },
    { clock: systemClock, random: systemRandom, log },
  );
  const { id } = await state.accounts.create({ name: `of ${randomUUID()}` });
  return { state, accountId: id };
}

for (const [driver, newPlace] of drivers) {
  test(`after a kill -9 on ${driver} what was spent is charged to the credit, and the rest of the lease comes back once`, async () => {
    using directory = newDirectory();
    await using place = await newPlace();
    const { url } = place;
    const { state: first, accountId } = await openAccount(directory.path, url);
    await first[Symbol.asyncDispose]();
    let spent = 0;
    for (const requested of [1_234, 77]) {
      await spendAndKill(directory.path, url, accountId, requested);
      spent += requested;
      const state = await openState(
        { directory: join(directory.path, "state"), databaseUrl: url === "" ? null : url },
        { clock: systemClock, random: systemRandom, log },
      );
      const present = monthOf(systemClock.now());
      expect(await state.credits.used(accountId, present)).toBeGreaterThan(BigInt(spent));
      const reported: Settlement[] = [];
      const tallies = { directory: join(directory.path, "credits"), meter: "credits", bootId: readBootId() };
      const events = { creditsReconciled: (_: string, settlement: Settlement) => void reported.push(settlement) };
      const make = (): Reconciler =>
        new Reconciler(
          { place: tallies, own: "", intervalMs: null },
          { clock: systemClock, store: state.credits, log, events },
        );
      await Promise.all([make().run(), make().run(), make().run()]);
      await make().run();
      expect(await state.credits.used(accountId, present)).toBe(BigInt(spent));
      expect(reported.length).toBe(1);
      expect(reported[0]?.unproved).toBe(0n);
      await state[Symbol.asyncDispose]();
    }
  }, 30_000);
}

describe("what a dead process left", () => {
  test("is settled by its tally once, regardless of which process looks and how often", async () => {
    using directory = newDirectory();
    const boot = bootReconcilers(directory.path);
    await die(boot, holderOf("1"), 100n, 30);
    await die(boot, holderOf("2"), 50n, 50);
    await Promise.all([boot.make().run(), boot.make().run()]);
    await boot.make().run();
    expect(boot.meter.usedNow("a", month)).toBe(80n);
    expect(boot.reported.reduce((sum, { returned }) => sum + returned, 0n)).toBe(70n);
  });

  test("includes a lease that the database carries out after the settlement; then the files go", async () => {
    using directory = newDirectory();
    const boot = bootReconcilers(directory.path);
    const { lease } = await die(boot, holderOf("1"), 100n, 30);
    const reconciler = boot.make();
    await reconciler.run();
    await lease();
    expect(boot.meter.usedNow("a", month)).toBe(130n);
    boot.clock.advance(59_999);
    await reconciler.run();
    expect(boot.meter.usedNow("a", month)).toBe(30n);
    expect(tallyHolders(boot.place)).toEqual([holderOf("1")]);
    boot.clock.advance(1);
    await reconciler.run();
    expect(readdirSync(directory.path)).toEqual([]);
  });

  test("stays charged when the machine was started anew since, or the tally is not what was written", async () => {
    const spoil: readonly ((path: string) => void)[] = [
      (path) => writeFileSync(path, readFileSync(path).fill("0", 16, 20)),
      (path) => truncateSync(path, 1_000),
      (path) => writeFileSync(path, readFileSync(path).fill(1, 272, 288)),
      (path) => writeFileSync(path, ""),
    ];
    for (const damage of spoil) {
      using directory = newDirectory();
      const boot = bootReconcilers(directory.path);
      await die(boot, holderOf("1"), 100n, 30);
      damage(join(directory.path, `credits-${holderOf("1")}.tally`));
      await boot.make().run();
      expect(boot.meter.usedNow("a", month)).toBe(100n);
      expect(boot.reported).toEqual([{ books: 1, returned: 0n, unproved: 100n, advanced: 0n }]);
      expect(await boot.meter.openBooks(holderOf("1"), 10)).toEqual([]);
    }
    using directory = newDirectory();
    const nameless = bootReconcilers(directory.path, null);
    await die(nameless, holderOf("1"), 100n, 30);
    await nameless.make().run();
    expect(nameless.meter.usedNow("a", month)).toBe(100n);
  });

  test("is left alone while the process lives, also by others of its own process", async () => {
    using directory = newDirectory();
    const boot = bootReconcilers(directory.path);
    const own = createTally(boot.place, holderOf("1"));
    const entry = own.tally.open();
    await boot.meter.lease("a", month, 100n, null, { holder: holderOf("1"), number: entry?.number ?? 0 });
    await boot.make().run();
    expect(takeDeadTally(boot.place, holderOf("1"))).toBeNull();
    expect(boot.meter.usedNow("a", month)).toBe(100n);
    own.release(true);
    expect(readdirSync(directory.path)).toEqual([]);
  });

  test("waits for a store that fails, and is settled by the next look", async () => {
    using directory = newDirectory();
    const boot = bootReconcilers(directory.path);
    await die(boot, holderOf("1"), 100n, 30);
    const settle = boot.meter.settle.bind(boot.meter);
    boot.meter.settle = async () => Promise.reject(new Error("store down"));
    const reconciler = boot.make();
    await reconciler.run();
    expect(boot.meter.usedNow("a", month)).toBe(100n);
    boot.meter.settle = settle;
    await reconciler.run();
    expect(boot.meter.usedNow("a", month)).toBe(30n);
  });
});

test("a process that ends takes its tally with it, or leaves it when it could not settle", async () => {
  for (const isDown of [false, true]) {
    using directory = newDirectory();
    const meter = Object.assign(new MeterInMemory(), { closeBooksBefore: async () => 0 });
    const clock = new ManualClock(Date.UTC(2026, 10, 22));
    const credits = openCredits(
      { directory: join(directory.path, "credits"), meter: "credits", sweepIntervalMs: null },
      {
        clock,
        random: systemRandom,
        log,
        store: meter,
        events: { creditsReconciled: () => undefined, creditsHeld: () => undefined },
      },
    );
    expect(await credits.take("a", 1_000n, 7)).toBe(true);
    if (isDown) meter.settle = async () => Promise.reject(new Error("store down"));
    await credits[Symbol.asyncDispose]();
    expect(readdirSync(join(directory.path, "credits")).length).toBe(isDown ? 2 : 0);
    expect(meter.usedNow("a", month)).toBe(isDown ? 32n : 7n);
  }
});

test("what a dead process left is settled when the next one starts, before any of its intervals is over", async () => {
  using directory = newDirectory();
  const boot = bootReconcilers(directory.path);
  await die(boot, holderOf("1"), 100n, 30);
  const settled = Promise.withResolvers<Settlement>();
  const { clock, meter } = boot;
  const store = Object.assign(meter, { closeBooksBefore: async () => 0 });
  const events = {
    creditsReconciled: (_meter: string, settlement: Settlement) => settled.resolve(settlement),
    creditsHeld: () => undefined,
  };
  const options = { directory: directory.path, meter: "credits", sweepIntervalMs: null };
  await using _credits = openCredits(options, { clock, random: systemRandom, log, store, events });
  const outcome = await Promise.race([settled.promise, Bun.sleep(2_000).then(() => "not settled")]);
  expect(outcome).toEqual({ books: 1, returned: 70n, unproved: 0n, advanced: 0n });
  expect(meter.usedNow("a", month)).toBe(30n);
});

test("where no tally can be kept credits are served all the same", async () => {
  using directory = newDirectory();
  writeFileSync(join(directory.path, "credits"), "not a directory");
  const meter = Object.assign(new MeterInMemory(), { closeBooksBefore: async () => 0 });
  const warnings: string[] = [];
  const credits = openCredits(
    { directory: join(directory.path, "credits"), meter: "credits", sweepIntervalMs: null },
    {
      clock: new ManualClock(Date.UTC(2026, 10, 22)),
      random: systemRandom,
      log: { warn: (_fields, message) => void warnings.push(message) },
      store: meter,
      events: { creditsReconciled: () => undefined, creditsHeld: () => undefined },
    },
  );
  expect(await credits.take("a", 1_000n, 7)).toBe(true);
  await credits[Symbol.asyncDispose]();
  expect(meter.usedNow("a", month)).toBe(7n);
  expect(warnings.length).toBe(1);
  expect(existsSync(join(directory.path, "credits"))).toBe(true);
});
