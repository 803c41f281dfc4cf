import { sleep } from "@sluice/lib";
import type { WebhookCursor, WebhookStage } from "../../state/index.ts";
import { webhookStages } from "../../state/index.ts";
import { type ShardParts, StageScheduler } from "./stage-scheduler.ts";
import { Stragglers } from "./stragglers.ts";

export interface ShardSchedulerOptions {
  /** Into how many shards the webhooks of the network are divided; the same in all processes. */
  readonly shards: number;
  /** Whether the network has any webhook, of whichever shard. */
  readonly hasWebhooks: () => Promise<boolean>;
}

const retryMs = 1_000;

/** The scheduler of one shard of a network over an open log, while this process holds its lease. */
export class ShardScheduler implements AsyncDisposable {
  readonly #options: ShardSchedulerOptions;
  readonly #parts: ShardParts;
  readonly #ended = new AbortController();
  readonly #open: AsyncDisposable[] = [];
  readonly #beginning: Promise<void>;

  constructor(options: ShardSchedulerOptions, parts: ShardParts) {
    this.#options = options;
    this.#parts = parts;
    this.#beginning = this.#begin();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ended.abort();
    await this.#beginning;
    await Promise.all(this.#open.map((part) => part[Symbol.asyncDispose]()));
  }

  /** The store may be away at the beginning. Never rejects. */
  async #begin(): Promise<void> {
    const { clock, events, network } = this.#parts;
    while (!this.#ended.signal.aborted) {
      try {
        await this.#layOut();
        break;
      } catch (error) {
        if (this.#ended.signal.aborted) return;
        events.schedulerFailed(network, "confirmed", error);
        await sleep(clock, retryMs, this.#ended.signal);
      }
    }
    if (this.#ended.signal.aborted) return;
    for (const stage of webhookStages) this.#openStage(stage);
  }

  #openStage(stage: WebhookStage): void {
    const stragglers: Stragglers = new Stragglers(stage, this.#parts, () => head.cursor);
    const head: StageScheduler = new StageScheduler(stage, this.#parts, () => stragglers.arrived);
    this.#open.push(stragglers, head);
  }

  /** Gives every shard a cursor for each stage where they are of another number of shards, or were never made. */
  async #layOut(): Promise<void> {
    const { schedule } = this.#parts;
    const { shards } = this.#options;
    for (;;) {
      const found = await schedule.cursors();
      if (isLaidOut(found, shards)) return;
      const next: WebhookCursor[] = [];
      for (const stage of webhookStages) {
        const cursor = await this.#beginOf(stage, found);
        for (let shard = 0; shard < shards; shard += 1) next.push({ shard, stage, cursor });
      }
      if (await schedule.layOut(next, found)) return;
      await sleep(this.#parts.clock, retryMs, this.#ended.signal);
      if (this.#ended.signal.aborted) return;
    }
  }

  /** Where the hindmost of the shards was; at first the head, or all that is held where webhooks wait for it. */
  async #beginOf(stage: WebhookStage, found: readonly WebhookCursor[]): Promise<string> {
    const { log } = this.#parts;
    let hindmost: { readonly cursor: string; readonly slot: bigint } | null = null;
    for (const { cursor } of found.filter((each) => each.stage === stage)) {
      const place = log.placeOf(cursor, stage);
      if (place !== null && (hindmost === null || place.slot < hindmost.slot)) {
        hindmost = { cursor, slot: place.slot };
      }
    }
    if (hindmost !== null) return hindmost.cursor;
    const from = found.length === 0 && !(await this.#options.hasWebhooks()) ? "latest" : "earliest";
    const outcome = log.follow({ stage, from });
    // What is held is always to be had; a log that says otherwise cannot be followed.
    if (!outcome.ok) throw new TypeError(`the log cannot be followed: ${outcome.code}`);
    const cursor = outcome.follower.cursor();
    void outcome.follower.return();
    return cursor;
  }
}

function isLaidOut(found: readonly WebhookCursor[], shards: number): boolean {
  const expected = new Set<string>();
  for (const stage of webhookStages) for (let shard = 0; shard < shards; shard += 1) expected.add(`${shard} ${stage}`);
  return found.length === expected.size && found.every(({ shard, stage }) => expected.has(`${shard} ${stage}`));
}
