import { type Random, seededRandom } from "@sluice/lib";
import { eventually } from "@sluice/lib/testing";
import { openChainLog } from "./open.ts";
import type { ChainLog, FollowFrom, LogRecord, Stage } from "./records.ts";
import { type ModelChain, modelChain, nextOf, shuffled, ToldChain } from "./testing/chain-model.ts";
import { follow } from "./testing/log-subject.ts";
import { natsBinary, removeStream, startNats } from "./testing/nats-servers.ts";
import { observed, standardOptions, temporaryDirectory } from "./testing/segment-logs.ts";

/** The views of one log that processes have, of which any may be asked at any time. */
interface Views extends AsyncDisposable {
  readonly count: number;
  at(index: number): ChainLog;
  /** The process of a view ends, and another one opens the log. */
  replace(index: number): Promise<void>;
}

interface Outcome {
  events: number;
  handovers: number;
  restarts: number;
  resumed: number;
  undone: number;
  failure: string | null;
}

const slots = 150;
const openMs = 30_000;

/**
 * `n` chains with skipped slots and confirmed forks over each driver (`--only segments,jetstream`), written by two
 * writers with losses, out of order. Meanwhile one follower at stage confirmed and one at stage finalized goes on at
 * every event in another view of the log, by its cursor alone, sometimes in the middle of a block; views are closed and
 * opened again as processes end. Each follower is told the chain: every block once, after its parent, what was told and
 * died undone, and at stage finalized nothing undone.
 */
export async function run(options: {
  n: number;
  seed: number;
  only?: readonly string[];
}): Promise<{ passed: boolean; summary: string }> {
  const { n, seed, only = ["segments", "jetstream"] } = options;
  const summaries: string[] = [];
  let passed = true;
  for (const driver of ["segments", "jetstream"] as const) {
    if (!only.includes(driver)) continue;
    if (driver === "jetstream" && natsBinary === null) {
      summaries.push("NOT RUN: JetStream (there is no nats-server)");
      continue;
    }
    using directory = temporaryDirectory();
    const server = driver === "segments" ? null : (await startNats(directory.path, 1))[0];
    const url = server === null || server === undefined ? null : `nats://127.0.0.1:${server.port}`;
    try {
      const sum = { events: 0, handovers: 0, restarts: 0, resumed: 0, undone: 0 };
      for (let index = 0; index < n && passed; index += 1) {
        const outcome = await simulate(seed + index, url);
        if (outcome.failure !== null) {
          passed = false;
          summaries.push(`${driver}, seed ${seed + index}: ${outcome.failure}`);
        }
        for (const name of ["events", "handovers", "restarts", "resumed", "undone"] as const)
          sum[name] += outcome[name];
      }
      summaries.push(
        `${driver}: ${sum.events} events, ${sum.handovers} of them in another view than the one before, ` +
          `${sum.restarts} views opened again, ${sum.resumed} blocks gone on with in the middle, ${sum.undone} undone`,
      );
    } finally {
      await server?.kill();
    }
  }
  return { passed: passed && summaries.length > 0, summary: summaries.join("; ") };
}

async function simulate(seed: number, url: string | null): Promise<Outcome> {
  const random = seededRandom(seed);
  const model = modelChain(seed, slots);
  await using views = await openViews(seed, url);
  const outcome: Outcome = { events: 0, handovers: 0, restarts: 0, resumed: 0, undone: 0, failure: null };
  const [first] = model.records;
  if (first === undefined) return outcome;
  // Followers begin at the first block, whoever brings it.
  await append(views, 0, first);
  for (let index = 0; index < views.count; index += 1) {
    await eventually("every view", () => views.at(index).earliest() !== null, openMs);
  }
  const writing = Promise.all([0, 1].map((writer) => write(views, writer, drawRecords(model, random, writer))));
  const stages: readonly Stage[] = ["confirmed", "finalized"];
  await Promise.all([
    writing,
    ...stages.map((stage) => handOver({ views, stage, model, random: seededRandom(seed * 31), outcome })),
  ]);
  return outcome;
}

/** What one of two writers brings: most records, some of them both; together they bring all. */
function drawRecords(model: ModelChain, random: Random, writer: number): readonly LogRecord[] {
  const owners = seededRandom(model.records.length);
  const owner = model.records.map(() => Math.floor(owners.next() * 3));
  return shuffled(model.records, random, (at) => owner[at] === 2 || owner[at] === writer);
}

