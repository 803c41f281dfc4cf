/** Kills of everything that a block passes on its way from a node into the log and the ledger, and what came of it. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Random, seededRandom } from "@sluice/lib";
import { eventually, mountSmallDisk, type SmallDisk } from "@sluice/lib/testing";
import { areCurrent, leaderOf, type NatsServer, startNats } from "../../src/log/testing/nats-servers.ts";
import type { FaultyChain } from "./chain.ts";
import { IngestReader } from "./ingest-reader.ts";
import { ChainFaults, environmentOf, startDisturbedChain, upstreamsOf } from "./ingest-stage.ts";
import { finalizedSlot, identityOf, ledgerFaults, nodeChain, readerFaults } from "./ingest-verdict.ts";
import { Ingester } from "./ingester.ts";

export interface KillsOptions {
  /** How many times something is killed. */
  readonly n: number;
  readonly seed: number;
}

export interface KillsReport {
  readonly faults: readonly string[];
  readonly counts: Readonly<Record<string, number>>;
}

/** Room for what a run writes, and for the engine's own files. */
const diskBytes = 512 * 1024 * 1024;
/** The log takes nothing while less than a block is left. */
const leftBytesMax = 20_000;
const settleMs = 600_000;
/** A ledger that becomes no further final for so long stands still, however slow the machine is. */
const standstillMs = 180_000;
const saidMax = 6_000;
const clusterMs = 120_000;
const stream = "kills-chain-devnet";
const openingEvents = 60;
/** Of the kills, those that come while a server starts, within so many milliseconds; the others after some blocks. */
const startShare = 0.3;
const startMs = 4_000;
const worksMax = 20;
const everything = Number.POSITIVE_INFINITY;

/** How far a run is, told once in so many kills. */
const toldEvery = 10;

class Counts {
  readonly of: Record<string, number> = {};

  add(name: string, count = 1): void {
    this.of[name] = (this.of[name] ?? 0) + count;
  }

  tell(kills: number, { confirmed }: IngestReader): void {
    if (kills % toldEvery !== 0) return;
    const [top, seconds] = [confirmed.chain.blocks.at(-1)?.slot, Math.round(performance.now() / 1_000)];
    console.log(`${kills} kills in ${seconds} s, told up to slot ${top}`);
  }
}

/**
 * One server on segment files in a file system of its own, killed again and again while it starts and while it writes,
 * with its ledger's engine killed and its disk full at times. Between two lives a reader goes on in the files by its
 * cursors.
 */
export async function segmentKills({ n, seed }: KillsOptions): Promise<KillsReport> {
  await using resources = new AsyncDisposableStack();
  const random = seededRandom(seed);
  const counts = new Counts();
  const chain = resources.use(await startDisturbedChain(seed));
  const disk = resources.use(mountSmallDisk(diskBytes));
  const directory = disk === null ? temporary(resources) : join(disk.path, "data");
  const { yellowstone, pubsub } = upstreamsOf(chain);
  const ingester = new Ingester(directory, environmentOf([yellowstone("one"), pubsub("other")]));
  resources.defer(() => ingester.kill());
  const reader = new IngestReader(
    { logUrl: null, dataDirectory: directory, chain: await identityOf(chain.rpc) },
    random,
  );
  await ingester.up();
  const faults = new ChainFaults(chain, seededRandom(seed + 1));
  const disturbing = faults.run();
  for (let kill = 0; kill < n; kill += 1) {
    counts.tell(kill, reader);
    await live(ingester, random);
    if (disk !== null && random.next() < 0.15) await fillFor(disk, ingester, { random, counts });
    if (random.next() < 0.2 && ingester.killLedger()) {
      counts.add("kills of the ledger's engine");
      continue;
    }
    await ingester.kill();
    counts.add("kills of the server");
    if (random.next() < 0.3) await reader.read(everything);
    await ingester.spawn();
  }
  await faults.stop();
  await disturbing;
  await ingester.up();
  const found = await verdict(chain, { reader, ingesters: [ingester], counts, reading: null });
  for (const [name, count] of Object.entries(faults.happened)) counts.add(name, count);
  return { faults: found, counts: counts.of };
}

