/**
 * A process with the log of a chain: log-process.ts <options as JSON>. It follows with as many followers as it is told,
 * appends blocks where it is ordered to, and reports what it took. Reads one order a line and answers each with one
 * line; ends with its standard input.
 */
import { createHash } from "node:crypto";
import { createInterface } from "node:readline";
import { type Random, seededRandom, systemClock } from "@sluice/lib";
import { addressOfBytes, type Slot } from "@sluice/wire/identifiers";
import { type BlockHeader, createLogEvents, openChainLog } from "../../server/src/log/index.ts";
import { createMetrics } from "../../server/src/observe/index.ts";
import { FileLock } from "../../server/src/state/index.ts";
import { now } from "../ingest/now.ts";

export interface LogProcessOptions {
  readonly logUrl: string | null;
  readonly directory: string;
  readonly sync: "block" | "interval";
  readonly followers: number;
}

/** Null reports; else so many blocks are appended, one every so many milliseconds. */
export type LogOrder = { readonly blocks: number; readonly everyMs: number } | null;

export interface LogReport {
  /** CPU of this process since the report before, µs. */
  readonly cpuMicros: number;
  /** Milliseconds from the call of append to the follower's event, and to the acknowledgement, of each block. */
  readonly toldMs: readonly number[];
  readonly storedMs: readonly number[];
  readonly bytes: number;
}

const mebibyte = 1024 * 1024;
const options = JSON.parse(process.argv[2] ?? "") as LogProcessOptions;
const hashOf = (slot: number): string =>
  addressOfBytes(new Uint8Array(createHash("sha256").update(`block ${slot}`).digest()));
const chain = { genesisHash: hashOf(-1), firstBlockhash: null };

/** Like a block: signatures that are new, addresses of which some come often, and lines that resemble one another. */
function likeBlock(random: Random, bytes: number): Uint8Array {
  const addresses = Array.from({ length: 2_000 }, () => random.bytes(32));
  const line = Buffer.from("Program TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA consumed 4645 of 199850 compute units");
  const parts: Uint8Array[] = [];
  for (let size = 0; size < bytes; ) {
    const keys = Array.from({ length: 6 }, () => addresses[Math.floor(random.next() ** 3 * 2_000)] ?? line);
    const added = [random.bytes(64), ...keys, random.bytes(48), line, line, line];
    parts.push(...added);
    size += added.reduce((sum, { length }) => sum + length, 0);
  }
  return new Uint8Array(Buffer.concat(parts).subarray(0, bytes));
}

const random = seededRandom(7);
const bodies = Array.from({ length: 8 }, (_, index) => likeBlock(random, (1 + (index * 4) / 7) * mebibyte));

const log = await openChainLog(
  {
    network: "devnet",
    chain,
    logUrl: options.logUrl,
    dataDirectory: options.directory,
    discardsOtherChain: false,
    sync: options.sync,
    retentionMs: 3_600_000,
    bytesMax: 16 * 1024 * mebibyte,
  },
  {
    clock: systemClock,
    log: { info: () => undefined, warn: console.error },
    events: createLogEvents({ metrics: createMetrics() }),
    lock: (path) => FileLock.take(path),
  },
);

const told: number[] = [];
const stored: number[] = [];
let bytes = 0;
let slot = 100;

async function follow(): Promise<void> {
  const outcome = log.follow({ stage: "confirmed", from: "earliest" });
  if (!outcome.ok) throw new Error(outcome.code);
  for await (const event of outcome.follower) {
    if (event.type !== "block") continue;
    told.push(now() - new DataView(event.body.buffer, event.body.byteOffset).getFloat64(0, true));
  }
}

async function append(count: number, everyMs: number): Promise<void> {
  const begun = performance.now();
  const waiting: Promise<unknown>[] = [];
  for (let made = 0; made < count; made += 1) {
    await Bun.sleep(Math.max(0, begun + made * everyMs - performance.now()));
    const header: BlockHeader = {
      chain,
      slot: BigInt(slot) as Slot,
      blockhash: hashOf(slot),
      parentSlot: BigInt(slot - 1) as Slot,
      parentBlockhash: hashOf(slot - 1),
      blockTime: null,
      height: BigInt(slot),
      transactions: 1_000,
    };
    const body = Uint8Array.from(bodies[slot % bodies.length] ?? new Uint8Array(8));
    const at = now();
    new DataView(body.buffer).setFloat64(0, at, true);
    bytes += body.length;
    slot += 1;
    waiting.push(log.append({ kind: "block", header, stage: "confirmed", body }).then(() => stored.push(now() - at)));
  }
  await Promise.all(waiting);
}

let before = process.cpuUsage();

function report(): LogReport {
  const { user, system } = process.cpuUsage(before);
  before = process.cpuUsage();
  const result = { cpuMicros: user + system, toldMs: told.splice(0), storedMs: stored.splice(0), bytes };
  bytes = 0;
  return result;
}

for (let follower = 0; follower < options.followers; follower += 1) void follow();
console.log("open");
// Not by the lines of the console, which hold the event loop up while there is none.
for await (const line of createInterface({ input: process.stdin })) {
  const order = JSON.parse(line) as LogOrder;
  if (order !== null) await append(order.blocks, order.everyMs);
  console.log(JSON.stringify(report()));
}
await log[Symbol.asyncDispose]();
process.exit(0);
