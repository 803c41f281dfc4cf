import { createHmac } from "node:crypto";
import { chmodSync, mkdtempSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Random, seededRandom, systemClock, systemRandom } from "@sluice/lib";
import { eventually } from "@sluice/lib/testing";
import { LeaseHolder } from "../leases/lease-holder.ts";
import { createLog, createMetrics } from "../observe/index.ts";
import { createPostgres, postgresPrograms, serverDirectory, startPostgres } from "../state/testing/postgres-process.ts";
import { newSchema } from "../state/testing/schema.ts";
import { eventIdOf, openWebhookState, type WebhookState } from "../state/testing/webhook-state.ts";
import { createDeliveryEvents, DeliveryService } from "./index.ts";

/**
 * Kills processes that schedule and deliver with SIGKILL, `n` times at random moments under load, and looks at what a
 * receiver has got: every event of every slot that was committed, for every webhook, by one delivery with one body and
 * a valid signature; a delivery that came twice after a success came first no longer before a kill than an outcome
 * takes to be written. `sqlite`: one process. `postgres`: two, which contend for the scheduler's lease and share the
 * queues, of which one is killed at a time. `database`: the same while the database itself is killed. The receiver
 * refuses one attempt in ten and is slow with another. The same file is the child: `--child <directory or url> <port>`.
 */
export async function run(options: {
  n: number;
  seed: number;
  only?: readonly string[];
}): Promise<{ passed: boolean; summary: string }> {
  const { n, seed, only = ["sqlite", "postgres", "database"] } = options;
  const databaseUrl = Bun.env["DATABASE_URL"] ?? "";
  const results: Result[] = [];
  if (only.includes("sqlite")) {
    const directory = mkdtempSync(join(tmpdir(), "sluice-webhook-kills-"));
    const subject = { name: "SQLite", place: directory, processes: 1 };
    results.push(await kills(subject, { n, random: seededRandom(seed) }));
    rmSync(directory, { recursive: true });
  }
  if (only.includes("postgres") && databaseUrl !== "") {
    await using schema = await newSchema(databaseUrl);
    const subject = { name: "PostgreSQL", place: schema.url, processes: 2 };
    results.push(await kills(subject, { n, random: seededRandom(seed) }));
  } else if (only.includes("postgres")) results.push(notRun("PostgreSQL (DATABASE_URL is not set)"));
  if (only.includes("database") && postgresPrograms !== null) results.push(await databaseKills(n, seededRandom(seed)));
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
}

const webhooks = 6;
const eventsOfSlot = 4;
const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const leaseMs = 2_000;
/** An outcome is on disk within this time of its answer, or the process that had it was killed. */
const writtenMs = 3_000;
const drainMs = 300_000;
/** Which of the webhooks are delivered in order. */
const isInOrder = (webhook: number): boolean => webhook < 2;

/** What the receiver has got of one event for one webhook. */
interface Got {
  readonly deliveryId: string;
  readonly body: string;
  /** When successes were answered. */
  readonly accepted: number[];
}

/** A receiver that keeps what it gets, refuses one attempt in ten, and is slow with another. */
class Receiver implements Disposable {
  readonly got = new Map<string, Got>();
  readonly faults: string[] = [];
  attempts = 0;
  isWell = false;
  readonly #random: Random;
  readonly #server: Bun.Server<undefined>;

