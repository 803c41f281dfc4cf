import { describe, expect, test } from "bun:test";
import { appendFileSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ManualClock, seededRandom } from "@sluice/lib";
import { eventually, mountSmallDisk } from "@sluice/lib/testing";
import { run as runCursors } from "../cursors.campaign.ts";
import { run as runKills } from "../log-kills.campaign.ts";
import { type ChainLogOptions, openChainLog } from "../open.ts";
import type { ChainLog } from "../records.ts";
import { blockOf, headerOf, nextOf, otherChain, slotOf, takeUntil } from "../testing/chain-model.ts";
import { appendBlocks, follow } from "../testing/log-subject.ts";
import { observed, standardOptions, temporaryDirectory } from "../testing/segment-logs.ts";

const segmentsIn = (directory: string): string[] => {
  const folder = join(directory, "log", "devnet");
  const names = readdirSync(folder).filter((name) => name.endsWith(".segment"));
  return names.toSorted().map((name) => join(folder, name));
};

const noise = (slot: number, bytes: number) =>
  ({ kind: "block", header: headerOf(slot), stage: "confirmed", body: seededRandom(slot).bytes(bytes) }) as const;

async function openIn(dataDirectory: string, changes: Partial<ChainLogOptions> = {}, observation = observed()) {
  const log = await openChainLog({ ...standardOptions, dataDirectory, ...changes }, observation.dependencies);
  return { log, ...observation };
}

async function holds(log: ChainLog, from: number, to: number): Promise<void> {
  const told = await takeUntil(follow(log, "confirmed", { slot: slotOf(from) }), headerOf(to));
  expect(told.blocks.map(({ slot }) => Number(slot))).toEqual(
    Array.from({ length: to - from + 1 }, (_, index) => from + index),
  );
}

describe("starting", () => {
  test.each([1, 7, 25, 300, 30_000])("a torn end is cut off and told (%d bytes are missing)", async (missing) => {
    using directory = temporaryDirectory();
    const first = await openIn(directory.path);
    await appendBlocks(first.log, 100, 104);
    // The stage comes before the body here, so that the body is what is torn.
    await first.log.append({ kind: "stage", header: headerOf(105), stage: "confirmed" });
    await first.log.append({ ...noise(105, 40_000), stage: "processed" });
    await first.log[Symbol.asyncDispose]();
    const [path = ""] = segmentsIn(directory.path);
    truncateSync(path, statSync(path).size - missing);
    const second = await openIn(directory.path);
    expect(second.log.latest("confirmed")?.slot).toBe(slotOf(104));
    expect(await second.figure("sluice_log_torn_tails_total")).toBe(1);
    expect(second.lines.join("")).toContain("torn end");
    await appendBlocks(second.log, 105, 106);
    await second.log[Symbol.asyncDispose]();
    const third = await openIn(directory.path);
    await holds(third.log, 100, 106);
    expect(await third.figure("sluice_log_torn_tails_total")).toBeNaN();
    await third.log[Symbol.asyncDispose]();
  });

  test("noise after the last record is cut off", async () => {
    using directory = temporaryDirectory();
    const first = await openIn(directory.path);
    await appendBlocks(first.log, 100, 104);
    await first.log[Symbol.asyncDispose]();
    appendFileSync(segmentsIn(directory.path)[0] ?? "", seededRandom(3).bytes(10_000));
    const second = await openIn(directory.path);
    await holds(second.log, 100, 104);
    expect(await second.figure("sluice_log_torn_tails_total")).toBe(1);
    await second.log[Symbol.asyncDispose]();
  });

  test("a body that is damaged on disk is never told, and can be brought again", async () => {
    using directory = temporaryDirectory();
    const first = await openIn(directory.path);
    await appendBlocks(first.log, 100, 101);
    await first.log.append(noise(102, 50_000));
    await first.log.append(blockOf(headerOf(103)));
    await first.log[Symbol.asyncDispose]();
    const [path = ""] = segmentsIn(directory.path);
    const second = await openIn(directory.path, { tailBytesMax: 1 });
    const bytes = readFileSync(path);
    const at = bytes.length - 30_000;
    bytes[at] = (bytes[at] ?? 0) ^ 1;
    writeFileSync(path, bytes);
    const follower = follow(second.log, "confirmed", "earliest");
    await nextOf(follower);
    await nextOf(follower);
    const next = nextOf(follower);
    await eventually("the damage", async () => (await second.figure("sluice_log_damaged_records_total")) === 1);
    expect(await second.log.append(blockOf(headerOf(102)))).toBe("stored");
    expect(await next).toMatchObject({ type: "block", header: headerOf(102) });
    await second.log[Symbol.asyncDispose]();
  });

  test("one process has the directory", async () => {
    using directory = temporaryDirectory();
    const { log } = await openIn(directory.path);
    const script = `
      const { FileLock } = await import(${JSON.stringify(join(import.meta.dir, "../../state/file-lock.ts"))});
      console.log(FileLock.take(process.argv[1]) === null ? "refused" : "taken");`;
    const path = join(directory.path, "log", "devnet", "log.lock");
    const ask = (): string => Bun.spawnSync([process.execPath, "-e", script, path]).stdout.toString().trim();
    expect(ask()).toBe("refused");
    await expect(openIn(directory.path)).rejects.toMatchObject({ code: "LOCKED" });
    await log[Symbol.asyncDispose]();
    expect(ask()).toBe("taken");
  });

  test("files of another chain are refused, or removed where a chain may start anew", async () => {
    using directory = temporaryDirectory();
    const first = await openIn(directory.path);
    await appendBlocks(first.log, 100, 102);
    await first.log[Symbol.asyncDispose]();
    await expect(openIn(directory.path, { chain: otherChain })).rejects.toMatchObject({ code: "CHAIN_DIFFERS" });
    const other = await openIn(directory.path, { chain: otherChain, discardsOtherChain: true });
    expect(other.log.earliest()).toBeNull();
    await other.log[Symbol.asyncDispose]();
  });
});

