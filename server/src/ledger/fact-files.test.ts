import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock, systemRandom } from "@sluice/lib";
import { until } from "@sluice/lib/testing";
import { FileLock } from "../state/index.ts";
import { type Batch, BatchNumbers } from "./batches.ts";
import { LedgerUnavailableError } from "./errors.ts";
import { FactFiles } from "./fact-files.ts";
import { openLedger } from "./ledger.ts";
import { RequestLog } from "./requests.ts";
import { fact, ledgerDirectory, recordingLog } from "./testing/ledger-directory.ts";

const startMs = Date.UTC(2026, 10, 20);
const lock = (path: string) => FileLock.take(path);
const million = 1_000_000;

let directory: string;
let isAway: boolean;
let written: Batch[];
let log: ReturnType<typeof recordingLog>;
let processes = 0;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "sluice-facts-"));
  [isAway, written, log] = [true, [], recordingLog()];
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const rowsWritten = (): number => written.reduce((sum, { rows }) => sum + rows, 0);

/** A process that collects facts; its ledger is away or not, as a test says. */
function boot(bytesMax = million) {
  processes += 1;
  const clock = systemClock;
  const holder = `process-${processes}`;
  const files = new FactFiles({ directory: join(directory, "queue"), holder, bytesMax }, { lock });
  const requests = new RequestLog(
    { batchMs: 1_000, busyMs: 1_000 },
    {
      clock,
      log,
      files,
      numbers: new BatchNumbers({ clock, random: systemRandom }),
      writer: {
        write: async (batch) => {
          if (isAway) throw new LedgerUnavailableError("connection refused");
          written.push(batch);
        },
      },
    },
  );
  const append = (facts: number): void => {
    for (let at = 0; at < facts; at += 1) requests.append(fact({ requestId: `${holder} ${at}`, at: startMs }));
  };
  return { requests, files, append };
}

/** Seals and tries to write what was appended, until so many facts wait on disk. */
async function attempt({ requests, files }: ReturnType<typeof boot>, stored: number): Promise<void> {
  await requests.flush(100).catch(() => undefined);
  await until(() => files.rows === stored);
}

test("facts wait on disk while the ledger is away, and are written oldest first and once when it is back", async () => {
  const here = boot();
  for (const [facts, stored] of [
    [3, 3],
    [4, 7],
    [5, 12],
  ] as const) {
    here.append(facts);
    await attempt(here, stored);
  }
  expect([here.requests.size, here.requests.bytes, here.files.rows]).toEqual([12, 0, 12]);
  isAway = false;
  await here.requests.flush();
  expect(written.map(({ rows, isOld }) => [rows, isOld])).toEqual([
    [3, true],
    [4, true],
    [5, true],
  ]);
  expect(new Set(written.map(({ number }) => number)).size).toBe(3);
  expect([here.requests.size, here.files.bytes, here.requests.dropped]).toEqual([0, 0, 0]);
  await here.requests[Symbol.asyncDispose]();
  expect(readdirSync(join(directory, "queue"))).toEqual([]);
  const said = log.entries.map(({ message }) => message);
  expect(said.filter((message) => message.includes("unavailable")).length).toBe(1);
});

test("what a process leaves is written by the next one on the directory, and not by one beside it that lives", async () => {
  const first = boot();
  first.append(7);
  await attempt(first, 7);
  const beside = boot();
  expect(beside.files.rows).toBe(0);
  first.append(2);
  await first.requests[Symbol.asyncDispose]();
  expect([first.requests.dropped, first.requests.size]).toEqual([0, 9]);
  isAway = false;
  const next = boot();
  expect(next.files.rows).toBe(9);
  await until(() => next.requests.size === 0);
  await next.requests[Symbol.asyncDispose]();
  await beside.requests[Symbol.asyncDispose]();
  expect(rowsWritten()).toBe(9);
  expect(readdirSync(join(directory, "queue"))).toEqual([]);
});

test("beyond its bound nothing is stored, facts wait in memory, and none is lost until that is full too", async () => {
  const here = boot(1_500);
  here.append(4);
  await attempt(here, 4);
  here.append(400);
  await attempt(here, 4);
  expect([here.files.rows, here.requests.size, here.requests.dropped]).toEqual([4, 404, 0]);
  isAway = false;
  await here.requests.flush();
  expect(rowsWritten()).toBe(404);
  await here.requests[Symbol.asyncDispose]();
});

test("a file that is damaged is dropped and counted, and the others are written", async () => {
  const first = boot();
  first.append(3);
  await attempt(first, 3);
  first.append(5);
  await attempt(first, 8);
  await first.requests[Symbol.asyncDispose]();
  const folder = join(directory, "queue", `process-${processes}`);
  const [name = ""] = readdirSync(folder).toSorted();
  const content = readFileSync(join(folder, name));
  content[content.length - 3] = (content.at(-3) ?? 0) ^ 1;
  writeFileSync(join(folder, name), content);
  isAway = false;
  const next = boot();
  await until(() => next.requests.size === 0);
  await next.requests[Symbol.asyncDispose]();
  expect([rowsWritten(), next.requests.dropped]).toEqual([5, 3]);
});

test("a batch that the ledger has already, of a process that was killed before it knew, is not written again", async () => {
  using place = ledgerDirectory();
  const dependencies = { clock: systemClock, log, lock };
  const options = (holder: string) => ({
    directory: place.path,
    clickhouseUrl: null,
    cluster: null,
    factFiles: { directory: join(directory, "queue"), holder, bytesMax: million },
  });
  const first = boot();
  first.append(6);
  await attempt(first, 6);
  await first.requests[Symbol.asyncDispose]();
  const folder = join(directory, "queue", `process-${processes}`);
  const [name = ""] = readdirSync(folder);
  const copy = readFileSync(join(folder, name));
  const count = async (holder: string): Promise<string> => {
    await using ledger = await openLedger(options(holder), dependencies);
    await until(() => ledger.requests.waiting() === 0);
    const sql = "SELECT count() AS n FROM requests WHERE startsWith(request_id, 'process-')";
    return (await ledger.query<{ n: string }>(sql))[0]?.n ?? "";
  };
  expect(await count("second")).toBe("6");
  // As if the kill had come between the INSERT and the removal of the file, and the token were forgotten since.
  const again = new FactFiles({ directory: join(directory, "queue"), holder: "killed", bytesMax: million }, { lock });
  await again.put({ ...(await readBatch(copy, name)), token: "batch-forgotten" });
  again[Symbol.dispose]();
  expect(await count("third")).toBe("6");
}, 60_000);

/** A batch as a file had it. */
async function readBatch(content: Buffer, name: string): Promise<Batch> {
  const path = join(directory, name);
  writeFileSync(path, content);
  const files = new FactFiles({ directory: join(directory, "other"), holder: "reader", bytesMax: million }, { lock });
  const batch = await files.read({ path, bytes: content.length, rows: Number(name.split("-")[1]?.split(".")[0]) });
  if (batch === null) throw new Error("the file is damaged");
  return batch;
}
