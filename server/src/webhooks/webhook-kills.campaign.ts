import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Random, seededRandom, systemClock } from "@sluice/lib";
import { eventually } from "@sluice/lib/testing";
import { chain, modelChain } from "../log/testing/chain-model.ts";
import { createPostgres, postgresPrograms, serverDirectory, startPostgres } from "../state/testing/postgres-process.ts";
import { newSchema } from "../state/testing/schema.ts";
import { eventIdOf as rowEventIdOf } from "../state/testing/webhook-state.ts";
import { deliveryIdOf, eventIdOf } from "./model/event-ids.ts";
import { KilledProcess } from "./testing/killed-process.ts";
import { eventsOfSlot, isInOrder, killedWebhooks, refuses, rowEvents } from "./testing/kills-load.ts";
import { KillsReceiver } from "./testing/kills-receiver.ts";

/**
 * Kills processes that schedule and deliver with SIGKILL, `n` times at random moments under load, and looks at what a
 * receiver has got: every event for every webhook, by one delivery with one body and a valid signature. What came again
 * after a success was in flight at a kill: its outcome had not been written. `sqlite`: one process. `postgres`: two,
 * which contend for the scheduler's lease and share the queues, of which one is killed at a time. `database`: the same
 * while the database itself is killed. `forks` and `forks-postgres`: deliveries that the real schedulers make of a log
 * with forks; their ids are those that follow from the chain, whoever made them how often, and nothing finalized is of
 * a block that died. The receiver refuses one attempt in ten and is slow with another; of one webhook it refuses all
 * events of a type until everything else has come, and another is called by a name of whose three addresses one works.
 */
export async function run(options: {
  n: number;
  seed: number;
  only?: readonly string[];
}): Promise<{ passed: boolean; summary: string }> {
  const { n, seed, only = ["sqlite", "postgres", "database", "forks", "forks-postgres"] } = options;
  const databaseUrl = Bun.env["DATABASE_URL"] ?? "";
  const results: Result[] = [];
  for (const [name, load] of [
    ["sqlite", "rows"],
    ["forks", "forks"],
  ] as const) {
    if (!only.includes(name)) continue;
    const directory = mkdtempSync(join(tmpdir(), "sluice-webhook-kills-"));
    results.push(await kills({ name: `SQLite, ${load}`, place: directory, processes: 1, load }, { n, seed }));
    rmSync(directory, { recursive: true });
  }
  for (const [name, load] of [
    ["postgres", "rows"],
    ["forks-postgres", "forks"],
  ] as const) {
    if (!only.includes(name)) continue;
    if (databaseUrl === "") {
      results.push(notRun(`PostgreSQL, ${load} (DATABASE_URL is not set)`));
      continue;
    }
    await using schema = await newSchema(databaseUrl);
    results.push(await kills({ name: `PostgreSQL, ${load}`, place: schema.url, processes: 2, load }, { n, seed }));
  }
  if (only.includes("database") && postgresPrograms !== null) results.push(await databaseKills(n, seed));
  else if (only.includes("database")) results.push(notRun("the loss of the database (there is no initdb)"));
  const passed = results.length > 0 && results.every((each) => each.passed);
  return { passed, summary: results.map(({ summary }) => summary).join("\n") };
}

interface Result {
  readonly passed: boolean;
  readonly summary: string;
}

const notRun = (what: string): Result => ({ passed: true, summary: `NOT RUN: ${what}` });

interface Subject {
  readonly name: string;
  /** A directory, or the address of a schema. */
  readonly place: string;
  readonly processes: number;
  readonly load: "rows" | "forks";
}

interface Drawn {
  readonly n: number;
  readonly seed: number;
}

/** Without a delivery for so long the rest is stuck. Longer than a refusal is waited for and a lease lasts. */
const stuckMs = 60_000;
/** What the receiver of a killed process has in its socket. */
const settleMs = 100;

interface Running {
  readonly receiver: KillsReceiver;
  readonly children: readonly KilledProcess[];
  readonly random: Random;
  /** Takes what is in flight now: all that may come again. */
  readonly kill: () => void;
}

async function kills(subject: Subject, drawn: Drawn): Promise<Result> {
  const slots = slotsOf(drawn.n);
  return await underLoad(subject, drawn, async ({ children, random, kill }) => {
    for (let turn = 0; turn < drawn.n; turn += 1) {
      const child = children[Math.floor(random.next() * children.length)];
      if (child === undefined) continue;
      // Of a chain, a part for each kill; those that are started later append what came before.
      for (const each of children) each.goTo(Math.ceil(((turn + 1) * slots * 2) / drawn.n));
      // One in five may be killed before it has the store open.
      if (random.next() < 0.8) await child.ready();
      await Bun.sleep(random.next() * (subject.load === "forks" ? 2_000 : 600));
      await child.kill();
      await Bun.sleep(settleMs);
      kill();
      child.start();
    }
    return drawn.n;
  });
}

