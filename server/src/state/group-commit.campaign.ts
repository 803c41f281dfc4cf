import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock, systemRandom } from "@sluice/lib";
import { openState } from "./open.ts";
import type { State } from "./records.ts";

const log = { info: () => {}, warn: () => {} };
const entry = { actor: "bench", action: "write", subject: "group-commit", detail: { number: 1 } };

/**
 * Writes `n` audit entries one after another, each with a commit of its own, then ten times as many from 256 writers at
 * once, which share commits, and says how many of each a second. Passes when every entry is there afterwards.
 */
export async function run({ n }: { n: number; seed: number }): Promise<{ passed: boolean; summary: string }> {
  const directory = mkdtempSync(join(tmpdir(), "sluice-group-commit-"));
  try {
    await using state = await openState(
      { directory, databaseUrl: null },
      { clock: systemClock, random: systemRandom, log },
    );
    const alone = await timed(n, () => writeFrom(1, n, state));
    const grouped = await timed(n * 10, () => writeFrom(256, n * 10, state));
    const written = await countEntries(state);
    const summary = `${alone} writes/s one a commit, ${grouped} writes/s grouped from 256 writers, ${written} written`;
    return { passed: written === n * 11, summary };
  } finally {
    rmSync(directory, { recursive: true });
  }
}

async function writeFrom(writers: number, count: number, state: State): Promise<void> {
  let left = count;
  const write = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      await state.audit.append(entry);
    }
  };
  await Promise.all(Array.from({ length: writers }, write));
}

async function timed(count: number, work: () => Promise<void>): Promise<number> {
  const startedMs = systemClock.monotonic();
  await work();
  return Math.round(count / ((systemClock.monotonic() - startedMs) / 1_000));
}

async function countEntries(state: State): Promise<number> {
  let count = 0;
  let cursor: string | null = null;
  do {
    const page: Awaited<ReturnType<State["audit"]["list"]>> = await state.audit.list({ limit: 1_000, cursor });
    count += page.items.length;
    cursor = page.nextCursor;
  } while (cursor !== null);
  return count;
}
