import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { seededRandom, systemClock, systemRandom } from "@sluice/lib";
import { openState } from "./open.ts";
import type { State } from "./records.ts";

/**
 * Kills a writing process with SIGKILL, `n` times on one directory, and looks for each write that it had acknowledged.
 * A kill proves that nothing is acknowledged before it has reached the operating system and that no lock goes stale; it
 * cannot prove that a sync reached the disk. The same file is the child: `--child <directory> <run>`.
 */
export async function run({ n, seed }: { n: number; seed: number }): Promise<{ passed: boolean; summary: string }> {
  const random = seededRandom(seed);
  const directory = mkdtempSync(join(tmpdir(), "sluice-durability-"));
  let acknowledged = 0;
  let lost = 0;
  let unexplained = 0n;
  let leased = 0n;
  try {
    for (let kill = 0; kill < n; kill += 1) {
      const acks = await writeUntilKilled(directory, kill, 20 + random.next() * 150);
      await using state = await openHere(directory);
      const present = await auditedNumbers(state, subjectOf(kill));
      acknowledged += acks.numbers.length;
      lost += acks.numbers.filter((number) => !present.has(number)).length;
      // A lease that was committed and not yet acknowledged counts as used; one that was acknowledged must.
      leased += acks.granted;
      const used = await state.credits.used(accountId, month);
      if (used < leased) unexplained = leased - used;
      leased = used;
    }
  } finally {
    rmSync(directory, { recursive: true });
  }
  const summary = `${n} kills, ${acknowledged} writes acknowledged, ${lost} lost, ${unexplained} credits lost`;
  return { passed: lost === 0 && unexplained === 0n && acknowledged > n, summary };
}

const accountId = "acct_durability";
const month = "2026-11";
const writers = 8;
const subjectOf = (kill: number): string => `kill ${kill}`;
const log = { info: () => {}, warn: () => {} };

function openHere(directory: string): Promise<State> {
  return openState({ directory, databaseUrl: null }, { clock: systemClock, random: systemRandom, log });
}

/** Starts the child, kills it that long after its first acknowledgement, and gives what it had acknowledged by then. */
async function writeUntilKilled(
  directory: string,
  kill: number,
  afterMs: number,
): Promise<{ numbers: number[]; granted: bigint }> {
  const child = Bun.spawn([process.execPath, import.meta.path, "--child", directory, String(kill)], {
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
  const lines = text.split("\n").slice(0, -1);
  const numbers = lines.filter((line) => line.startsWith("audit ")).map((line) => Number(line.slice(6)));
  const grants = lines.filter((line) => line.startsWith("lease ")).map((line) => BigInt(line.slice(6)));
  return { numbers, granted: grants.reduce((total, grant) => total + grant, 0n) };
}

async function auditedNumbers(state: State, subject: string): Promise<Set<number>> {
  const numbers = new Set<number>();
  let cursor: string | null = null;
  do {
    const page: Awaited<ReturnType<State["audit"]["list"]>> = await state.audit.list({ subject, limit: 1_000, cursor });
    for (const { detail } of page.items) numbers.add(Number(detail["number"]));
    cursor = page.nextCursor;
  } while (cursor !== null);
  return numbers;
}

/** Writes from several places at once until it is killed; a line on stdout says that a write has been acknowledged. */
async function writeForEver(directory: string, kill: number): Promise<void> {
  const state = await openHere(directory);
  if ((await state.accounts.get(accountId)) === null)
    await state.accounts.create({ id: accountId, name: "durability" });
  const { writeSync } = await import("node:fs");
  let next = 0;
  const write = async (): Promise<void> => {
    for (;;) {
      const number = next;
      next += 1;
      const subject = subjectOf(kill);
      await state.audit.append({ actor: "child", action: "write", subject, detail: { number } });
      writeSync(1, `audit ${number}\n`);
      const granted = await state.credits.lease(accountId, month, 3n, null);
      writeSync(1, `lease ${granted}\n`);
    }
  };
  await Promise.all(Array.from({ length: writers }, write));
}

if (import.meta.main && process.argv[2] === "--child") {
  await writeForEver(process.argv[3] ?? "", Number(process.argv[4]));
}