async function append(views: Views, index: number, record: LogRecord): Promise<void> {
  // A view that is closed while it stores is asked again when it is open.
  await eventually("an append", () => views.at(index % views.count).append(record), openMs);
}

async function write(views: Views, writer: number, records: readonly LogRecord[]): Promise<void> {
  for (const record of records) await append(views, writer, record);
}

async function handOver(of: {
  readonly views: Views;
  readonly stage: Stage;
  readonly model: ModelChain;
  readonly random: Random;
  readonly outcome: Outcome;
}): Promise<void> {
  const { views, stage, model, random, outcome } = of;
  const expected = stage === "finalized" ? model.blocks.slice(0, model.finalized) : model.blocks;
  const last = expected.at(-1);
  const told = new ToldChain();
  let from: FollowFrom = "earliest";
  /** The block in whose middle the follower stopped, and the item after which it goes on. */
  let middle: { readonly blockhash: string; readonly skip: number } | null = null;
  let before = -1;
  for (;;) {
    const index = Math.floor(random.next() * views.count);
    // Only the finalized follower ends processes, so that a view is replaced by one of them at a time.
    if (stage === "finalized" && random.next() < 0.02) {
      await views.replace(index);
      outcome.restarts += 1;
    }
    const event = await eventually("an event", () => nextFrom(views.at(index), stage, from), openMs);
    outcome.events += 1;
    outcome.handovers += index === before ? 0 : 1;
    before = index;
    if (event.type === "lagging") {
      from = { cursor: event.cursor };
      continue;
    }
    if (middle !== null && event.type === "block" && event.header.blockhash === middle.blockhash) {
      if (event.skip !== middle.skip) outcome.failure ??= `${event.skip} items are skipped, not ${middle.skip}`;
      outcome.resumed += 1;
    } else if (event.type === "block" && event.skip > 0)
      outcome.failure ??= "a block is told in part that was not begun";
    else told.take(event);
    middle = null;
    if (event.type === "expired") outcome.failure ??= "what is held is told to be gone";
    if (outcome.failure !== null) return;
    if (event.type === "block" && event.header.blockhash === last?.blockhash && event.skip === 0) break;
    from = "cursor" in event ? { cursor: event.cursor } : from;
    if (event.type === "block" && event.skip === 0 && event.header.transactions > 1 && random.next() < 0.2) {
      const item = Math.floor(random.next() * (event.header.transactions - 1));
      middle = { blockhash: event.header.blockhash, skip: item + 1 };
      from = { cursor: event.cursorAt(item) };
    }
    // Views differ until each has received everything, for which the event loop has to run.
    await new Promise((resolve) => setImmediate(resolve));
  }
  outcome.undone += told.undone;
  const hashes = told.blocks.map(({ blockhash }) => blockhash).join(" ");
  if (hashes !== expected.map(({ blockhash }) => blockhash).join(" "))
    outcome.failure ??= `${stage}: another chain was told`;
  if (stage === "finalized" && told.undone > 0) outcome.failure ??= "what is finalized was undone";
}

/** The next event of a new follower, with what its cursor is after an item of the block. */
async function nextFrom(log: ChainLog, stage: Stage, from: FollowFrom) {
  const follower = follow(log, stage, from);
  try {
    const event = await nextOf(follower);
    return { ...event, cursorAt: (item: number) => follower.cursor(item) };
  } finally {
    await follower.return();
  }
}

async function openViews(seed: number, url: string | null): Promise<Views> {
  const directory = temporaryDirectory();
  const logUrl = url === null ? null : `${url}?prefix=cursors-${seed}`;
  const options = { ...standardOptions, dataDirectory: directory.path, logUrl, tailBytesMax: 20_000 };
  const open = () => eventually("the log", () => openChainLog(options, observed().dependencies), openMs);
  const count = url === null ? 1 : 3;
  const logs: ChainLog[] = [];
  for (let index = 0; index < count; index += 1) logs.push(await open());
  const at = (index: number): ChainLog => {
    const log = logs[index];
    if (log === undefined) throw new Error("there is no such view");
    return log;
  };
  return {
    count,
    at,
    replace: async (index) => {
      await at(index)[Symbol.asyncDispose]();
      logs[index] = await open();
    },
    [Symbol.asyncDispose]: async () => {
      for (const log of logs) await log[Symbol.asyncDispose]();
      directory[Symbol.dispose]();
      if (url !== null) await removeStream(url, `cursors-${seed}-chain-devnet`);
    },
  };
}
