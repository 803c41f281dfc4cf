import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { seededRandom, systemClock } from "@sluice/lib";
import type { BundleRecord, BundleStore, State } from "../../state/index.ts";
import { isTerminal } from "../model/lifecycle.ts";
import { openBundlePool } from "./bundle-pool.ts";
import { anyChain, KeptLedger, SeenEvents, withoutTimers } from "./testing/bundles.ts";
import { openHere, writeForEver } from "./testing/killed-writer.ts";
import { ReportedStory } from "./testing/reported-story.ts";

/**
 * Kills a process that accepts and changes bundles with SIGKILL, `n` times on one directory, and holds the disk against
 * all that it had said: what was acknowledged is there in exactly its state, what was on its way is there or is not,
 * and there is nothing else; a pool that is opened then holds what can still change; and in the end the ledger was
 * reported one end of each bundle that has one. The same file is the child: `--child <directory> <run>`.
 */
export async function run({ n, seed }: { n: number; seed: number }): Promise<{ passed: boolean; summary: string }> {
  const random = seededRandom(seed);
  const directory = mkdtempSync(join(tmpdir(), "sluice-bundle-pool-"));
  const story = new ReportedStory();
  let ended = 0;
  try {
    for (let kill = 0; kill < n && story.faults.length === 0; kill += 1) {
      await receiveUntilKilled(story, directory, seed * 10_000 + kill, 20 + random.next() * 150);
      await using state = await openHere(directory);
      story.compare(await everyBundle(state));
      await comparePool(story, state, kill === n - 1);
    }
    ended = story.compareLedger().ended;
  } finally {
    rmSync(directory, { recursive: true });
  }
  const reported = `${n} kills, ${story.acknowledgements} answers acknowledged, ${ended} bundles ended`;
  const summary = [`${reported}, ${story.faults.length} faults`, ...story.faults.slice(0, 5)].join("\n");
  return { passed: story.faults.length === 0 && story.acknowledgements > n && ended > 0, summary };
}

/** Starts the child, kills it that long after its first word, and reads what it had written by then. */
async function receiveUntilKilled(
  story: ReportedStory,
  directory: string,
  run: number,
  afterMs: number,
): Promise<void> {
  const child = Bun.spawn([process.execPath, import.meta.path, "--child", directory, String(run)], {
    stdout: "pipe",
    stderr: "inherit",
  });
  const decoder = new TextDecoder();
  let text = "";
  let timer: ReturnType<typeof setTimeout> | null = null;
  for await (const chunk of child.stdout) {
    text += decoder.decode(chunk, { stream: true });
    timer ??= setTimeout(() => child.kill("SIGKILL"), afterMs);
  }
  if (timer !== null) clearTimeout(timer);
  await child.exited;
  // What comes after the last line end was cut off in the middle and acknowledges nothing.
  for (const line of text.split("\n").slice(0, -1)) story.receive(line);
}

async function everyBundle(state: State): Promise<ReadonlyMap<string, BundleRecord>> {
  const bundles = new Map<string, BundleRecord>();
  let cursor: string | null = null;
  do {
    const page: Awaited<ReturnType<BundleStore["list"]>> = await state.engine.of("mainnet").bundles.list({
      limit: 1_000,
      cursor,
    });
    for (const bundle of page.items) bundles.set(bundle.id, bundle);
    cursor = page.nextCursor;
  } while (cursor !== null);
  return bundles;
}

/** A pool on the disk of a killed one holds what can still change, as it stands; the last one reports every outcome. */
async function comparePool(story: ReportedStory, state: State, isLast: boolean): Promise<void> {
  const disk = await everyBundle(state);
  const ledger = new KeptLedger();
  const dependencies = {
    store: state.engine.of("mainnet").bundles,
    ...anyChain,
    ledger,
    clock: withoutTimers(systemClock),
    events: new SeenEvents(),
  };
  // Not closed, since closing would report the outcomes; without timers it does nothing by itself.
  const pool = await openBundlePool({}, dependencies);
  const live = [...disk.values()].filter((bundle) => !isTerminal(bundle.state));
  const isSame = live.every(({ id, state: at }) => pool.live(id)?.state === at) && pool.liveCount === live.length;
  if (!isSame) story.faults.push(`${live.length} bundles can still change; the pool holds ${pool.liveCount}`);
  if (!isLast) return;
  await pool.reportOutcomes();
  for (const row of ledger.rows) story.reportedToLedger(String(row["id"]), `${row["state"]} ${row["reason"]}.`);
}

if (import.meta.main && process.argv[2] === "--child") {
  await writeForEver(process.argv[3] ?? "", Number(process.argv[4]));
}