/** Slots of a chain for so many kills. */
const slotsOf = (n: number): number => Math.max(60, Math.min(600, n * 3));

async function databaseKills(n: number, seed: number): Promise<Result> {
  const directory = mkdtempSync(join(tmpdir(), "sluice-webhook-database-"));
  // Its server runs as another user.
  chmodSync(directory, 0o711);
  const data = serverDirectory(directory, "data");
  createPostgres(data);
  let server = await startPostgres(data, ["fsync=on"]);
  const { port, url } = server;
  const subject = { name: "the database", place: url, processes: 2, load: "rows" } as const;
  const times = Math.ceil(n / 20);
  try {
    return await underLoad(subject, { n: times, seed }, async ({ random, kill }) => {
      for (let turn = 0; turn < times; turn += 1) {
        await Bun.sleep(1_000 + random.next() * 2_000);
        process.kill(server.process().pid, turn % 2 === 0 ? "SIGQUIT" : "SIGKILL");
        await server[Symbol.asyncDispose]();
        await Bun.sleep(random.next() * 1_500);
        kill();
        server = await startPostgres(data, ["fsync=on"], { port });
        // Attempts were begun as long as the lease lasted.
        kill();
      }
      return times;
    });
  } finally {
    await server[Symbol.asyncDispose]();
    rmSync(directory, { recursive: true });
  }
}

async function underLoad(
  subject: Subject,
  { n, seed }: Drawn,
  disturb: (running: Running) => Promise<number>,
): Promise<Result> {
  const random = seededRandom(seed);
  using receiver = new KillsReceiver(random, { isInOrder, refuses });
  let last = 0;
  const ids = new Map<number, string>();
  const heard = {
    committed: (slot: number) => {
      last = Math.max(last, slot);
    },
    done: (deliveryId: string) => receiver.done(deliveryId),
    webhook: (at: number, id: string) => void ids.set(at, id),
  };
  const children: KilledProcess[] = [];
  const { load, place } = subject;
  const began = String(systemClock.now());
  for (let at = 0; at < subject.processes; at += 1) {
    children.push(
      new KilledProcess([load, place, String(receiver.port), String(seed), String(slotsOf(n)), began], heard),
    );
    await children[at]?.ready();
    if (load === "rows") await eventually("a first slot", () => last > at, 30_000);
  }
  const inFlight = new Set<string>();
  let inFlightSum = 0;
  const kill = (): void => {
    const open = receiver.inFlight();
    inFlightSum += open.size;
    for (const id of open) inFlight.add(id);
  };
  const times = await disturb({ receiver, children, random, kill });
  receiver.isCalm = true;
  for (const child of children) child.finish();
  const expected = load === "rows" ? null : expectedOf(modelChain(seed, slotsOf(n)));
  const required = (): readonly RequiredEvent[] => expected?.required ?? rowKeys(last);
  const missing = (isRefused: boolean): number =>
    required().filter((each) => (isRefused || !each.isRefused) && !isAccepted(receiver, each.key)).length;
  const all = (): readonly (readonly number[] | null)[] => children.map((child) => child.waiting);
  // All but what is refused comes, though that is refused all the time.
  const starved = await drained(receiver, all, () => all().every((queues) => queues !== null) && missing(false) === 0);
  receiver.isWell = true;
  for (const child of children) child.recover();
  const isEmpty = (): boolean => all().every((queues) => queues?.every((count) => count === 0));
  const left = starved ?? (await drained(receiver, all, () => isEmpty() && missing(true) === 0));
  for (const child of children) await child.end();
  return judged(subject.name, {
    receiver,
    times,
    inFlight,
    inFlightSum,
    left,
    expected,
    ids,
    required: required().map(({ key }) => key),
  });
}

/** Null when it is done, else what waits and has not moved for a while. */
async function drained(
  receiver: KillsReceiver,
  waiting: () => readonly (readonly number[] | null)[],
  isDone: () => boolean,
): Promise<string | null> {
  let [accepted, movedAt] = [-1, performance.now()];
  for (;;) {
    if (isDone()) return null;
    if (receiver.accepted !== accepted) [accepted, movedAt] = [receiver.accepted, performance.now()];
    if (performance.now() - movedAt > stuckMs) {
      const queues = waiting()[0]?.map((count, at) => `${count}${isInOrder(at) ? " (in order)" : ""}`) ?? ["not told"];
      const when = receiver.isWell ? "" : " while some is refused";
      return `nothing was delivered for ${stuckMs / 1_000} s${when}; waiting by webhook: ${queues.join(", ")}`;
    }
    await Bun.sleep(200);
  }
}

