/**
 * The process that the campaign `webhook-kills` kills: it schedules and delivers until it is killed or its input ends.
 * `<rows|forks> <directory or url> <port of the receiver> <seed> <slots> <beginning, Unix ms>`. `rows` commits rows of
 * its own, slot after slot, under a lease; `forks` runs the real schedulers over a log that has forks, as far as it is
 * told by `to N`. Says `ready`, `webhook <place> <id>`, `committed <slot>`, `done <delivery>` and, once told to
 * `finish`, `waiting <count of each queue>`.
 */
import { writeSync } from "node:fs";
import { type Clock, seededRandom, systemClock, systemRandom, wallMs } from "@sluice/lib";
import { eventually } from "@sluice/lib/testing";
import { BlockReader } from "../../events/index.ts";
import { blockRecord } from "../../history/testing/blocks.ts";
import { LeaseHolder } from "../../leases/index.ts";
import { chain, modelChain } from "../../log/testing/chain-model.ts";
import { openMemoryLog } from "../../log/testing/memory-log.ts";
import { oneChain } from "../../log/testing/one-chain.ts";
import { createLog, createMetrics } from "../../observe/index.ts";
import { openWebhookState, type WebhookState } from "../../state/testing/webhook-state.ts";
import { BlockMemory } from "../bodies/block-memory.ts";
import { EventBlocks } from "../bodies/event-blocks.ts";
import { EventBodies } from "../bodies/event-bodies.ts";
import { WebhookBodies } from "../bodies/webhook-bodies.ts";
import { DeliveryService } from "../delivery/delivery-service.ts";
import { createDeliveryEvents } from "../delivery/events.ts";
import type { EventBodySource } from "../delivery/interfaces.ts";
import { replaced } from "../delivery/testing/stand.ts";
import { createSchedulingEvents } from "../scheduling/events.ts";
import { WebhookSchedulers } from "../scheduling/webhook-schedulers.ts";
import {
  eventsOfSlot,
  killedWebhooks,
  killsLeaseMs,
  rowEvents,
  severalAddresses,
  severalName,
  waitingMax,
} from "./kills-load.ts";
import { killsSecret } from "./kills-receiver.ts";

const [mode = "", place = "", port = "", seed = "1", slots = "60", began = "0"] = process.argv.slice(2);
const log = createLog({ level: Bun.env["WEBHOOK_KILLS_LOG"] === undefined ? "silent" : "info" });
const observe = { log, metrics: createMetrics() };
const name = Buffer.from(systemRandom.bytes(8)).toString("hex");
const say = (line: string): void => void writeSync(1, `${line}\n`);
/** Blocks of the model are of its own time, and webhooks are made before them. */
const clock: Clock = replaced(systemClock, {
  now: () => wallMs(1_789_999_999_000 + systemClock.now() - Number(began)),
});

/** What the parent has asked for. */
const asked = { isFinishing: false, isOver: false, recovers: false, to: 0 };

async function listen(): Promise<void> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const bytes of Bun.stdin.stream()) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      if (line === "finish") asked.isFinishing = true;
      else if (line === "recover") asked.recovers = true;
      else asked.to = Math.max(asked.to, Number(line.slice("to ".length)));
    }
  }
  asked.isOver = true;
}

function serviceOf({ state }: WebhookState, bodies: EventBodySource): DeliveryService {
  const store = state.webhookDeliveries;
  return new DeliveryService(
    {
      worker: { worker: `worker-${name}`, networks: () => ["devnet"], leaseMs: killsLeaseMs },
      receivers: { allowHttp: true, allowedRanges: ["127.0.0.0/8"] },
    },
    {
      resolver: { addressesOf: async (hostname) => (hostname === severalName ? severalAddresses : []) },
      clock: mode === "forks" ? clock : systemClock,
      random: systemRandom,
      log,
      store: replaced(store, {
        record: async (queue, outcome, fact) => {
          const isRecorded = await store.record(queue, outcome, fact);
          if (isRecorded && outcome.kind === "delivered") say(`done ${outcome.deliveryId}`);
          return isRecorded;
        },
      }),
      webhooks: state.webhooks,
      bodies,
      charges: { take: () => true, refund: () => undefined },
      secrets: { signing: () => ({ present: killsSecret, next: [], untilMs: null }) },
      ledger: {
        insert: async () => undefined,
        webhookAttempts: { finished: async () => [], attempts: async () => [] },
      },
      events: createDeliveryEvents(observe),
    },
  );
}

/** The webhooks, made by whoever comes first. */
async function webhookIds(opened: WebhookState): Promise<readonly string[]> {
  const page = await opened.state.webhooks.page("devnet", "", 1_000);
  const ids = page.map(({ id }) => id).toSorted();
  const accountId = page[0]?.accountId;
  for (let at = page.length; at < killedWebhooks.length; at += 1) {
    const { isInOrder = false, events = [], refuses, hasSeveral } = killedWebhooks[at] ?? {};
    const made = await opened.createWebhook({
      url: `http://${hasSeveral ? severalName : "127.0.0.1"}:${port}/${at}`,
      fifo: isInOrder,
      // What is refused until the end is not given up before.
      ...(refuses ? { retryPolicy: { maxAttempts: 1_000_000, backoffMultiplier: 1 } } : {}),
      ...(mode === "forks" ? { events } : {}),
      ...(accountId === undefined ? {} : { accountId }),
    });
    ids.push(made.id);
  }
  for (const [at, id] of ids.entries()) say(`webhook ${at} ${id}`);
  return ids;
}

