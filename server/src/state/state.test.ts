import { describe, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Clock, ManualClock, seededRandom, systemClock, systemRandom } from "@sluice/lib";
import { withRealTimers } from "@sluice/lib/testing";
import { sql } from "kysely";
import { stateErrorCodeOf } from "./errors.ts";
import { applyMigrations, readMigrationStatus } from "./migrate.ts";
import { migrations } from "./migrations.ts";
import { createState, openState, type StateOptions } from "./open.ts";
import { openPostgres } from "./postgres.ts";
import type { MigrationStatus, StateLog } from "./records.ts";
import type { Migration } from "./schema.ts";
import { openSqlite } from "./sqlite.ts";
import { newBundle } from "./testing/conformance/bundles.ts";
import { describeStateConformance } from "./testing/conformance.ts";
import { newSchema } from "./testing/schema.ts";

/** The number of the migration that contracts. */
const bundleKeys = 19;
const log: StateLog = { info: () => {}, warn: () => {} };
const databaseUrl = Bun.env["DATABASE_URL"] ?? "";
if (databaseUrl === "") console.warn("NOT RUN: state conformance on PostgreSQL (DATABASE_URL is not set)");

const describePostgres: (name: string, tests: () => void) => void = databaseUrl === "" ? () => {} : describe;

/** An empty place for a database, removed afterwards. */
interface Place extends AsyncDisposable {
  readonly options: StateOptions;
}

async function sqlitePlace(): Promise<Place> {
  const directory = mkdtempSync(join(tmpdir(), "sluice-state-"));
  return {
    options: { directory, databaseUrl: null },
    [Symbol.asyncDispose]: async () => rmSync(directory, { recursive: true }),
  };
}

async function postgresPlace(): Promise<Place> {
  const schema = await newSchema(databaseUrl);
  return {
    options: { directory: "", databaseUrl: schema.url },
    [Symbol.asyncDispose]: () => schema[Symbol.asyncDispose](),
  };
}

const places: readonly (readonly [string, () => Promise<Place>])[] = [
  ["SQLite", sqlitePlace],
  ...(databaseUrl === "" ? [] : ([["PostgreSQL", postgresPlace]] as const)),
];

async function openDriver({ options }: Place) {
  if (options.databaseUrl === null) return { ...(await openSqlite(options.directory)), driver: "sqlite" as const };
  return { ...openPostgres(options.databaseUrl, { clock: systemClock, log }), driver: "postgres" as const };
}

/** Applies the migrations that the database of `place` lacks, and gives their numbers. */
async function migrate(place: Place, migrateDependencies: { clock: Clock }): Promise<readonly number[]> {
  await using opened = await openDriver(place);
  return await applyMigrations(opened, migrations, migrateDependencies);
}

async function readStatus(place: Place): Promise<readonly MigrationStatus[]> {
  await using opened = await openDriver(place);
  return await readMigrationStatus(opened, migrations);
}