/** Some end while they start, the others after they have done some work, however fast the machine is. */
async function live(ingester: Ingester, random: Random): Promise<void> {
  if (random.next() < startShare) await Bun.sleep(random.next() * startMs);
  else await ingester.works(1 + Math.floor(random.next() * worksMax));
}

/** Fills the disk for some seconds; with room again a server that lives goes on by itself. */
async function fillFor(
  disk: SmallDisk,
  ingester: Ingester,
  { random, counts }: { readonly random: Random; readonly counts: Counts },
): Promise<void> {
  disk.fill(Math.floor(random.next() * leftBytesMax));
  counts.add("full disks");
  await Bun.sleep(1_000 + random.next() * 5_000);
  if (((await ingester.metric("sluice_ingest_state", 'state="paused"')) ?? 0) > 0) counts.add("pauses seen");
  // Some die while there is no room.
  if (random.next() < 0.4) {
    await ingester.kill();
    await ingester.spawn();
    counts.add("kills on a full disk");
    await Bun.sleep(random.next() * 2_000);
    disk.empty();
    return;
  }
  disk.empty();
  const isAlive = ingester.isRunning;
  if (!isAlive) counts.add("ends on a full disk");
  if (isAlive && random.next() < 0.5) {
    await eventually(
      "it goes on",
      async () => (await ingester.metric("sluice_ingest_state", 'state="paused"')) === 0,
      settleMs,
    );
    counts.add("recoveries waited for");
  }
}

/**
 * Two servers with different sources and ledgers of their own on one log of three servers of JetStream. One thing after
 * the other is killed or frozen: a server, the engine of its ledger, the leader of the stream or another of the three.
 * A reader follows meanwhile as a process of its own.
 */
export async function jetstreamKills({ n, seed }: KillsOptions): Promise<KillsReport> {
  await using resources = new AsyncDisposableStack();
  const random = seededRandom(seed);
  const counts = new Counts();
  const chain = resources.use(await startDisturbedChain(seed));
  const servers = await startNats(temporary(resources), 3);
  resources.defer(async () => {
    for (const server of servers) await server.kill();
  });
  const logUrl = `nats://${servers.map(({ port }) => `127.0.0.1:${port}`).join(",")}?prefix=kills`;
  const { yellowstone, pubsub } = upstreamsOf(chain);
  const ingesters = [[yellowstone("one")], [pubsub("two"), pubsub("three")]].map(
    (upstreams) => new Ingester(temporary(resources), { ...environmentOf(upstreams), LOG_URL: logUrl }),
  );
  resources.defer(async () => {
    for (const ingester of ingesters) await ingester.kill();
  });
  const reader = new IngestReader(
    { logUrl, dataDirectory: "", chain: await identityOf(chain.rpc) },
    seededRandom(seed + 2),
  );
  await Promise.all(ingesters.map((ingester) => ingester.up()));
  const faults = new ChainFaults(chain, seededRandom(seed + 1));
  const disturbing = faults.run();
  const reading = new Reading(reader);
  const starting: Promise<void>[] = [];
  for (let kill = 0; kill < n; ) {
    const ingester = ingesters[Math.floor(random.next() * ingesters.length)];
    if (ingester === undefined || reading.fault !== null) break;
    await live(ingester, random);
    const draw = random.next();
    if (draw < 0.4) {
      if (!ingester.isRunning) continue;
      await ingester.kill();
      counts.add("kills of a server");
      const awayMs = random.next() < 0.5 ? 0 : random.next() * 6_000;
      starting.push(Bun.sleep(awayMs).then(() => ingester.spawn()));
    } else if (draw < 0.55) {
      if (!ingester.killLedger()) continue;
      counts.add("kills of a ledger's engine");
    } else if (draw < 0.85) await killServer(servers, { random, counts });
    else {
      await freeze(random.next() < 0.6 ? ingester : serverAt(servers, random).process, { random, counts });
      continue;
    }
    kill += 1;
    counts.tell(kill, reader);
  }
  await faults.stop();
  await Promise.all([disturbing, ...starting]);
  await Promise.all(ingesters.map((ingester) => ingester.up()));
  const found = await verdict(chain, { reader, ingesters, counts, reading });
  for (const [name, count] of Object.entries(faults.happened)) counts.add(name, count);
  return { faults: found, counts: counts.of };
}