async function waitingOf({ state }: WebhookState): Promise<readonly number[]> {
  const ids = (await state.webhooks.page("devnet", "", 1_000)).map(({ id }) => id).toSorted();
  const queues = new Map((await state.webhooks.queues(ids)).map(({ webhookId, waiting }) => [webhookId, waiting]));
  return ids.map((id) => queues.get(id) ?? 0);
}

/** What is refused waits without a bound. */
async function hasRoom(opened: WebhookState): Promise<boolean> {
  const waiting = await waitingOf(opened);
  return waiting.every((count, at) => count <= waitingMax || killedWebhooks[at]?.refuses === true);
}

const holderOf = ({ state }: WebhookState): LeaseHolder =>
  new LeaseHolder(
    { network: "devnet", job: "engine-book", leaseMs: killsLeaseMs },
    {
      store: state.leases,
      clock: systemClock,
      holder: name,
      retryableError: () => undefined,
      events: { held: () => undefined, beatSeen: () => undefined, takenOver: () => undefined },
    },
  );

/** Repeats work until the parent closes the input; whatever fails, as the database is away, is tried again. */
async function untilOver(work: () => Promise<void>): Promise<void> {
  while (!asked.isOver) {
    try {
      await work();
    } catch (error) {
      log.info({ error: String(error) }, "tried again");
      await Bun.sleep(100);
    }
    await Bun.sleep(20);
  }
}

async function tellWaiting(opened: WebhookState, { control }: DeliveryService): Promise<void> {
  if (asked.recovers) {
    asked.recovers = false;
    for (const webhook of await opened.state.webhooks.page("devnet", "", 1_000)) await control.recover(webhook, 0);
  }
  say(`waiting ${(await waitingOf(opened)).join(" ")}`);
  await Bun.sleep(200);
}

async function rows(opened: WebhookState): Promise<void> {
  const read: EventBodySource["read"] = async ({ slot, ordinal }) => ({
    atMs: Number(slot),
    data: `{"at":"${slot} ${ordinal}"}`,
    detail: null,
  });
  await using service = serviceOf(opened, { read });
  const holder = holderOf(opened);
  await service.start();
  say("ready");
  let ids: readonly string[] = [];
  let [beatAt, lease]: [number, Awaited<ReturnType<LeaseHolder["renew"]>>] = [0, null];
  await untilOver(async () => {
    if (lease === null || performance.now() - beatAt > 300) {
      lease = await holder.renew();
      beatAt = performance.now();
    }
    if (ids.length < killedWebhooks.length && lease !== null) ids = await webhookIds(opened);
    if (asked.isFinishing) return await tellWaiting(opened, service);
    // As a scheduler leaves behind what has no room: what is delivered in order is slower than what is scheduled.
    if (lease === null || !(await hasRoom(opened))) return;
    const scheduled = await opened.schedule({ lease, webhookIds: ids, events: eventsOfSlot, names: rowEvents });
    if (scheduled === null) return;
    say(`committed ${scheduled.slot}`);
    service.appended(scheduled.rows);
  });
  await holder.release();
}

async function forks(opened: WebhookState): Promise<void> {
  const { state } = opened;
  const { records } = modelChain(Number(seed), Number(slots));
  const memory = await openMemoryLog(chain);
  const [reader, kept] = [new BlockReader(), new BlockMemory()];
  const states = { read: async () => null, changed: async () => true };
  const blocks = new EventBlocks({ logOf: () => memory.log, past: null, reader, memory: kept });
  const bodies = new EventBodies({ blocks, states, trades: { decide: async () => true } });
  // One that is killed while it makes them leaves the rest to the next; two make them one after the other.
  await eventually("the webhooks", async () => (await webhookIds(opened)).length === killedWebhooks.length, 60_000);
  await using service = serviceOf(opened, new WebhookBodies(bodies));
  await service.start();
  await using schedulers = new WebhookSchedulers(
    { shards: 2, leaseMs: killsLeaseMs },
    {
      ...observe,
      chainLogs: oneChain("devnet", memory.log, chain),
      leases: state.leases,
      schedule: state.webhookSchedule,
      webhooks: state.webhooks,
      past: null,
      reader,
      memory: kept,
      prices: { at: async () => null },
      listener: {
        committed: ({ deliveries }) => {
          const fresh = { attempts: 0, dueAt: 0, lastAttemptAt: null, lastStatusCode: null, lastError: null };
          service.appended(deliveries.map((row) => ({ ...row, ...fresh, detail: null, createdAt: clock.now() })));
        },
      },
      observe: () => undefined,
      clock,
      random: seededRandom(Number(seed)),
      processId: name,
      events: createSchedulingEvents(observe),
      internalError: (where, error) => log.error({ where, error }, "an error of the campaign's process"),
    },
  );
  await schedulers.begin();
  say("ready");
  let appended = 0;
  await untilOver(async () => {
    const until = asked.isFinishing ? records.length : Math.min(asked.to, records.length);
    for (; appended < until; appended += 1) {
      const record = records[appended];
      if (record === undefined) break;
      await memory.log.append(record.kind === "block" ? blockRecord(record.header, record.stage) : record);
    }
    if (asked.isFinishing) await tellWaiting(opened, service);
  });
}

const isShared = place.startsWith("postgres");
const stateClock = mode === "forks" ? clock : systemClock;
const opened = await eventually(
  "the store",
  () => openWebhookState(isShared ? place : null, stateClock, isShared ? null : place),
  60_000,
);
void listen();
await (mode === "forks" ? forks(opened) : rows(opened));
await opened[Symbol.asyncDispose]();
