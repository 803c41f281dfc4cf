import { webhookLimits } from "@sluice/contract/webhooks";
import { BackgroundTask, within } from "@sluice/lib";
import { areLevel } from "../../log/index.ts";
import type { BehindWebhook, NewDelivery, WebhookStage } from "../../state/index.ts";
import type { IndexedWebhook } from "../model/compiled-webhook.ts";
import { disabledNews, toldOf } from "../model/operational-events.ts";
import { type ChainEvent, ChainReader } from "./chain-reader.ts";
import { beginAnew, matchBlocks, noteGaps, type ReadBlocks, type ShardParts } from "./stage-scheduler.ts";
import type { ScheduledWebhook } from "./webhook-set.ts";

const everyMs = 500;
/** Deliveries are made again for a webhook that has no more than so many waiting. */
const roomFrom = webhookLimits.waiting / 2;
const batchMax = { events: 16, transactions: 4_000 } as const;
/** What the log has not told by then has to be waited for, as at its head. */
const readMsMax = 2_000;
/** Webhooks whose queues are asked for at a time. */
const askedMax = 1_000;

interface Placed {
  readonly webhook: ScheduledWebhook;
  readonly from: string;
  readonly slot: bigint;
}

/**
 * Makes the deliveries of webhooks that are behind at one stage, as room frees in their queues: the hindmost first, so
 * that those that fell behind at different blocks become one group, which reads each block once. One that has been told
 * as much as those at the head joins them.
 */
export class Stragglers implements AsyncDisposable {
  readonly #stage: WebhookStage;
  readonly #parts: ShardParts;
  /** Of those at the head. */
  readonly #headCursor: () => string;
  readonly #task: BackgroundTask;
  #arrived: readonly string[] = [];
  #isEnded = false;