function serverAt(servers: readonly NatsServer[], random: Random): NatsServer {
  const server = servers[Math.floor(random.next() * servers.length)];
  if (server === undefined) throw new Error("there is no server");
  return server;
}

/** One of the three at a time: the next one once each holds all of the stream again. */
async function killServer(
  servers: readonly NatsServer[],
  { random, counts }: { readonly random: Random; readonly counts: Counts },
): Promise<void> {
  await eventually("three servers", () => areCurrent(servers, stream), clusterMs);
  const leads = random.next() < 0.6;
  const server = leads
    ? await eventually("a leader", () => leaderOf(servers, stream), clusterMs)
    : serverAt(servers, random);
  await server.kill();
  counts.add(leads ? "kills of the log's leader" : "kills of a server of the log");
  await Bun.sleep(random.next() * 6_000);
  await server.startAgain();
}

async function freeze(
  victim: { signal(name: "SIGSTOP" | "SIGCONT"): void },
  { random, counts }: { readonly random: Random; readonly counts: Counts },
): Promise<void> {
  victim.signal("SIGSTOP");
  counts.add("freezes of processes");
  await Bun.sleep(1_000 + random.next() * 7_000);
  victim.signal("SIGCONT");
}

/** The reader, in one opening after the other until it is told to stop. */
class Reading {
  readonly #running: Promise<void>;
  #isOver = false;
  fault: unknown = null;

  constructor(reader: IngestReader) {
    this.#running = this.#run(reader);
  }

  async #run(reader: IngestReader): Promise<void> {
    try {
      while (!this.#isOver) await reader.read(openingEvents);
    } catch (error) {
      this.fault = error;
    }
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#running;
    if (this.fault !== null) throw this.fault;
  }
}

interface Subjects {
  readonly reader: IngestReader;
  readonly ingesters: readonly Ingester[];
  readonly counts: Counts;
  /** Null where the reader needs the servers to have ended. */
  readonly reading: Reading | null;
}

/** Waits until all that is final now is in every ledger, ends the servers, and compares. */
async function verdict(chain: FaultyChain, { reader, ingesters, counts, reading }: Subjects): Promise<string[]> {
  const last = await finalizedSlot(chain.rpc);
  const faults: string[] = [];
  for (const [index, ingester] of ingesters.entries()) {
    const fault = await standstill(ingester, last);
    if (fault !== null) faults.push(`ledger ${index}: ${fault}`);
  }
  await reading?.stop().catch((error: unknown) => faults.push(`reader: ${error}`));
  for (const ingester of ingesters) await ingester.end();
  await reader.readTo(last);
  const blocks = await nodeChain(chain.rpc, last);
  faults.push(...readerFaults(reader, blocks));
  for (const [index, { directory, errors }] of ingesters.entries()) {
    faults.push(...(await ledgerFaults(directory, blocks)).map((each) => `ledger ${index}: ${each}`));
    faults.push(...errors.map((each) => `log of server ${index}: ${each}`));
  }
  counts.add("blocks", blocks.length);
  counts.add(
    "transactions",
    blocks.reduce((sum, { transactions }) => sum + transactions, 0),
  );
  counts.add("openings of the log", reader.openings);
  counts.add("events", reader.confirmed.events + reader.finalized.events);
  counts.add("undone", reader.confirmed.chain.undone);
  return faults;
}

/** Waits until a ledger is final up to a slot; what stands still where it does not get on for long. */
async function standstill(ingester: Ingester, last: number): Promise<string | null> {
  let watermark = -1;
  for (let movedMs = performance.now(); performance.now() - movedMs < standstillMs; await Bun.sleep(500)) {
    const now = (await ingester.metric("sluice_history_watermark_slot")) ?? 0;
    if (now >= last) return null;
    if (now !== watermark) movedMs = performance.now();
    watermark = now;
  }
  const names = ["sluice_history_lag_slots", "sluice_history_failures_total", "sluice_ingest_lag_slots"];
  const figures = await Promise.all(names.map(async (name) => `${name} ${await ingester.metric(name)}`));
  return `it stays final up to ${watermark} of ${last}: ${figures.join(", ")}; ${ingester.said().slice(-saidMax)}`;
}

function temporary(resources: AsyncDisposableStack): string {
  const directory = mkdtempSync(join(tmpdir(), "sluice-ingest-kills-"));
  resources.defer(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}
