import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Log, seededRandom, systemClock } from "@sluice/lib";
import { eventually } from "@sluice/lib/testing";
import { createMetrics } from "../observe/index.ts";
import { FileLock } from "../state/file-lock.ts";
import { createLogEvents } from "./events.ts";
import { openChainLog } from "./open.ts";
import type { ChainLog, Follower } from "./records.ts";
import { blockOf, chain, headerOf, slotOf, stageOf } from "./testing/chain-model.ts";
import { type NatsServer, natsBinary, startNats } from "./testing/nats-servers.ts";

/**
 * Kills a process that appends with SIGKILL, `n` times on one log of each driver (`--only segments,jetstream`), and
 * looks for each block and stage that it had acknowledged, with its whole body. Every fourth kill takes the server of
 * JetStream with it. A kill proves that nothing is acknowledged before it has reached the operating system or the
 * server, that torn ends are repaired and that no lock goes stale; it cannot prove that a sync reached the disk. The
 * same file is the child: `--child <directory> <address or -> <first slot>`.
 */
export async function run(options: {
  n: number;
  seed: number;
  only?: readonly string[];
}): Promise<{ passed: boolean; summary: string }> {
  const { n, seed, only = ["segments", "jetstream"] } = options;
  const results = [];
  if (only.includes("segments")) results.push(await kills("segment files", { n, seed }, null));
  if (only.includes("jetstream") && natsBinary === null) {
    results.push({ passed: true, summary: "NOT RUN: JetStream (there is no nats-server)" });
  } else if (only.includes("jetstream")) {
    const directory = mkdtempSync(join(tmpdir(), "sluice-log-kills-nats-"));
    const [server] = await startNats(directory, 1);
    try {
      if (server !== undefined) results.push(await kills("JetStream", { n, seed }, server));
    } finally {
      await server?.kill();
      rmSync(directory, { recursive: true });
    }
  }
  const passed = results.length > 0 && results.every((each) => each.passed);
  return { passed, summary: results.map(({ summary }) => summary).join("; ") };
}

async function kills(driver: string, { n, seed }: { n: number; seed: number }, server: NatsServer | null) {
  const random = seededRandom(seed);
  const directory = mkdtempSync(join(tmpdir(), "sluice-log-kills-"));
  const subject = { directory, logUrl: server === null ? null : `nats://127.0.0.1:${server.port}` };
  const acknowledged = { blocks: new Set<number>(), finalized: 0 };
  let lost = 0;
  let slot = firstSlot;
  try {
    for (let kill = 0; kill < n; kill += 1) {
      const acks = await appendUntilKilled(subject, slot, 20 + random.next() * 250);
      for (const block of acks.blocks) acknowledged.blocks.add(block);
      acknowledged.finalized = Math.max(acknowledged.finalized, acks.finalized);
      if (server !== null && kill % 4 === 3) {
        await server.kill();
        await server.startAgain();
      }
      await using log = await eventually("the log", () => openHere(subject), openMs);
      const held = await heldSlots(log);
      lost += [...acknowledged.blocks].filter((each) => !held.has(each)).length;
      if (Number(log.latest("finalized")?.slot ?? 0n) < acknowledged.finalized) lost += 1;
      slot = Math.max(slot, ...held) + 1;
    }
  } finally {
    rmSync(directory, { recursive: true });
  }
  const { size } = acknowledged.blocks;
  return {
    passed: lost === 0 && size > n,
    summary: `${driver}: ${n} kills, ${size} blocks acknowledged, ${lost} lost`,
  };
}

interface Subject {
  readonly directory: string;
  /** Null for segment files. */
  readonly logUrl: string | null;
}

/** What a server that was killed needs at most to answer again. */
const openMs = 30_000;
const firstSlot = 100;
const inFlight = 8;
const silent: Pick<Log, "info" | "warn"> = { info: () => undefined, warn: () => undefined };

function openHere({ directory, logUrl }: Subject): Promise<ChainLog> {
  const options = {
    network: "devnet",
    chain,
    logUrl,
    dataDirectory: directory,
    discardsOtherChain: false,
    sync: "block",
  } as const;
  return openChainLog(
    { ...options, retentionMs: 3_600_000, bytesMax: 1024 ** 3, tailBytesMax: 1 },
    {
      clock: systemClock,
      log: silent,
      events: createLogEvents({ metrics: createMetrics() }),
      lock: (path) => FileLock.take(path),
    },
  );
}

async function appendUntilKilled({ directory, logUrl }: Subject, slot: number, afterMs: number) {
  const command = [process.execPath, import.meta.path, "--child", directory, logUrl ?? "-", String(slot)];
  const child = Bun.spawn(command, { stdout: "pipe", stderr: "inherit" });
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
  const numbers = (kind: string): number[] =>
    lines.filter((line) => line.startsWith(kind)).map((line) => Number(line.slice(kind.length)));
  return { blocks: numbers("block "), finalized: Math.max(0, ...numbers("finalized ")) };
}

/** The slots whose blocks are told with their bodies, up to the newest. */
async function heldSlots(log: ChainLog): Promise<Set<number>> {
  const held = new Set<number>();
  const newest = log.latest("confirmed");
  const outcome = log.follow({ stage: "confirmed", from: { slot: slotOf(firstSlot) } });
  if (newest === null || !outcome.ok) return held;
  const follower: Follower = outcome.follower;
  for await (const event of follower) {
    if (event.type !== "block") continue;
    const text = new TextDecoder().decode(event.body.subarray(0, 100));
    if (!text.startsWith(`${event.header.slot} ${event.header.blockhash} `)) continue;
    held.add(Number(event.header.slot));
    if (event.header.blockhash === newest.blockhash) break;
  }
  return held;
}

/** Appends block after block until it is killed; a line on stdout says that a record has been acknowledged. */
async function appendForEver(subject: Subject, first: number): Promise<void> {
  const log = await openHere(subject);
  const { writeSync } = await import("node:fs");
  const random = seededRandom(first);
  // Blocks that the last process had not acknowledged may be there or not: a block that is held is a repeat.
  let done = Promise.resolve();
  const waiting: Promise<unknown>[] = [];
  for (let slot = first; ; slot += 1) {
    const header = headerOf(slot);
    const appended = log.append(blockOf(header, "confirmed", 1_000 + Math.floor(random.next() * 200_000)));
    const before = done;
    done = appended.then(async () => {
      writeSync(1, `block ${slot}\n`);
      await before;
      await log.append(stageOf(header, "finalized"));
      writeSync(1, `finalized ${slot}\n`);
    });
    waiting.push(done);
    if (waiting.length >= inFlight) await waiting.shift();
  }
}

if (import.meta.main && process.argv[2] === "--child") {
  const [directory = "", address = "-", first] = process.argv.slice(3);
  await appendForEver({ directory, logUrl: address === "-" ? null : address }, Number(first));
}
