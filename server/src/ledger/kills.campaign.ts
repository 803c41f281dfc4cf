import { type Random, seededRandom, systemClock } from "@sluice/lib";
import { type Ledger, openLedger } from "./ledger.ts";
import { fact, ledgerDirectory, recordingLog } from "./testing/ledger-directory.ts";

interface Tally {
  readonly acknowledged: Map<string, number>;
  readonly sent: Map<string, number>;
  /** Facts given to the request log: every one must be there once. */
  appended: number;
  failed: number;
  slowestInsertMs: number;
  restartMs: number[];
}

/** One writer: batches of its own account, each a few hundred rows, until it is instructed to stop. */
async function write(
  ledger: Ledger,
  name: string,
  tally: Tally,
  stopped: () => boolean,
  random: Random,
): Promise<void> {
  for (let index = 0; !stopped(); index++) {
    const id = `${name}-${index}`;
    const size = 1 + Math.floor(random.next() * 400);
    const at = Date.UTC(2026, 10, 1) + index;
    const rows = Array.from({ length: size }, (_, row) => ({ at, account_id: id, request_id: `${id}-${row}` }));
    tally.sent.set(id, size);
    const startedAt = systemClock.monotonic();
    try {
      await ledger.insert("requests", rows);
      tally.acknowledged.set(id, size);
    } catch {
      tally.failed++;
    }
    tally.slowestInsertMs = Math.max(tally.slowestInsertMs, systemClock.monotonic() - startedAt);
  }
}

/** Facts of served requests, some thousand a second, flushed now and then so that kills meet their batches too. */
async function append(ledger: Ledger, tally: Tally, stopped: () => boolean, random: Random): Promise<void> {
  while (!stopped()) {
    for (let left = Math.floor(random.next() * 200); left > 0; left--) {
      const requestId = `fact-${tally.appended++}`;
      ledger.requests.append(fact({ accountId: "appended", requestId, at: systemClock.now() }));
    }
    // It fails while the engine is away for long; the facts stay queued.
    if (random.next() < 0.2) await ledger.requests.flush().catch(() => undefined);
    await Bun.sleep(10);
  }
}

/** Kills the engine with SIGKILL at random moments while writers and readers use it. */
async function killAgainAndAgain(ledger: Ledger, n: number, random: Random, tally: Tally): Promise<void> {
  for (let kill = 0; kill < n; kill++) {
    await Bun.sleep(30 + random.next() * 1_200);
    const pid = ledger.childPid();
    if (pid === null) throw new Error("the engine was not running");
    const killedAt = systemClock.monotonic();
    process.kill(pid, "SIGKILL");
    // Calls in the moment of the crash may fail; what counts is when the next one works.
    while (ledger.childPid() === pid || !(await ledger.ping())) {
      if (systemClock.monotonic() - killedAt > 30_000) throw new Error("the engine did not come back");
      await Bun.sleep(5);
    }
    tally.restartMs.push(systemClock.monotonic() - killedAt);
  }
}

async function evaluate(ledger: Ledger, tally: Tally): Promise<string[]> {
  const faults: string[] = [];
  const sql = "SELECT account_id AS id, count() AS n, uniqExact(request_id) AS unique FROM requests GROUP BY id";
  const stored = new Map<string, { n: number; unique: number }>();
  for await (const group of ledger.stream<{ id: string; n: string; unique: string }>(sql)) {
    for (const row of group) stored.set(row.id, { n: Number(row.n), unique: Number(row.unique) });
  }
  for (const [id, size] of tally.acknowledged) {
    const found = stored.get(id);
    if (found === undefined) faults.push(`${id}: acknowledged and lost`);
    else if (found.n !== size) faults.push(`${id}: ${found.n} rows of ${size}`);
  }
  for (const [id, found] of stored) {
    const size = id === "appended" ? tally.appended : (tally.sent.get(id) ?? -1);
    if (found.n !== found.unique) faults.push(`${id}: ${found.n - found.unique} rows doubled`);
    if (found.n !== size) faults.push(`${id}: part of a batch, ${found.n} of ${size}`);
  }
  if (ledger.requests.dropped() > 0) faults.push(`${ledger.requests.dropped()} facts dropped`);
  if (tally.appended > 0 && !stored.has("appended")) faults.push("no appended fact is there");
  return faults;
}

/**
 * Kills the embedded engine `n` times with SIGKILL while four writers insert and facts are appended. Every fact and
 * every acknowledged batch must be there once and whole; one that was not acknowledged must be there once and whole, or
 * not at all.
 */
export async function run({ n, seed }: { n: number; seed: number }): Promise<{ passed: boolean; summary: string }> {
  using directory = ledgerDirectory();
  const random = seededRandom(seed);
  const tally: Tally = {
    acknowledged: new Map(),
    sent: new Map(),
    appended: 0,
    failed: 0,
    slowestInsertMs: 0,
    restartMs: [],
  };
  const options = { directory: directory.path, clickhouseUrl: null, cluster: null };
  await using ledger = await openLedger(options, { clock: systemClock, log: recordingLog() });
  let stop = false;
  const writers = [1, 2, 3, 4].map((name) => write(ledger, `w${name}`, tally, () => stop, seededRandom(seed + name)));
  const appending = append(ledger, tally, () => stop, seededRandom(seed + 5));
  try {
    await killAgainAndAgain(ledger, n, random, tally);
  } finally {
    stop = true;
    await Promise.all([...writers, appending]);
  }
  await ledger.requests.flush();
  const faults = await evaluate(ledger, tally);
  const slowest = Math.max(...tally.restartMs);
  if (slowest > 5_000) faults.push(`a restart took ${Math.round(slowest)} ms`);
  if (tally.slowestInsertMs > 20_000) faults.push(`an insert took ${Math.round(tally.slowestInsertMs)} ms`);
  const figures = `${n} kills, ${tally.acknowledged.size} batches acknowledged, ${tally.appended} facts appended, ${tally.failed} failed`;
  const restarts = [...tally.restartMs].sort((a, b) => a - b);
  const median = Math.round(restarts[Math.floor(restarts.length / 2)] ?? 0);
  const summary = `${figures}, restart median ${median} ms, slowest ${Math.round(slowest)} ms, slowest insert ${Math.round(tally.slowestInsertMs)} ms; ${faults.slice(0, 5).join("; ") || "no faults"}`;
  return { passed: faults.length === 0, summary };
}
