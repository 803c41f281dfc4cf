import { afterEach, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ManualClock, systemRandom } from "@sluice/lib";
import { mountSmallDisk } from "@sluice/lib/testing";
import { requireUnusedState } from "./directory-lock.ts";
import { run as durabilityCampaign } from "./durability.campaign.ts";
import { StateError, stateErrorCodeOf } from "./errors.ts";
import { applyMigrations } from "./migrate.ts";
import { migrations } from "./migrations.ts";
import { createState, openState } from "./open.ts";
import type { State } from "./records.ts";
import { type OpenedSqlite, openSqlite } from "./sqlite.ts";

const dependencies = {
  clock: new ManualClock(1_790_000_000_000),
  random: systemRandom,
  log: { info: () => {}, warn: () => {} },
};
const directories: string[] = [];
afterEach(() => {
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true });
});

function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), "sluice-sqlite-"));
  directories.push(directory);
  return directory;
}

async function openBoth(directory: string): Promise<{ opened: OpenedSqlite; state: State }> {
  const opened = await openSqlite(directory);
  await applyMigrations({ db: opened.db, driver: "sqlite" }, migrations, dependencies);
  return { opened, state: createState({ ...opened, driver: "sqlite" }, dependencies) };
}

const thrownBy = (work: Promise<unknown>): Promise<unknown> => work.then(() => null).catch((error: unknown) => error);

describe("the data directory", () => {
  test("a second process is refused at once with the directory and the process that holds it", async () => {
    const directory = temporaryDirectory();
    await using _held = await openState({ directory, databaseUrl: null }, dependencies);
    const script = `
      const { openState } = await import(${JSON.stringify(join(import.meta.dir, "index.ts"))});
      const { systemClock, systemRandom } = await import("@sluice/lib");
      const log = { info() {}, warn() {} };
      const started = performance.now();
      await openState({ directory: ${JSON.stringify(directory)}, databaseUrl: null }, { clock: systemClock, random: systemRandom, log })
        .then(() => console.log("opened"), (error) => console.log(error.code + "|" + error.message + "|" + (performance.now() - started)));`;
    const child = Bun.spawn([process.execPath, "-e", script], { stdout: "pipe", stderr: "inherit" });
    const [fault, message, tookMs] = (await new Response(child.stdout).text()).trim().split("|");
    expect(fault).toBe("LOCKED");
    expect(message).toBe(`The data directory ${directory} is in use by process ${process.pid}.`);
    expect(Number(tookMs)).toBeLessThan(1_000);
  });

  test("it is held from the opening to the closing and not before or after", async () => {
    const directory = temporaryDirectory();
    requireUnusedState(join(directory, "absent"));
    const state = await openState({ directory, databaseUrl: null }, dependencies);
    expect(() => requireUnusedState(directory)).toThrow("is in use by");
    await state[Symbol.asyncDispose]();
    requireUnusedState(directory);
    await using again = await openState({ directory, databaseUrl: null }, dependencies);
    expect(await again.ping()).toBe(true);
  });

  test("a second opening in the same process is refused too, and does not loosen the first one's hold", async () => {
    const directory = temporaryDirectory();
    await using state = await openState({ directory, databaseUrl: null }, dependencies);
    for (let attempt = 0; attempt < 3; attempt += 1) {
      expect(stateErrorCodeOf(await thrownBy(openState({ directory, databaseUrl: null }, dependencies)))).toBe(
        "LOCKED",
      );
    }
    const child = Bun.spawn(
      [process.execPath, join(import.meta.dir, "durability.campaign.ts"), "--child", directory, "1"],
      { stdout: "ignore", stderr: "pipe" },
    );
    expect(await new Response(child.stderr).text()).toContain("is in use by");
    expect(await child.exited).not.toBe(0);
    expect(await state.ping()).toBe(true);
  });

  test("it is free again after closing, and a number left in state.pid blocks no start", async () => {
    const directory = temporaryDirectory();
    await (await openState({ directory, databaseUrl: null }, dependencies))[Symbol.asyncDispose]();
    writeFileSync(join(directory, "state.pid"), "1\n");
    await using state = await openState({ directory, databaseUrl: null }, dependencies);
    expect(await state.ping()).toBe(true);
    expect(readFileSync(join(directory, "state.pid"), "utf8")).toBe(`${process.pid}\n`);
  });

  test("a directory that is missing is made for its owner alone, and so is the database", async () => {
    const directory = join(temporaryDirectory(), "a", "b");
    await using _state = await openState({ directory, databaseUrl: null }, dependencies);
    expect(statSync(directory).mode & 0o777).toBe(0o700);
    expect(statSync(join(directory, "state.sqlite")).mode & 0o777).toBe(0o600);
  });
});