  constructor(random: Random) {
    this.#random = random;
    this.#server = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      idleTimeout: 60,
      fetch: (request) => this.#take(request),
    });
  }

  get port(): number {
    return this.#server.port ?? 0;
  }

  async #take(request: Request): Promise<Response> {
    this.attempts += 1;
    const body = await request.text();
    const { headers } = request;
    const signature = `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;
    if (headers.get("x-service-signature") !== signature) this.faults.push("a signature that is not valid");
    const key = `${new URL(request.url).pathname} ${headers.get("x-service-event-id")}`;
    const deliveryId = headers.get("x-service-delivery-id") ?? "";
    const known = this.got.get(key) ?? { deliveryId, body, accepted: [] };
    this.got.set(key, known);
    if (known.deliveryId !== deliveryId) this.faults.push(`${key} has two deliveries`);
    if (known.body !== body) this.faults.push(`${key} has two bodies`);
    if (!this.isWell) {
      const drawn = this.#random.next();
      // What is delivered in order waits 5 seconds for each refusal, so it is refused seldom.
      if (drawn < (isInOrder(Number(new URL(request.url).pathname.slice(1))) ? 0.002 : 0.1))
        return new Response("no", { status: 500 });
      if (drawn < 0.2) await Bun.sleep(30);
    }
    known.accepted.push(performance.now());
    return new Response(null, { status: 204 });
  }

  [Symbol.dispose](): void {
    this.#server.stop(true);
  }
}

/** A process that is started again when it has been killed. */
class Child {
  readonly #command: readonly string[];
  readonly committed: (slot: number) => void;
  #process: ReturnType<typeof Child.prototype.spawn> | null = null;
  #waiting: number | null = null;
  #isReady = false;

  constructor(subject: Subject, port: number, committed: (slot: number) => void) {
    this.#command = [process.execPath, import.meta.path, "--child", subject.place, String(port)];
    this.committed = committed;
    this.start();
  }

  /** What the child said last of what waits. */
  get waiting(): number | null {
    return this.#waiting;
  }

  spawn() {
    return Bun.spawn([...this.#command], { stdin: "pipe", stdout: "pipe", stderr: "inherit" });
  }

  start(): void {
    this.#waiting = null;
    this.#isReady = false;
    const child = this.spawn();
    this.#process = child;
    void this.#read(child.stdout);
  }

  async #read(stream: ReadableStream<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder();
    let rest = "";
    for await (const bytes of stream) {
      const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        const [kind, number] = line.split(" ");
        if (kind === "ready") this.#isReady = true;
        else if (kind === "committed") this.committed(Number(number));
        else if (kind === "waiting") this.#waiting = Number(number);
      }
    }
  }

  /** Resolves when it schedules and delivers. */
  async ready(): Promise<void> {
    await eventually("a process that delivers", () => this.#isReady, 60_000);
  }

  /** From now on nothing is scheduled any more. */
  finish(): void {
    this.#process?.stdin.write("finish\n");
    this.#process?.stdin.flush();
  }

  async kill(): Promise<void> {
    this.#process?.kill("SIGKILL");
    await this.#process?.exited;
  }

  async end(): Promise<void> {
    this.#process?.stdin.end();
    await this.#process?.exited;
  }
}

interface Running {
  readonly receiver: Receiver;
  readonly children: readonly Child[];
  /** The last slot that was acknowledged. */
  readonly last: () => number;
}

async function kills(subject: Subject, { n, random }: { n: number; random: Random }): Promise<Result> {
  return await underLoad(subject, random, async ({ children }) => {
    const killedAt: number[] = [];
    for (let kill = 0; kill < n; kill += 1) {
      const child = children[Math.floor(random.next() * children.length)];
      if (child === undefined) continue;
      // One in five may be killed before it has the store open.
      if (random.next() < 0.8) await child.ready();
      await Bun.sleep(random.next() * 600);
      killedAt.push(performance.now());
      await child.kill();
      child.start();
    }
    return killedAt;
  });
}

async function databaseKills(n: number, random: Random): Promise<Result> {
  const directory = mkdtempSync(join(tmpdir(), "sluice-webhook-database-"));
  // Its server runs as another user.
  chmodSync(directory, 0o711);
  const data = serverDirectory(directory, "data");
  createPostgres(data);
  let server = await startPostgres(data, ["fsync=on"]);
  const { port, url } = server;
  try {
    return await underLoad({ name: "the database", place: url, processes: 2 }, random, async () => {
      const killedAt: number[] = [];
      for (let kill = 0; kill < Math.ceil(n / 20); kill += 1) {
        await Bun.sleep(1_000 + random.next() * 2_000);
        killedAt.push(performance.now());
        process.kill(server.process().pid, kill % 2 === 0 ? "SIGQUIT" : "SIGKILL");
        await server[Symbol.asyncDispose]();
        await Bun.sleep(random.next() * 1_500);
        server = await startPostgres(data, ["fsync=on"], { port });
      }
      return killedAt;
    });
  } finally {
    await server[Symbol.asyncDispose]();
    rmSync(directory, { recursive: true });
  }
}

async function underLoad(
  subject: Subject,
  random: Random,
  disturb: (running: Running) => Promise<readonly number[]>,
): Promise<Result> {
  using receiver = new Receiver(random);
  let last = 0;
  const committed = (slot: number): void => {
    last = Math.max(last, slot);
  };
  const children: Child[] = [];
  for (let at = 0; at < subject.processes; at += 1) {
    children.push(new Child(subject, receiver.port, committed));
    await eventually("a first slot", () => last > at, 30_000);
  }
  const killedAt = await disturb({ receiver, children, last: () => last });
  receiver.isWell = true;
  for (const child of children) child.finish();
  let hasEnded = true;
  await eventually("all deliveries", () => children.every(({ waiting }) => waiting === 0), drainMs).catch(() => {
    hasEnded = false;
  });
  for (const child of children) await child.end();
  return judged(subject.name, { receiver, killedAt, last, hasEnded });
}

interface Ended {
  readonly receiver: Receiver;
  readonly killedAt: readonly number[];
  readonly last: number;
  readonly hasEnded: boolean;
}

function judged(name: string, { receiver, killedAt, last, hasEnded }: Ended): Result {
  const all = [...receiver.got.values()];
  const accepted = all.filter((got) => got.accepted.length > 0).length;
  let lost = 0;
  for (let slot = 1; slot <= last; slot += 1) {
    for (let place = 0; place < webhooks * eventsOfSlot; place += 1) {
      const id = eventIdOf(BigInt(slot), place % eventsOfSlot);
      const got = receiver.got.get(`/${Math.floor(place / eventsOfSlot)} ${id}`);
      if (got === undefined || got.accepted.length === 0) lost += 1;
    }
  }
  const twice = all.filter((got) => got.accepted.length > 1);
  const unexplained = twice.filter(({ accepted: [first = 0] }) => {
    return !killedAt.some((killed) => first <= killed + leaseMs + writtenMs && first >= killed - writtenMs);
  });
  const passed = hasEnded && lost === 0 && unexplained.length === 0 && receiver.faults.length === 0 && accepted > 0;
  const again = twice.reduce((sum, got) => sum + got.accepted.length - 1, 0);
  return {
    passed,
    summary:
      `${name}: ${killedAt.length} kills, ${last} slots, ${accepted} events delivered in ${receiver.attempts} attempts, ` +
      `${lost} lost, ${again} successes again (${unexplained.length} without a kill), ` +
      `${receiver.faults.length} faults${hasEnded ? "" : ", not all was delivered in time"}` +
      `${receiver.faults.length === 0 ? "" : `: ${[...new Set(receiver.faults)].slice(0, 3).join("; ")}`}`,
  };
}

const quiet = createLog({ level: Bun.env["WEBHOOK_KILLS_LOG"] === undefined ? "silent" : "info" });

const serviceOf = ({ state }: WebhookState, name: string): DeliveryService =>
  new DeliveryService(
    {
      worker: { worker: `worker-${name}`, networks: ["devnet"], leaseMs },
      receivers: { allowHttp: true, allowedRanges: ["127.0.0.0/8"] },
    },
    {
      clock: systemClock,
      random: systemRandom,
      log: quiet,
      store: state.webhookDeliveries,
      webhooks: state.webhooks,
      bodies: {
        read: async ({ slot, ordinal }) => ({ atMs: Number(slot), data: `{"at":"${slot} ${ordinal}"}`, detail: null }),
      },
      charges: { take: () => true, refund: () => undefined },
      secrets: { signing: () => ({ present: secret, next: null }) },
      ledger: {
        insert: async () => undefined,
        webhookAttempts: { finished: async () => [], attempts: async () => [] },
      },
      events: createDeliveryEvents({ log: quiet, metrics: createMetrics() }),
    },
  );

const holderOf = ({ state }: WebhookState, holder: string): LeaseHolder =>
  new LeaseHolder(
    { network: "devnet", job: "engine-book", leaseMs },
    {
      store: state.leases,
      clock: systemClock,
      holder,
      retryableError: () => undefined,
      events: { held: () => undefined, beatSeen: () => undefined, takenOver: () => undefined },
    },
  );

/** Schedules slot after slot while it holds the lease, and delivers, until it is killed or its input ends. */
async function live(place: string, port: string): Promise<void> {
  const isShared = place.startsWith("postgres");
  const open = () => openWebhookState(isShared ? place : null, systemClock, isShared ? null : place);
  const opened = await eventually("the store", open, 60_000);
  const name = Buffer.from(systemRandom.bytes(8)).toString("hex");
  const [service, holder] = [serviceOf(opened, name), holderOf(opened, name)];
  await service.start();
  writeSync(1, "ready\n");
  const input = { isFinishing: false, isOver: false };
  void (async () => {
    for await (const bytes of Bun.stdin.stream()) input.isFinishing = input.isFinishing || bytes.length > 0;
    input.isOver = true;
  })();
  let [beatAt, lease]: [number, Awaited<ReturnType<LeaseHolder["renew"]>>] = [0, null];
  let ids: readonly string[] = [];
  while (!input.isOver) {
    if (lease === null || performance.now() - beatAt > 300) {
      lease = await holder.renew();
      beatAt = performance.now();
    }
    try {
      if (ids.length < webhooks && lease !== null) ids = await webhookIds(opened, port);
      if (input.isFinishing) await tellWaiting(opened);
      else if (lease !== null) {
        const scheduled = await opened.schedule({ lease, webhookIds: ids, events: eventsOfSlot });
        if (scheduled !== null) {
          writeSync(1, `committed ${scheduled.slot}\n`);
          service.appended(scheduled.rows);
        }
      }
    } catch {
      // The database is away: it is tried again.
      await Bun.sleep(100);
    }
    await Bun.sleep(20);
  }
  await service[Symbol.asyncDispose]();
  await holder.release();
  await opened[Symbol.asyncDispose]();
}

async function tellWaiting({ state }: WebhookState): Promise<void> {
  const page = await state.webhooks.page("devnet", "", 1_000);
  const queues = await state.webhooks.queues(page.map(({ id }) => id));
  writeSync(1, `waiting ${queues.reduce((sum, { waiting }) => sum + waiting, 0)}\n`);
  await Bun.sleep(200);
}

/** The webhooks, made by whoever comes first with the lease. */
async function webhookIds(opened: WebhookState, port: string) {
  const page = await opened.state.webhooks.page("devnet", "", 1_000);
  const ids = page.map(({ id }) => id);
  const accountId = page[0]?.accountId;
  for (let at = page.length; at < webhooks; at += 1) {
    const made = await opened.createWebhook({
      url: `http://127.0.0.1:${port}/${at}`,
      // So that a kill leaves no gap there either.
      fifo: isInOrder(at),
      ...(accountId === undefined ? {} : { accountId }),
    });
    ids.push(made.id);
  }
  return ids.toSorted();
}

if (import.meta.main && process.argv[2] === "--child") {
  const [place = "", port = ""] = process.argv.slice(3);
  await live(place, port);
}
