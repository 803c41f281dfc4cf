import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Clock, ManualClock, systemClock } from "@sluice/lib";
import { eventually } from "@sluice/lib/testing";
import { createLog, createMetrics } from "../../observe/index.ts";
import { FileLock } from "../../state/file-lock.ts";
import {
  type ChainIdentity,
  type ChainLog,
  type ChainLogDependencies,
  type ChainLogOptions,
  createLogEvents,
  openChainLog,
} from "../index.ts";
import { chain } from "./chain-model.ts";
import type { LogHarness } from "./log-subject.ts";

/** A log's dependencies whose lines and metrics can be read. */
export function observed(clock: Clock = systemClock) {
  const lines: string[] = [];
  const log = createLog({ level: "debug", destination: { write: (line: string) => lines.push(line) } });
  const metrics = createMetrics({}, { clock: new ManualClock(1_000_000) });
  const events = createLogEvents({ metrics });
  const dependencies: ChainLogDependencies = { clock, log, events, lock: (path) => FileLock.take(path) };
  const figure = async (name: string): Promise<number> => {
    const found = new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, "m").exec(await metrics.render());
    return Number(found?.[1] ?? Number.NaN);
  };
  return { dependencies, lines, figure };
}

/** A clock whose intervals a test can let pass. */
export function hurriedClock() {
  const intervals = new Set<() => void>();
  const every = (intervalMs: number, run: () => void) => {
    intervals.add(run);
    const timer = systemClock.every(intervalMs, run);
    const cancel = (): void => {
      intervals.delete(run);
      timer.cancel();
    };
    return { cancel, [Symbol.dispose]: cancel };
  };
  const pass = (): void => {
    for (const run of intervals) run();
  };
  return { clock: { ...systemClock, every }, pass };
}

export const standardOptions = {
  network: "devnet",
  chain,
  logUrl: null,
  discardsOtherChain: false,
  sync: "block",
  retentionMs: 6 * 3_600_000,
  bytesMax: 1024 ** 3,
} as const;

/** A directory that goes with its test. */
export function temporaryDirectory(): Disposable & { readonly path: string } {
  const path = mkdtempSync(join(tmpdir(), "sluice-log-"));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

/** Segment files in a directory of their own, small enough that a test reaches their bounds. */
export async function openSegmentHarness(changes: Partial<ChainLogOptions> = {}): Promise<LogHarness> {
  const directory = temporaryDirectory();
  const clock = new ManualClock(1_790_000_000_000);
  const { dependencies } = observed(clock);
  const options = { ...standardOptions, dataDirectory: directory.path, bytesMax: 4_000_000, ...changes };
  const harness = {
    log: await openChainLog(options, dependencies),
    other: null,
    reopen: async (named?: ChainIdentity): Promise<ChainLog> => {
      await harness.log[Symbol.asyncDispose]();
      harness.log = await openChainLog({ ...options, chain: named ?? options.chain }, dependencies);
      return harness.log;
    },
    trim: async (): Promise<void> => {
      const folder = join(directory.path, "log", "devnet");
      const bytes = (): number =>
        readdirSync(folder).reduce(
          (sum, name) => sum + (statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0),
          0,
        );
      await eventually("the trim", () => {
        clock.advance(10_000);
        return bytes() <= options.bytesMax;
      });
    },
    [Symbol.asyncDispose]: async () => {
      await harness.log[Symbol.asyncDispose]();
      directory[Symbol.dispose]();
    },
  };
  return harness;
}