describe("bounds", () => {
  test("blocks go by age only when the ledger holds them, and bytes are the last bound, with an alarm", async () => {
    using directory = temporaryDirectory();
    const clock = new ManualClock(1_790_000_000_000);
    const { log, figure } = await openIn(directory.path, { bytesMax: 3_000_000, retentionMs: 60_000 }, observed(clock));
    for (let slot = 100; slot < 108; slot += 1) await log.append(noise(slot, 200_000));
    clock.advance(120_000);
    log.setWatermark(slotOf(104));
    await eventually("the trim by age", async () => {
      clock.advance(5_000);
      return log.earliest()?.slot === slotOf(104);
    });
    expect(await figure("sluice_log_over_bytes")).toBe(0);
    for (let slot = 108; slot < 130; slot += 1) await log.append(noise(slot, 200_000));
    await eventually("the trim by bytes", async () => {
      clock.advance(5_000);
      return (await figure("sluice_log_over_bytes")) === 1 && (log.earliest()?.slot ?? 0n) > 112n;
    });
    await eventually("the end of the alarm", async () => {
      clock.advance(60_000);
      return (await figure("sluice_log_over_bytes")) === 0;
    });
    await log[Symbol.asyncDispose]();
  });

  test("a full disk is an error to who appends, followers go on, and the log recovers by itself", async () => {
    using disk = mountSmallDisk(8 * 1024 * 1024);
    if (disk === null) {
      console.warn("NOT RUN: the log on a full disk (it needs the right to mount a tmpfs)");
      return;
    }
    const { log } = await openIn(disk.path);
    await log.append(noise(100, 100_000));
    disk.fill();
    const follower = follow(log, "confirmed", "earliest");
    await expect(log.append(noise(101, 100_000))).rejects.toMatchObject({ name: "LogError", code: "DISK_FULL" });
    await expect(log.append(noise(101, 100_000))).rejects.toMatchObject({ code: "DISK_FULL" });
    expect([await nextOf(follower), await nextOf(follower)]).toMatchObject([
      { header: headerOf(100) },
      { header: headerOf(101) },
    ]);
    disk.empty();
    expect(await log.append(noise(101, 100_000))).toBe("stored");
    expect(await log.append(noise(102, 100_000))).toBe("stored");
    await log[Symbol.asyncDispose]();
    const again = await openIn(disk.path);
    expect(await again.figure("sluice_log_torn_tails_total")).toBeNaN();
    expect(again.log.latest("confirmed")?.slot).toBe(slotOf(102));
    await again.log[Symbol.asyncDispose]();
  });

  test("a disk that stands still stops no follower, and holds a bounded number of bytes", async () => {
    using directory = temporaryDirectory();
    const stalled = Promise.withResolvers<void>();
    const observation = observed();
    const dependencies = { ...observation.dependencies, dataSync: () => stalled.promise };
    const options = { ...standardOptions, dataDirectory: directory.path, pendingBytesMax: 1_000_000 };
    const log = await openChainLog(options, dependencies);
    const follower = follow(log, "confirmed", "earliest");
    const appends = [100, 101, 102].map((slot) => log.append(noise(slot, 300_000)));
    for (const slot of [100, 101, 102]) expect(await nextOf(follower)).toMatchObject({ header: headerOf(slot) });
    await expect(log.append(noise(103, 300_000))).rejects.toMatchObject({ code: "OVERLOADED" });
    stalled.resolve();
    expect(await Promise.all(appends)).toEqual(["stored", "stored", "stored"]);
    expect(await log.append(noise(103, 300_000))).toBe("stored");
    await log[Symbol.asyncDispose]();
  });

  test("a sync that fails is an error, and what it was for is stored by the next append", async () => {
    using directory = temporaryDirectory();
    let fails = 0;
    const observation = observed();
    const dependencies = {
      ...observation.dependencies,
      dataSync: async () => {
        fails += 1;
        if (fails > 1 && fails < 4)
          throw Object.assign(new Error("EIO: i/o error"), { code: "EIO", syscall: "fdatasync" });
      },
    };
    const log = await openChainLog({ ...standardOptions, dataDirectory: directory.path }, dependencies);
    expect(await log.append(blockOf(headerOf(100)))).toBe("stored");
    await expect(log.append(blockOf(headerOf(101)))).rejects.toMatchObject({ code: "FAULT" });
    expect(await log.append(blockOf(headerOf(101)))).toBe("stored");
    await log[Symbol.asyncDispose]();
    const again = await openIn(directory.path);
    await holds(again.log, 100, 101);
    await again.log[Symbol.asyncDispose]();
  });
});

test("a killed writer loses nothing that it acknowledged", async () => {
  const { passed, summary } = await runKills({ only: ["segments"], n: 4, seed: 1 });
  expect([passed, summary]).toEqual([true, expect.stringContaining(" 0 lost")]);
}, 60_000);

test("a follower that is handed on at every event, over logs that are closed and opened, is told exactly the chain", async () => {
  const { passed, summary } = await runCursors({ only: ["segments"], n: 4, seed: 1 });
  expect([passed, summary]).toEqual([true, expect.stringContaining(" events, ")]);
}, 60_000);