for (const [name, makePlace] of places) {
  describeStateConformance(name, async ({ clock }) => {
    const place = await makePlace();
    const opened = await openDriver(place);
    const dependencies = { clock: withRealTimers(clock), random: systemRandom, log };
    await applyMigrations(opened, migrations, dependencies);
    const state = createState(opened, dependencies);
    const replica = opened.driver === "postgres" ? await openState(place.options, dependencies) : null;
    return {
      state,
      replica,
      execute: async (statement) => {
        await sql.raw(statement).execute(opened.db);
      },
      [Symbol.asyncDispose]: async () => {
        await replica?.[Symbol.asyncDispose]();
        await state[Symbol.asyncDispose]();
        await place[Symbol.asyncDispose]();
      },
    };
  });

  describe(`migrations on ${name}`, () => {
    const clock = new ManualClock(1_790_000_000_000);
    const dependencies = { clock: withRealTimers(clock), random: seededRandom(1), log };
    const added: Migration = {
      number: Math.max(...migrations.map(({ number }) => number)) + 1,
      name: "one more",
      steps: [
        { create: "extra", primaryKey: ["id"], columns: { id: { type: "id" } } },
        { addColumn: "amount", to: "extra", column: { type: "int", nullable: true } },
      ],
    };

    test("an empty database is brought up to date, and a second time changes nothing", async () => {
      await using place = await makePlace();
      const appliedAt = async () => (await readStatus(place)).map((status) => status.appliedAt);
      expect(await appliedAt()).toEqual(migrations.map(() => null));
      expect(await migrate(place, dependencies)).toEqual(migrations.map(({ number }) => number));
      expect(await migrate(place, dependencies)).toEqual([]);
      expect(await appliedAt()).toEqual(migrations.map(() => clock.now()));
    });

    test("what was written before a migration is there after it", async () => {
      await using place = await makePlace();
      const first = await openState(place.options, dependencies);
      const account = await first.accounts.create({ name: "kept" });
      await first[Symbol.asyncDispose]();
      await using opened = await openDriver(place);
      expect(await applyMigrations(opened, [...migrations, added], dependencies)).toEqual([added.number]);
      const row = await opened.db.selectFrom("accounts").selectAll().executeTakeFirstOrThrow();
      expect(row.id).toBe(account.id);
    });

    test("a key that was created before permissions held everywhere may still read and send transactions", async () => {
      await using place = await makePlace();
      await using opened = await openDriver(place);
      await applyMigrations(
        opened,
        migrations.filter(({ number }) => number < 9),
        dependencies,
      );
      const lists = [[], ["read"], ["bundles:write", "keys:write"], ["admin", "read"]];
      await sql`insert into accounts (id, name, created_at, tier_platform, tier_oracle, tier_oracle_v2)
        values ('acc', 'a', 1, 'free', 'community', 'community')`.execute(opened.db);
      for (const [index, list] of lists.entries()) {
        const restrictions = JSON.stringify({ networks: [], domains: [], ipRanges: [] });
        await sql`insert into api_keys (id, account_id, name, hash, hint, environment, status, restrictions, enhanced,
          permissions, created_at) values (${`key_${index}`}, 'acc', 'k', ${`${index}`.repeat(64)}, 'h', 'live', 'active',
          ${restrictions}, 1, ${JSON.stringify(list)}, 1)`.execute(opened.db);
      }
      await applyMigrations(opened, migrations, dependencies);
      await using state = createState(opened, dependencies);
      const keys = await Promise.all(lists.map((_, index) => state.keys.get(`key_${index}`)));
      expect(keys.map((key) => key?.permissions)).toEqual([
        ["read", "transactions:write"],
        ["read", "transactions:write"],
        ["bundles:write", "keys:write", "read", "transactions:write"],
        ["admin", "read", "transactions:write"],
      ]);
      expect(keys.map((key) => key?.methods)).toEqual(lists.map(() => []));
    });

    test("bundles, reputations, places and the lease of a version without networks become those of one network", async () => {
      await using place = await makePlace();
      await using opened = await openDriver(place);
      const earlier = migrations.filter(({ number }) => number < 13);
      await applyMigrations(opened, earlier, dependencies);
      const id = "b".repeat(64);
      for (const statement of [
        `insert into bundles (id, searcher_id, door, signatures, tip, mev_type, received_at, accepted_slot, expires_at,
          state, forwarded_times, changed_at) values ('${id}', 's', 'rest', '', 5, 'arbitrage', 1, 2, 3, 'accepted', 0, 1)`,
        `insert into bundle_contents (bundle_id, transactions) values ('${id}', ${name === "SQLite" ? "x''" : "''"})`,
        "insert into reputations (searcher_id, version, value) values ('s', 1, '7')",
        "insert into engine_cursors (name, value) values ('tracker', '17 hash')",
        "insert into engine_leases (name, epoch, beats, holder) values ('engine-book', 41, 9, 'earlier')",
      ]) {
        await sql.raw(statement).execute(opened.db);
      }
      await applyMigrations(opened, migrations, { clock, network: "devnet" });
      await using state = createState(opened, dependencies);
      const kept = state.engine.of("devnet");
      expect(await kept.bundles.live(null, 10)).toMatchObject([{ id, tip: 5n, state: "accepted" }]);
      expect(await kept.reputations.get("s")).toEqual({ searcherId: "s", version: 1, value: 7 });
      expect(await kept.cursors.get("tracker")).toBe("17 hash");
      // The epoch goes on, so that what the holder before it still writes is refused.
      expect(await state.leases.find("devnet:engine-book")).toMatchObject({ epoch: 41n, holder: "earlier" });
      expect(await state.engine.of("mainnet").bundles.live(null, 10)).toEqual([]);
    });

    test("a version goes on with what a newer one has added, and both go on beside each other", async () => {
      await using place = await makePlace();
      const opened = await openDriver(place);
      await applyMigrations(opened, [...migrations, added], dependencies);
      await opened[Symbol.asyncDispose]();
      await using state = await openState(place.options, dependencies);
      expect((await state.accounts.create({ name: "of the version before" })).name).toBe("of the version before");
    });

    test("a database in which a newer version changed what was there is refused and left as it is", async () => {
      await using place = await makePlace();
      const opened = await openDriver(place);
      await applyMigrations(opened, [...migrations, { ...added, steps: [{ dropTable: "sessions" }] }], dependencies);
      await opened[Symbol.asyncDispose]();
      const attempts = [
        () => openState(place.options, dependencies),
        () => migrate(place, dependencies),
        () => readStatus(place),
      ];
      for (const attempt of attempts) {
        const error = await attempt().catch((thrown: unknown) => thrown);
        expect(stateErrorCodeOf(error)).toBe("SCHEMA_NEWER");
        expect(String(error)).toContain(`migration ${added.number}`);
      }
    });

    test("an applied migration whose content has changed is refused", async () => {
      await using place = await makePlace();
      await using opened = await openDriver(place);
      await applyMigrations(opened, migrations, dependencies);
      const edited = migrations.map((migration) => ({ ...migration, name: `${migration.name}, edited` }));
      const error = await applyMigrations(opened, edited, dependencies).catch((thrown: unknown) => thrown);
      expect(stateErrorCodeOf(error)).toBe("SCHEMA_CHANGED");
    });

    test("what contracts waits in a shared database that a version has used, and is applied when none runs", async () => {
      await using place = await makePlace();
      const earlier = await openDriver(place);
      await applyMigrations(
        earlier,
        migrations.filter(({ number }) => number < 18),
        dependencies,
      );
      await earlier[Symbol.asyncDispose]();
      await using state = await openState(place.options, dependencies);
      const waiting = async () =>
        (await state.migrations()).filter(({ appliedAt }) => appliedAt === null).map(({ number }) => number);
      const isShared = state.driver === "postgres";
      expect(await waiting()).toEqual(isShared ? [bundleKeys] : []);
      const newest = Math.max(...migrations.map(({ number }) => number));
      expect(await state.schema()).toEqual({ known: newest, stored: newest, missing: isShared ? 1 : 0 });
      const [devnet, testnet] = (["devnet", "testnet"] as const).map((network) => state.engine.of(network).bundles);
      const bundle = newBundle();
      await devnet?.accept(bundle, "genesis");
      // An id is in one network alone until then, and nothing of it is another network's to see or to change.
      const twin = testnet?.accept(bundle).then(({ fresh }) => fresh, stateErrorCodeOf);
      expect(await twin).toBe(isShared ? "OVERLOADED" : true);
      if (!isShared) return;
      await using opened = await openDriver(place);
      const register = (schema: string) =>
        sql.raw(`insert into processes (id, roles, version, meters, shares_ledger, shares_hot, started_at, beats,
          expires_at, schema) values ('earlier', 'gateway', '0.0.9', 1, 1, 1, 1, 0, 4102444800000, ${schema})`);
      for (const schema of ["null", "18"]) {
        await register(schema).execute(opened.db);
        const refused = await state.contract().catch((error: unknown) => error);
        expect(refused).toMatchObject({ code: "CONFLICT" });
        expect(String(refused)).toContain("version 0.0.9 (roles gateway)");
        await sql`delete from processes`.execute(opened.db);
      }
      expect(await state.contract()).toEqual([bundleKeys]);
      expect([await waiting(), await state.contract()]).toEqual([[], []]);
      expect(await state.schema()).toEqual({ known: newest, stored: newest, missing: 0 });
      // As a later version does, which runs beside this one.
      await applyMigrations(opened, [...migrations, { ...added, number: newest + 1 }], dependencies);
      expect(await state.schema()).toEqual({ known: newest, stored: newest + 1, missing: 0 });
      expect(await devnet?.get(bundle.id)).toEqual({ ...bundle, chain: "genesis" });
      expect(await testnet?.accept(bundle)).toEqual({ fresh: true });
    });

    test("a migration that fails half way leaves nothing behind", async () => {
      await using place = await makePlace();
      await using opened = await openDriver(place);
      const broken: Migration = { ...added, steps: [...added.steps, { index: "i", on: "absent", columns: ["id"] }] };
      await expect(applyMigrations(opened, [...migrations, broken], dependencies)).rejects.toThrow();
      const status = await readMigrationStatus(opened, migrations);
      expect(status.every(({ appliedAt }) => appliedAt === null)).toBe(true);
      expect(await applyMigrations(opened, [...migrations, added], dependencies)).toHaveLength(migrations.length + 1);
    });

    test("opening without leave to migrate refuses a database that lacks migrations", async () => {
      await using place = await makePlace();
      const error = await openState({ ...place.options, migrate: false }, dependencies).catch(
        (thrown: unknown) => thrown,
      );
      expect(stateErrorCodeOf(error)).toBe("SCHEMA_OLDER");
      await migrate(place, dependencies);
      await using state = await openState({ ...place.options, migrate: false }, dependencies);
      expect(await state.migrations()).toEqual(
        migrations.map(({ number, name }) => ({
          ...{ number, name, appliedAt: clock.now() },
          contracts: number === bundleKeys,
        })),
      );
    });

    test("opening without leave to create refuses what is not there, and leaves it as it was", async () => {
      await using place = await makePlace();
      const open = () => openState({ ...place.options, create: false }, dependencies);
      const error = await open().catch((thrown: unknown) => thrown);
      expect(stateErrorCodeOf(error)).toBe("ABSENT");
      if (place.options.databaseUrl === null) expect(readdirSync(place.options.directory)).toEqual([]);
      await using opened = await openDriver(place);
      const status = await readMigrationStatus(opened, migrations);
      expect(status.every(({ appliedAt }) => appliedAt === null)).toBe(true);
      await applyMigrations(opened, migrations, dependencies);
      await opened[Symbol.asyncDispose]();
      await using state = await open();
      expect(await state.ping()).toBe(true);
    });

    test("after closing, which can be done twice, writes are refused and not lost in silence", async () => {
      await using place = await makePlace();
      const state = await openState(place.options, dependencies);
      const { id } = await state.accounts.create({ name: "closing" });
      const queued = state.credits.lease(id, "2026-11", 5n, null);
      await Promise.all([state[Symbol.asyncDispose](), state[Symbol.asyncDispose]()]);
      expect(await queued).toBe(5n);
      await expect(state.credits.lease(id, "2026-11", 5n, null)).rejects.toMatchObject({ code: "OVERLOADED" });
      await expect(state.accounts.create({ name: "late" })).rejects.toThrow();
      expect(await state.ping()).toBe(false);
      await using reopened = await openState(place.options, dependencies);
      expect(await reopened.credits.used(id, "2026-11")).toBe(5n);
    });
  });
}