const isAccepted = ({ got }: KillsReceiver, key: string): boolean => (got.get(key)?.accepted ?? 0) > 0;

/** An event that a webhook is to be told, and whether its receiver refuses it until it is well. */
interface RequiredEvent {
  readonly key: string;
  readonly isRefused: boolean;
}

function rowKeys(last: number): readonly RequiredEvent[] {
  const keys: RequiredEvent[] = [];
  for (let slot = 1; slot <= last; slot += 1) {
    for (let event = 0; event < eventsOfSlot; event += 1) {
      const id = rowEventIdOf(BigInt(slot), event);
      const name = rowEvents[event % rowEvents.length] ?? "";
      for (const webhook of killedWebhooks.keys()) {
        keys.push({ key: `/${webhook} ${id}`, isRefused: refuses(webhook, name) });
      }
    }
  }
  return keys;
}

interface Expected {
  /** Of the chain in the end. */
  readonly required: readonly RequiredEvent[];
  /** These, and confirmed events of blocks that died. */
  readonly allowed: ReadonlySet<string>;
}

function expectedOf({ records, blocks, finalized }: ReturnType<typeof modelChain>): Expected {
  const ofBlocks = (stage: "confirmed" | "finalized", headers: typeof blocks): RequiredEvent[] =>
    headers.flatMap(({ slot, blockhash, transactions }) => {
      const place = { slot, blockhash, account: null };
      const indexes = Array.from({ length: transactions }, (_, index) => index);
      const told = [
        { event: `block.${stage}`, txIndex: null } as const,
        ...indexes.map((txIndex) => ({ event: `transaction.${stage}`, txIndex }) as const),
      ];
      return told.flatMap(({ event, txIndex }) => {
        const id = eventIdOf(chain.genesisHash, { ...place, event, txIndex });
        return killedWebhooks.flatMap(({ events }, at) =>
          events.includes(event) ? [{ key: `/${at} ${id}`, isRefused: refuses(at, event) }] : [],
        );
      });
    });
  const required = [...ofBlocks("confirmed", blocks), ...ofBlocks("finalized", blocks.slice(0, finalized))];
  const all = records.flatMap((record) => (record.kind === "block" ? [record.header] : []));
  return { required, allowed: new Set([...required, ...ofBlocks("confirmed", all)].map(({ key }) => key)) };
}

interface Ended {
  readonly receiver: KillsReceiver;
  readonly times: number;
  readonly inFlight: ReadonlySet<string>;
  readonly inFlightSum: number;
  readonly left: string | null;
  readonly required: readonly string[];
  /** Null for rows that are of no chain. */
  readonly expected: Expected | null;
  /** Ids of webhooks, by their place. */
  readonly ids: ReadonlyMap<number, string>;
}

function judged(name: string, ended: Ended): Result {
  const { receiver, times, inFlight, inFlightSum, left, required, expected, ids } = ended;
  const lost = required.filter((key) => !isAccepted(receiver, key)).length;
  const unexplained = receiver.again.filter((id) => !inFlight.has(id)).length;
  const faults = [...receiver.faults];
  for (const [key, { deliveryId }] of expected === null ? [] : receiver.got) {
    const [path = "", eventId = ""] = key.split(" ");
    if (expected?.allowed.has(key) === false) faults.push("an event that the chain does not tell");
    if (deliveryIdOf(ids.get(Number(path.slice(1))) ?? "", eventId) !== deliveryId)
      faults.push("an id of another event");
  }
  const isBounded = unexplained === 0 && receiver.again.length <= inFlightSum;
  const passed = left === null && lost === 0 && isBounded && faults.length === 0 && receiver.accepted > 0;
  return {
    passed,
    summary:
      `${name}: ${times} kills, ${receiver.accepted} events delivered in ${receiver.attempts} attempts, ` +
      `${required.length} expected, ${lost} lost, ${receiver.again.length} successes again of ${inFlightSum} in flight ` +
      `at kills (${unexplained} were not), ${faults.length} faults` +
      `${faults.length === 0 ? "" : `: ${[...new Set(faults)].slice(0, 3).join("; ")}`}${left === null ? "" : `; ${left}`}`,
  };
}
