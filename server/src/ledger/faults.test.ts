import { expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "@sluice/lib";
import { eventually } from "@sluice/lib/testing";
import { Glob } from "bun";
import { LedgerOpenError, LedgerUnavailableError } from "./errors.ts";
import { run } from "./kills.campaign.ts";
import { type Ledger, openLedger } from "./ledger.ts";
import { explained } from "./supervisor.ts";
import { fact, isAlive, ledgerDirectory, recordingLog, residentMiB } from "./testing/ledger-directory.ts";

async function openIn(path: string): Promise<Ledger> {
  const options = { directory: path, clickhouseUrl: null, cluster: null };
  return await openLedger(options, { clock: systemClock, log: recordingLog() });
}

function startParent(path: string, mode = "idle") {
  return Bun.spawn([process.execPath, join(import.meta.dir, "testing", "ledger-parent.ts"), path, mode], {
    stdout: "pipe",
    stderr: "ignore",
    env: {},
  });
}

async function firstLine(stream: ReadableStream<Uint8Array>): Promise<{ child?: number; error?: string }> {
  const reader = stream.getReader();
  const { value } = await reader.read();
  reader.releaseLock();
  return JSON.parse(new TextDecoder().decode(value));
}

test("five SIGKILLs of the engine under inserts lose no acknowledged batch, double none and tear none", async () => {
  const { passed, summary } = await run({ n: 5, seed: 20261120 });
  expect(summary).toContain("no faults");
  expect(passed).toBe(true);
}, 30_000);

test("a query in flight when the engine dies fails as unavailable and retryable, and the next one works", async () => {
  using directory = ledgerDirectory();
  await using ledger = await openIn(directory.path);
  const pid = ledger.childPid();
  const endless = "SELECT count() FROM numbers(1e13) WHERE sipHash64(number) = 1";
  const asked = ledger.query(endless).then(
    () => null,
    (error: unknown) => error,
  );
  const running = "SELECT query_id FROM system.processes WHERE startsWith(query, {endless:String})";
  await eventually("the query runs", async () => (await ledger.query(running, { endless })).length > 0);
  process.kill(pid ?? 0, "SIGKILL");
  const error = await asked;
  expect(error).toBeInstanceOf(LedgerUnavailableError);
  expect(error).toMatchObject({ code: "STORE_UNAVAILABLE" });
  expect(await ledger.query<{ a: number }>("SELECT 1 AS a")).toEqual([{ a: 1 }]);
  expect(ledger.childPid()).not.toBe(pid);
});

test("SIGKILL of the parent leaves no engine behind, and the directory opens again", async () => {
  using directory = ledgerDirectory();
  const parent = startParent(directory.path);
  const { child } = await firstLine(parent.stdout);
  expect(isAlive(child ?? 0)).toBe(true);
  parent.kill("SIGKILL");
  await parent.exited;
  await eventually("the engine's end", () => !isAlive(child ?? 0));
  await using ledger = await openIn(directory.path);
  expect(await ledger.ping()).toBe(true);
});

test("the engine ends with its parent also while statements run", async () => {
  using directory = ledgerDirectory();
  const parent = startParent(directory.path, "busy");
  const { child } = await firstLine(parent.stdout);
  parent.kill("SIGKILL");
  await parent.exited;
  await eventually("the engine's end", () => !isAlive(child ?? 0));
});

test("a second process on the directory is refused with a clear message, and the first is not disturbed", async () => {
  using directory = ledgerDirectory();
  await using ledger = await openIn(directory.path);
  const second = startParent(directory.path);
  const { error } = await firstLine(second.stdout);
  expect(error).toContain("Another process uses the ledger in");
  expect(error).toContain(directory.path);
  expect(await second.exited).toBe(1);
  await expect(openIn(directory.path)).rejects.toBeInstanceOf(LedgerOpenError);
  expect(await ledger.ping()).toBe(true);
});

test("a damaged file of the engine ends the start with its path, the cause and the way out, in a few lines", async () => {
  using directory = ledgerDirectory();
  await (await openIn(directory.path))[Symbol.asyncDispose]();
  const names = [...new Glob("engine/{metadata,store}/**/*.sql").scanSync({ cwd: directory.path })];
  const table = join(directory.path, names.find((name) => name.endsWith("/requests.sql")) ?? "");
  const database = join(directory.path, "engine/metadata/sluice.sql");
  for (const path of [table, database]) {
    const before = readFileSync(path);
    for (const damage of [Buffer.alloc(before.length), before.subarray(0, before.length / 2), Buffer.alloc(0)]) {
      writeFileSync(path, damage);
      const error = await openIn(directory.path).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(LedgerOpenError);
      const { message } = error as LedgerOpenError;
      expect(message).toStartWith(`The file ${path} cannot be read: `);
      expect(message).toContain(`Put a copy of ${directory.path} in its place`);
      expect(message.length).toBeLessThan(900);
      expect(message).not.toContain("\n");
    }
    writeFileSync(path, before);
  }
  await using again = await openIn(directory.path);
  expect(await again.ping()).toBe(true);
}, 60_000);

test("a directory that the engine may not write to is told as such", () => {
  const text = 'ledger ended with 1 before it was ready: {"error":"EROFS: read-only file system, mkdir \'/x/engine\'"}';
  expect(explained("/x", text)).toBe(
    "The ledger in /x cannot be opened: the file system is read-only. Make it writable, or choose another data directory (DATA_DIR).",
  );
  expect(explained("/x", "Code: 1. DB::Exception: it   broke\u0000\u0000 (X)")).toStartWith(
    "The ledger in /x cannot be read: it broke (X). Put a copy",
  );
});

test("closing ends the engine at once and for good, and what was appended is on disk", async () => {
  using directory = ledgerDirectory();
  const ledger = await openIn(directory.path);
  const pid = ledger.childPid() ?? 0;
  ledger.requests.append(fact({ accountId: "closing" }));
  await ledger[Symbol.asyncDispose]();
  expect(isAlive(pid)).toBe(false);
  expect(ledger.childPid()).toBeNull();
  expect(await ledger.ping()).toBe(false);
  await expect(ledger.query("SELECT 1")).rejects.toBeInstanceOf(LedgerUnavailableError);
  await using again = await openIn(directory.path);
  const [row] = await again.query<{ n: string }>("SELECT count() AS n FROM requests WHERE account_id = 'closing'");
  expect(row?.n).toBe("1");
});

test("SIGTERM to the engine exits 0 and the supervisor brings it back", async () => {
  using directory = ledgerDirectory();
  const log = recordingLog();
  const options = { directory: directory.path, clickhouseUrl: null, cluster: null };
  await using ledger = await openLedger(options, { clock: systemClock, log });
  const pid = ledger.childPid() ?? 0;
  process.kill(pid, "SIGTERM");
  await eventually("the restart", async () => ledger.childPid() !== pid && (await ledger.ping()));
  const died = log.entries.find((entry) => entry.message.includes("ended"));
  expect(died?.fields).toMatchObject({ pid, exitCode: 0, signal: null });
});

test("an idle engine stays small", async () => {
  using directory = ledgerDirectory();
  await using ledger = await openIn(directory.path);
  const pid = ledger.childPid() ?? 0;
  await eventually("the release of the library's pages", () => residentMiB(pid) < 180);
  expect(await ledger.query<{ a: number }>("SELECT 1 AS a")).toEqual([{ a: 1 }]);
});