describe("faults", () => {
  test("a full disk is DISK_FULL, refuses every write of the group, and keeps what was acknowledged", async () => {
    const directory = temporaryDirectory();
    const { opened, state } = await openBoth(directory);
    const entry = { actor: "operator", action: "fill", subject: "disk", detail: { text: "x".repeat(4_000) } };
    const kept = await state.audit.append(entry);
    const { page_count: pages } = opened.database.query("pragma page_count").get() as { page_count: bigint };
    opened.database.run(`pragma max_page_count = ${pages + 20n}`);
    const results = await Promise.allSettled(Array.from({ length: 50 }, () => state.audit.append(entry)));
    for (const result of results) {
      expect(result.status).toBe("rejected");
      const reason = result.status === "rejected" ? result.reason : null;
      expect(reason).toMatchObject({ code: "STORE_UNAVAILABLE" });
      expect(stateErrorCodeOf(reason)).toBe("DISK_FULL");
    }
    expect((await state.audit.list({ subject: "disk" })).items).toEqual([kept]);
    opened.database.run("pragma max_page_count = 1000000");
    const later = await state.audit.append(entry);
    await state[Symbol.asyncDispose]();
    await using reopened = await openState({ directory, databaseUrl: null }, dependencies);
    expect((await reopened.audit.list({ subject: "disk" })).items).toEqual([later, kept]);
  });

  test("a database that may only be read is READ_ONLY, grouped or not, and can still be read", async () => {
    const { opened, state } = await openBoth(temporaryDirectory());
    const { id } = await state.accounts.create({ name: "read" });
    opened.database.run("pragma query_only = on");
    expect(stateErrorCodeOf(await thrownBy(state.accounts.create({ name: "write" })))).toBe("READ_ONLY");
    expect(stateErrorCodeOf(await thrownBy(state.credits.lease(id, "2026-11", 1n, null)))).toBe("READ_ONLY");
    expect((await state.accounts.get(id))?.name).toBe("read");
    await state[Symbol.asyncDispose]();
  });

  test("a file that is no database is CORRUPT at opening, and is not overwritten", async () => {
    const directory = temporaryDirectory();
    const path = join(directory, "state.sqlite");
    writeFileSync(path, "this is another user's letter, not a database".repeat(200));
    const error = await thrownBy(openState({ directory, databaseUrl: null }, dependencies));
    expect(stateErrorCodeOf(error)).toBe("CORRUPT");
    expect(String(error)).toContain(path);
    expect(readFileSync(path, "utf8")).toStartWith("this is another user's letter");
  });

  test("what is no file where the database belongs ends the opening with its path and the way out", async () => {
    const directory = temporaryDirectory();
    const path = join(directory, "state.sqlite");
    mkdirSync(path);
    const error = await thrownBy(openState({ directory, databaseUrl: null }, dependencies));
    expect(error).toBeInstanceOf(StateError);
    expect(String(error)).toContain(`The database ${path} cannot be opened: `);
    expect(String(error)).toContain("Look what lies at its path");
    // The directory is free again.
    rmSync(path, { recursive: true });
    await (await openState({ directory, databaseUrl: null }, dependencies))[Symbol.asyncDispose]();
  });

  test("of a lock file that is not empty it is said that nothing is lost with it", async () => {
    const directory = temporaryDirectory();
    const path = join(directory, "state.lock");
    writeFileSync(path, "of somebody else");
    const error = await thrownBy(openState({ directory, databaseUrl: null }, dependencies));
    expect(stateErrorCodeOf(error)).toBe("CORRUPT");
    expect(String(error)).toContain(`The file ${path} cannot be locked: it is not empty`);
    expect(String(error)).not.toContain("accounts");
    rmSync(path);
    await (await openState({ directory, databaseUrl: null }, dependencies))[Symbol.asyncDispose]();
  });

  test("a page that is damaged in the middle ends the opening with the file and the way out, and is not overwritten", async () => {
    const directory = temporaryDirectory();
    const { opened, state } = await openBoth(directory);
    const entry = { actor: "operator", action: "fill", subject: "disk", detail: { text: "x".repeat(3_000) } };
    for (let index = 0; index < 50; index += 1) await state.audit.append(entry);
    opened.database.run("pragma wal_checkpoint(truncate)");
    await state[Symbol.asyncDispose]();
    const path = join(directory, "state.sqlite");
    const bytes = readFileSync(path);
    // Among the pages of the trail, which come after all tables were made: the schema itself stays whole.
    const at = Math.floor(bytes.length * 0.9);
    bytes.fill(0xaa, at, at + 8_192);
    writeFileSync(path, bytes);
    const error = await thrownBy(openState({ directory, databaseUrl: null }, dependencies));
    expect(stateErrorCodeOf(error)).toBe("CORRUPT");
    expect(String(error)).toContain(`The database ${path} is damaged: `);
    expect(String(error)).toContain("Put a copy in its place");
    expect(readFileSync(path).equals(bytes)).toBe(true);
  });

  test("an empty database is a new one, unless a log or another store shows that there was one before", async () => {
    const directory = temporaryDirectory();
    const path = join(directory, "state.sqlite");
    const beside = [join(directory, "absent"), join(directory, "ledger")];
    mkdirSync(join(directory, "ledger"));
    writeFileSync(path, "");
    await (await openState({ directory, databaseUrl: null, beside }, dependencies))[Symbol.asyncDispose]();
    mkdirSync(join(directory, "ledger", "engine"));
    await (await openState({ directory, databaseUrl: null, beside }, dependencies))[Symbol.asyncDispose]();
    writeFileSync(path, "");
    const lost = await thrownBy(openState({ directory, databaseUrl: null, beside }, dependencies));
    expect([stateErrorCodeOf(lost), String(lost)]).toEqual(["CORRUPT", expect.stringContaining(`${path} is damaged`)]);
    expect(String(lost)).toContain(join(directory, "ledger"));
    expect(statSync(path).size).toBe(0);
    writeFileSync(`${path}-wal`, "a log without its database");
    const cut = await thrownBy(openState({ directory, databaseUrl: null }, dependencies));
    expect([stateErrorCodeOf(cut), String(cut)]).toEqual(["CORRUPT", expect.stringContaining(`${path}-wal`)]);
  });

  test("a read-only and a full disk end the opening with the file, the cause and the way out", async () => {
    using disk = mountSmallDisk(4 * 1024 * 1024);
    if (disk === null) {
      console.warn("THE TEST OF A READ-ONLY DISK DID NOT RUN: it needs the right to mount a tmpfs.");
      return;
    }
    const open = (directory: string) => openState({ directory, databaseUrl: null }, dependencies);
    const refusal = async (directory: string) => {
      const error = await thrownBy(open(directory));
      return [stateErrorCodeOf(error), String(error)];
    };
    const directory = join(disk.path, "state");
    disk.fill();
    const isFull = expect.stringContaining("the disk is full. Make room");
    expect(await refusal(directory)).toEqual(["DISK_FULL", isFull]);
    disk.empty();
    await (await open(directory))[Symbol.asyncDispose]();
    disk.setReadOnly(true);
    expect(await refusal(directory)).toEqual(["READ_ONLY", expect.stringContaining(`${directory}/state.`)]);
    expect((await refusal(directory))[1]).toContain("Make it writable");
    expect(await refusal(join(disk.path, "other"))).toEqual(["READ_ONLY", expect.stringContaining("is read-only")]);
  });

  test("a row that no version of Sluice can have written is CORRUPT, not a guess", async () => {
    const { opened, state } = await openBoth(temporaryDirectory());
    const { id } = await state.accounts.create({ name: "damaged" });
    opened.database.run("update accounts set tier_platform = 'diamond'");
    const error = await thrownBy(state.accounts.get(id));
    expect(error).toMatchObject({ code: "INTERNAL_ERROR" });
    expect(stateErrorCodeOf(error)).toBe("CORRUPT");
    await state[Symbol.asyncDispose]();
  });
});

describe("durability", () => {
  test("whatever was acknowledged before a kill -9 is there afterwards, and the directory is free", async () => {
    const { passed, summary } = await durabilityCampaign({ n: 10, seed: 1 });
    expect(summary).toContain("10 kills");
    expect(passed).toBe(true);
  }, 30_000);
});