  constructor(stage: WebhookStage, parts: ShardParts, headCursor: () => string) {
    this.#stage = stage;
    this.#parts = parts;
    this.#headCursor = headCursor;
    this.#task = new BackgroundTask(
      { everyMs },
      {
        clock: parts.clock,
        work: () => this.#work(),
        onError: (error) => parts.events.schedulerFailed(parts.network, stage, error),
      },
    );
  }

  /** Those that have been told what the ones at the head had been told when it was looked last. */
  get arrived(): readonly string[] {
    return this.#arrived;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isEnded = true;
    await this.#task[Symbol.asyncDispose]();
  }

  async #work(): Promise<void> {
    const { set } = this.#parts;
    while (!this.#isEnded && set.behind(this.#stage).length > 0) {
      await this.#expire();
      const group = await this.#hindmost();
      if (group === null || !(await this.#advance(group))) return;
    }
    this.#arrived = [];
  }

  /** Who could not be told for too long is told nothing more until its owner resumes it. */
  async #expire(): Promise<void> {
    const { set, clock, random, schedule, events, network } = this.#parts;
    const before = clock.now() - webhookLimits.behindMs;
    const late = set.behind(this.#stage).filter(({ behindSince }) => behindSince < before);
    for (const { id } of late) {
      const told = toldOf(disabledNews(id, "behind", clock.now()), random);
      if (await schedule.disableBehind(told)) events.schedulerDisabled(network, id);
    }
    if (late.length > 0) await set.reload();
  }

  /** Those with room that are where the hindmost one is; null where nobody has room, or all with room have arrived. */
  async #hindmost(): Promise<readonly Placed[] | null> {
    const { set, log } = this.#parts;
    const stage = this.#stage;
    const behind = set.behind(stage);
    const room = await this.#withRoom(behind.map(({ id }) => id));
    const placed: Placed[] = [];
    for (const webhook of behind) {
      const from = webhook.behind[stage];
      if (from === null || !room.has(webhook.id)) continue;
      placed.push({ webhook, from, slot: log.placeOf(from, stage)?.slot ?? -1n });
    }
    const head = this.#headCursor();
    this.#arrived = placed.filter(({ from }) => areLevel(from, head)).map(({ webhook }) => webhook.id);
    const left = placed.filter(({ from }) => !areLevel(from, head));
    const first = left.reduce<Placed | null>(
      (least, each) => (least === null || each.slot < least.slot ? each : least),
      null,
    );
    return first === null ? null : left.filter(({ from }) => areLevel(from, first.from));
  }

  async #withRoom(ids: readonly string[]): Promise<ReadonlySet<string>> {
    const room = new Set<string>();
    for (let first = 0; first < ids.length; first += askedMax) {
      const queues = await this.#parts.webhooks.queues(ids.slice(first, first + askedMax));
      for (const { webhookId, waiting, parkedAt } of queues) {
        if (parkedAt === null && waiting <= roomFrom) room.add(webhookId);
      }
    }
    return room;
  }

  /** Tells a group what comes next; whether there may be more to do. */
  async #advance(group: readonly Placed[]): Promise<boolean> {
    const [first] = group;
    if (first === undefined) return false;
    const batch = await this.#read(first.from);
    if (batch === null) return false;
    const { set } = this.#parts;
    const stage = this.#stage;
    await noteGaps(this.#parts, batch, { stage, ids: () => group.map(({ webhook }) => webhook.id) });
    const webhooks = group.map(({ webhook, from }) => ({ webhookId: webhook.id, from }));
    const outcome = await this.#write(batch, webhooks);
    if (outcome === null) {
      await set.refreshBehind();
      return false;
    }
    const full = new Set(outcome.full);
    const moved = webhooks.map(({ webhookId }) => webhookId).filter((id) => !full.has(id));
    set.moved(moved, { stage, cursor: batch.to });
    return moved.length > 0;
  }

  /** What comes after a cursor, up to where those at the head are; null where nothing comes now. */
  async #read(cursor: string): Promise<ReadBlocks | null> {
    const { log, past, clock } = this.#parts;
    const stage = this.#stage;
    const reader = new ChainReader({ stage, cursor }, { log, past });
    const events: ChainEvent[] = [];
    let to = cursor;
    let transactions = 0;
    try {
      while (events.length < batchMax.events && transactions < batchMax.transactions && this.#isBeforeHead(to)) {
        const timed = await within(clock, readMsMax, reader.next());
        if (!timed.ok || timed.value === "closed") break;
        const { value } = timed;
        if (value === "lost" || value === "invalid") {
          return events.length > 0 ? { events, to } : beginAnew(this.#parts, { stage, cursor });
        }
        events.push(value);
        to = value.cursor;
        if (value.type === "block") transactions += value.transactions;
      }
    } finally {
      reader.end();
    }
    return events.length === 0 ? null : { events, to };
  }

  /** What those at the head have not been told is left to them, but for a block that they have left themselves. */
  #isBeforeHead(cursor: string): boolean {
    const { log } = this.#parts;
    const head = this.#headCursor();
    if (head === "" || areLevel(cursor, head)) return false;
    const [own, theirs] = [log.placeOf(cursor, this.#stage), log.placeOf(head, this.#stage)];
    return own === null || theirs === null || own.slot <= theirs.slot;
  }

  /** Null where the store says that they are elsewhere. */
  async #write(
    batch: ReadBlocks,
    webhooks: readonly BehindWebhook[],
  ): Promise<{ readonly full: readonly string[] } | null> {
    const { set, schedule, listener, network, events, clock } = this.#parts;
    const stage = this.#stage;
    const ids = new Set(webhooks.map(({ webhookId }) => webhookId));
    const beganMs = clock.monotonic();
    for (;;) {
      const { revision } = set;
      const told = { stage, tells: ({ id }: IndexedWebhook) => ids.has(id), ids: () => [...ids] };
      const deliveries = await matchBlocks(this.#parts, batch, told);
      const outcome = await schedule.catchUp({ stage, webhooks, to: batch.to, revision, deliveries });
      if (!outcome.ok && outcome.code === "CURSOR") return null;
      if (outcome.ok) {
        const full = new Set(outcome.full);
        const made: readonly NewDelivery[] = deliveries.filter(({ webhookId }) => !full.has(webhookId));
        if (made.length > 0) listener.committed({ network, stage, deliveries: made });
        events.schedulerWrote(network, { stage, blocks: 0, deliveries: made, delayMs: clock.monotonic() - beganMs });
        return outcome;
      }
      events.schedulerMatchedAgain(network, stage);
      await set.reload();
      // One that was paused or deleted meanwhile has left the store as well.
      if (webhooks.some(({ webhookId }) => set.find(webhookId)?.behind[stage] == null)) return null;
    }
  }
}
