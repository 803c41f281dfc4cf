import { afterEach, expect, test } from "bun:test";
import { appendFileSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ManualClock, seededRandom } from "@sluice/lib";
import { serialiseInput, serialiseRound } from "../aggregate/inputs.ts";
import { RoundEngine } from "../aggregate/round-engine.ts";
import { startMs, tickOf, ticksOf } from "../aggregate/testing/ticks.ts";
import { readLogLine, replayLog, tickLogFiles } from "./replay-log.ts";
import { TickLog } from "./tick-log.ts";

const options = { symbols: ["BTC", "ETH"] };
const created: string[] = [];
afterEach(() => {
  for (const directory of created.splice(0)) rmSync(directory, { recursive: true, force: true });
});

function directory(): string {
  const path = mkdtempSync(join(tmpdir(), "sluice-ticks-"));
  created.push(path);
  return path;
}

/** Runs an engine of a seed over a log and gives the rounds that it made. */
async function record(
  path: string,
  steps: number,
  seed: number,
  bytes: { all: number; file: number },
): Promise<string[]> {
  const random = seededRandom(seed);
  const clock = new ManualClock(startMs + seed * 10_000_000);
  await using log = new TickLog(
    { directory: path, bytesMax: bytes.all, fileBytesMax: bytes.file },
    {
      // A clock of its own, whose timers the test does not fire.
      clock: new ManualClock(clock.now()),
      failed: (fault) => {
        throw fault;
      },
    },
  );
  const rounds: string[] = [];
  await using engine = new RoundEngine(options, {
    clock,
    onMark: (mark) => {
      log.mark(mark.inputs, mark.rounds);
      rounds.push(...mark.rounds.map(serialiseRound));
    },
  });
  for (let step = 0; step < steps; step += 1) {
    const asOfMs = clock.now();
    const price = () => (100 + random.next()).toFixed(4);
    for (const tick of ticksOf([price(), price(), price(), price()], { asOfMs })) engine.accept(tick);
    if (step % 7 === 0) engine.accept(tickOf("okx", price(), { asOfMs, base: "ETH" }));
    engine.mark();
    clock.advance(step % 50 === 49 ? 70_000 : 400);
    engine.mark();
    if (step % 10 === 9) log.flush();
  }
  engine.mark();
  return rounds;
}

const large = { all: 1e9, file: 1e8 };

test("what was logged makes the same rounds to the byte, and proves it digest by digest", async () => {
  const path = directory();
  const rounds = await record(path, 200, 1, large);
  const replayed: string[] = [];
  const report = replayLog(tickLogFiles(path), options, (round) => replayed.push(serialiseRound(round)));
  expect(replayed).toEqual(rounds);
  expect(report).toMatchObject({ rounds: rounds.length, proved: 21, differing: 0, unprovable: 0, damaged: 0 });
});

test("a log has its file as soon as it is there", async () => {
  const path = directory();
  await using _log = new TickLog(
    { directory: path, bytesMax: 1e9 },
    {
      clock: new ManualClock(startMs),
      failed: (fault) => {
        throw fault;
      },
    },
  );
  expect(tickLogFiles(path)).toHaveLength(1);
  expect(replayLog(tickLogFiles(path), options)).toMatchObject({ rounds: 0, proved: 1, differing: 0, damaged: 0 });
});

test("processes one after the other each begin anew", async () => {
  const path = directory();
  const rounds = [...(await record(path, 40, 1, large)), ...(await record(path, 40, 2, large))];
  const replayed: string[] = [];
  const report = replayLog(tickLogFiles(path), options, (round) => replayed.push(serialiseRound(round)));
  expect(replayed).toEqual(rounds);
  expect(report).toMatchObject({ proved: 10, differing: 0 });
});

test("the log keeps to its bytes: the oldest files go, and what is left proves itself again after a while", async () => {
  const path = directory();
  await record(path, 600, 3, { all: 30_000, file: 6_000 });
  const files = tickLogFiles(path);
  const size = files.reduce((sum, file) => sum + readFileSync(file).length, 0);
  expect(size).toBeLessThanOrEqual(30_000);
  const report = replayLog(files, options);
  expect(report).toMatchObject({ differing: 0, damaged: 0 });
  expect(report.proved).toBeGreaterThan(5);
  expect(report.proved).toBeLessThan(60);
});

test("a block that was cut by a crash is left out, whatever it was cut to", async () => {
  const path = directory();
  await record(path, 100, 4, large);
  const [file = ""] = tickLogFiles(path);
  const { length } = readFileSync(file);
  for (const cut of [1, 3, 5, 200]) {
    truncateSync(file, length - cut);
    expect(replayLog([file], options)).toMatchObject({ proved: 10, differing: 0, damaged: 0 });
  }
});

test("bytes that were changed are reported as damage, and nothing after them is called proved or different", async () => {
  const path = directory();
  await record(path, 100, 5, large);
  const [file = ""] = tickLogFiles(path);
  const bytes = readFileSync(file);
  bytes[40] = (bytes[40] ?? 0) ^ 0xff;
  writeFileSync(file, bytes);
  const report = replayLog([file], options);
  expect(report.damaged).toBe(1);
  expect(report.differing).toBe(0);
  appendFileSync(file, Buffer.from([255, 255, 255, 255, 1, 2, 3]));
  expect(replayLog([file], options).damaged).toBe(1);
});

test("a round that the server made otherwise is found", async () => {
  const path = directory();
  const clock = new ManualClock(startMs);
  {
    await using log = new TickLog({ directory: path, bytesMax: 1e9 }, { clock, failed: () => {} });
    const tick = tickOf("okx", "100");
    log.mark(
      [
        { kind: "tick", tick },
        { kind: "time", atMs: startMs },
      ],
      [],
    );
    log.flush();
    log.mark(
      [{ kind: "tick", tick: tickOf("okx", "101") }],
      [{ kind: "refused", symbol: "BTC", atMs: 1, reason: "depeg", sources: [] }],
    );
  }
  expect(replayLog(tickLogFiles(path), options).differing).toBeGreaterThan(0);
});

test("every part of a line is read back as it was, and what is no line is none", () => {
  for (const tick of [tickOf("kraken", "1.000000000000000001"), tickOf("chain", "0.5", { base: "ETH" })]) {
    const line = readLogLine(serialiseInput({ kind: "tick", tick }));
    expect(line).toEqual({ kind: "input", input: { kind: "tick", tick } });
  }
  for (const text of [
    "",
    "{",
    "[]",
    "null",
    '{"kind":"tick"}',
    '{"kind":"time"}',
    '{"kind":"time","atMs":"1"}',
    '{"kind":"x"}',
  ]) {
    expect(readLogLine(text)).toBeNull();
  }
});

test("a log that cannot be written ends, and is reported once", async () => {
  const path = directory();
  const blocked = join(path, "file");
  writeFileSync(blocked, "");
  const faults: unknown[] = [];
  const log = new TickLog(
    { directory: join(blocked, "inside"), bytesMax: 1e9 },
    { clock: new ManualClock(startMs), failed: (fault) => void faults.push(fault) },
  );
  for (let mark = 0; mark < 3; mark += 1) {
    log.mark([{ kind: "time", atMs: startMs + mark }], []);
    log.flush();
  }
  await log[Symbol.asyncDispose]();
  expect(faults).toHaveLength(1);
});