describePostgres("PostgreSQL alone", () => {
  const dependencies = { clock: withRealTimers(new ManualClock(1_790_000_000_000)), random: seededRandom(1), log };

  test("replicas that start together on an empty database all come up, and one of them migrates", async () => {
    await using place = await postgresPlace();
    const applied = await Promise.all(Array.from({ length: 4 }, () => migrate(place, dependencies)));
    expect(applied.map((numbers) => numbers.length).sort()).toEqual([0, 0, 0, migrations.length]);
  });

  test("of processes that do the same to another store one is at work at a time, and each has its turn", async () => {
    await using place = await postgresPlace();
    await migrate(place, dependencies);
    const replicas = await Promise.all([1, 2, 3].map(() => openState(place.options, dependencies)));
    let working = 0;
    const seen: number[] = [];
    const work = async (): Promise<void> => {
      working += 1;
      seen.push(working);
      await Bun.sleep(20);
      working -= 1;
    };
    await Promise.all(replicas.map((state) => state.inTurn("other work", work)));
    expect(seen).toEqual([1, 1, 1]);
    await expect(replicas[0]?.inTurn("other work", () => Promise.reject(new Error("failed")))).rejects.toThrow(
      "failed",
    );
    await replicas[1]?.inTurn("other work", work);
    expect(seen).toHaveLength(4);
    for (const state of replicas) await state[Symbol.asyncDispose]();
  });

  test("a commit is synchronous even where the server's default is not", async () => {
    await using place = await postgresPlace();
    const url = new URL(place.options.databaseUrl ?? "");
    url.searchParams.set("options", `${url.searchParams.get("options")} -c synchronous_commit=off`);
    await using opened = openPostgres(url.href, { clock: systemClock, log });
    const { rows } = await sql<{ setting: string }>`select current_setting('synchronous_commit') as setting`.execute(
      opened.db,
    );
    expect(rows).toEqual([{ setting: "on" }]);
  });

  test("a server that is not there is UNAVAILABLE at once", async () => {
    const options = { directory: "", databaseUrl: "postgres://user:secret@127.0.0.1:1/none" };
    const error = await openState(options, dependencies).catch((thrown: unknown) => thrown);
    expect(stateErrorCodeOf(error)).toBe("UNAVAILABLE");
    expect(String(error)).not.toContain("secret");
  });

  test("a connection that the server ends is replaced, and the call after it works", async () => {
    await using place = await postgresPlace();
    await using opened = {
      ...openPostgres(place.options.databaseUrl ?? "", { clock: systemClock, log }),
      driver: "postgres" as const,
    };
    await applyMigrations(opened, migrations, dependencies);
    await using state = createState(opened, dependencies);
    const { id } = await state.accounts.create({ name: "survivor" });
    const ended = sql`select pg_terminate_backend(pg_backend_pid())`.execute(opened.db);
    await expect(ended).rejects.toThrow();
    expect(await state.credits.lease(id, "2026-11", 3n, null)).toBe(3n);
  });
});
