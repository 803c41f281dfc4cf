import type { Network } from "@sluice/contract/tiers";
import { type Clock, type Random, sleep } from "@sluice/lib";
import type { BlockEvents, BlockReader } from "../../events/index.ts";
import type { PastBlocks } from "../../history/index.ts";
import { areLevel, type ChainIdentity, type ChainLog } from "../../log/index.ts";
import type { NewDelivery, ShardSchedule, WebhookStage, WebhookStore } from "../../state/index.ts";
import type { BlockMemory } from "../bodies/block-memory.ts";
import type { EventPrices } from "../bodies/event-prices.ts";
import type { IndexedWebhook } from "../model/compiled-webhook.ts";
import { type ChainEvent, ChainReader, type ReadOutcome } from "./chain-reader.ts";
import type { SchedulingEvents } from "./events.ts";
import type { RowsListener } from "./rows-listener.ts";
import type { WebhookSet } from "./webhook-set.ts";

/** What the parts of a shard's scheduler share. */
export interface ShardParts {
  readonly network: Network;
  readonly shard: number;
  readonly chain: ChainIdentity;
  readonly log: Pick<ChainLog, "network" | "follow" | "placeOf" | "cursorAfter" | "earliest" | "latest">;
  readonly past: PastBlocks | null;
  readonly schedule: ShardSchedule;
  readonly webhooks: Pick<WebhookStore, "revision" | "queues">;
  readonly set: WebhookSet;
  readonly reader: BlockReader;
  readonly memory: BlockMemory;
  readonly prices: Pick<EventPrices, "at">;
  readonly listener: RowsListener;
  readonly clock: Clock;
  readonly random: Random;
  readonly events: SchedulingEvents;
}

/** Blocks that are matched and written together: what comes in one turn of the event loop, within these bounds. */
const batchMax = { events: 16, transactions: 4_000 } as const;
const retryMs = 250;
const retryMsMax = 5_000;
/** A cursor over blocks without deliveries is written this often; they are matched again by who goes on from it. */
const saveMs = 1_000;

/** What was read of the chain. */
export interface ReadBlocks {
  readonly events: readonly ChainEvent[];
  /** After them. */
  readonly to: string;
}

/** Whatever waits for the event loop has its turn between two blocks. */
const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Which webhooks are told by a batch, and their ids where those are needed. */
export interface ToldWebhooks {
  readonly stage: WebhookStage;
  readonly tells: (webhook: IndexedWebhook) => boolean;
  readonly ids: () => readonly string[];
}

/**
 * What the blocks of a batch say to those webhooks that are told by it. Webhooks may change meanwhile, which the
 * revision that the caller has read before shows. Blocks are not even unpacked where no webhook asks for the stage.
 */
export async function matchBlocks(
  parts: ShardParts,
  { events: batch }: ReadBlocks,
  { stage, tells, ids }: ToldWebhooks,
): Promise<NewDelivery[]> {
  const { set, schedule, memory, chain, network, clock, events } = parts;
  const deliveries: NewDelivery[] = [];
  if (!set.index.asksFor(stage)) return deliveries;
  let isFirst = true;
  for (const event of batch) {
    if (event.type !== "block") continue;
    if (!isFirst) await nextTurn();
    isFirst = false;
    const block = blockOf(parts, event);
    if (block === null) {
      const gap = { from: event.slot, to: event.slot, reason: "unreadable" };
      await schedule.noteGap(ids(), { stage, ...gap });
      events.schedulerGap(network, stage, gap);
      continue;
    }
    const prices = set.index.asksForPrices ? await parts.prices.at(network, block.block.blockTime) : null;
    if (prices === null && set.index.asksForPrices) events.schedulerPricesAway(network, stage);
    const beganMs = clock.monotonic();
    const found = set.index.match(block, { stage, genesisHash: chain.genesisHash, tells, prices });
    events.schedulerMatched(network, { stage, blocks: 1, ms: clock.monotonic() - beganMs });
    if (prices !== null && prices.unpriced > 0) events.schedulerUnpriced(network, stage, prices.unpriced);
    if (found.length === 0) continue;
    memory.keep(network, block);
    // A spread of many thousands would be as many arguments.
    for (const delivery of found) deliveries.push(delivery);
  }
  return deliveries;
}

/** Null for a block that cannot be read. */
function blockOf(
  { network, memory, reader }: ShardParts,
  { blockhash, read }: Extract<ChainEvent, { type: "block" }>,
): BlockEvents | null {
  const known = memory.find(network, blockhash);
  if (known !== null) return known;
  const block = read();
  if (block === null) return null;
  try {
    return reader.events(block);
  } catch (error) {
    if (error instanceof TypeError) return null;
    throw error;
  }
}

/** Tells the owners of webhooks of the gaps of a batch, before its cursor says that they were told. */
export async function noteGaps(
  { schedule, events, network, set }: ShardParts,
  batch: ReadBlocks,
  { stage, ids }: { readonly stage: WebhookStage; readonly ids: () => readonly string[] },
): Promise<void> {
  for (const event of batch.events) {
    if (event.type !== "gap") continue;
    const { from, to, reason } = event;
    await set.reload();
    const told = ids();
    if (told.length === 0) continue;
    await schedule.noteGap(told, { stage, from, to, reason });
    events.schedulerGap(network, stage, { from, to, reason });
  }
}

/** Where one goes on that cannot be told what comes after its cursor. */
export function beginAnew(
  { log }: Pick<ShardParts, "log">,
  { stage, cursor }: { readonly stage: WebhookStage; readonly cursor: string },
): ReadBlocks {
  const outcome = log.follow({ stage, from: "earliest" });
  // What is held is always to be had; a log that says otherwise cannot be followed.
  if (!outcome.ok) throw new TypeError(`the log cannot be followed from its beginning: ${outcome.code}`);
  const to = outcome.follower.cursor();
  void outcome.follower.return();
  const last = log.placeOf(cursor, stage)?.slot ?? null;
  const next = log.placeOf(to, stage)?.slot ?? null;
  if (last === null || next === null || next <= last) return { events: [], to };
  return { events: [{ type: "gap", from: last + 1n, to: next, reason: "expired", cursor: to }], to };
}

/** Makes deliveries of what happens at the head of one stage, for all webhooks of the shard that are not behind. */
export class StageScheduler implements AsyncDisposable {
  readonly #stage: WebhookStage;
  readonly #parts: ShardParts;
  readonly #ended = new AbortController();
  readonly #running: Promise<void>;
  #reader: ChainReader | null = null;
  /** Of the reader: what was asked for and has not come. */
  #asked: Promise<ReadOutcome> | null = null;
  #cursor = "";
  /** As the store has it. */
  #saved = "";
  #savedAtMs = 0;
  #failures = 0;
  /** Webhooks that were behind and have been told what the others have been told. */
  readonly #arrived: () => readonly string[];

  /** @param arrived - webhooks that are behind and have come to the head */
  constructor(stage: WebhookStage, parts: ShardParts, arrived: () => readonly string[]) {
    this.#stage = stage;
    this.#parts = parts;
    this.#arrived = arrived;
    this.#running = this.#run();
  }

  /** After what was matched; empty before the first block. */
  get cursor(): string {
    return this.#cursor;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ended.abort();
    this.#reader?.end();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { clock, events, network } = this.#parts;
    while (!this.#ended.signal.aborted) {
      try {
        await this.#follow();
        this.#failures = 0;
      } catch (error) {
        if (this.#ended.signal.aborted) return;
        events.schedulerFailed(network, this.#stage, error);
        this.#failures += 1;
        await sleep(clock, Math.min(retryMs * 2 ** (this.#failures - 1), retryMsMax), this.#ended.signal);
      } finally {
        this.#reader?.end();
        this.#reader = null;
        this.#asked = null;
      }
    }
  }

  /** From what the store has to the end; throws where the store or the log cannot be used. */
  async #follow(): Promise<void> {
    const { set, log, past } = this.#parts;
    await set.reload();
    // What was written last may have been written without an answer.
    await set.refreshBehind();
    this.#saved = await this.#stored();
    this.#cursor = this.#saved;
    if (this.#ended.signal.aborted) return;
    this.#reader = new ChainReader({ stage: this.#stage, cursor: this.#cursor }, { log, past });
    for (;;) {
      const batch = await this.#gather();
      if (batch === "closed" || this.#ended.signal.aborted) return;
      if (typeof batch === "string") {
        await this.#beginAnew(batch);
        return;
      }
      await this.#take(batch);
      this.#failures = 0;
    }
  }

  async #stored(): Promise<string> {
    const { schedule, shard } = this.#parts;
    const cursors = await schedule.cursors();
    const own = cursors.find((each) => each.shard === shard && each.stage === this.#stage);
    if (own === undefined) throw new TypeError("the shard has no cursor");
    return own.cursor;
  }

  /** Waits for what comes next, and takes what has come with it; or why nothing comes. */
  async #gather(): Promise<ReadBlocks | Extract<ReadOutcome, string>> {
    const first = await this.#next();
    if (typeof first === "string") return first;
    const events: ChainEvent[] = [first];
    let transactions = 0;
    while (events.length < batchMax.events && transactions < batchMax.transactions) {
      const last = events.at(-1);
      if (last?.type === "block") transactions += last.transactions;
      const more = await this.#ready();
      if (more === null || typeof more === "string") break;
      this.#asked = null;
      events.push(more);
    }
    return { events, to: events.at(-1)?.cursor ?? this.#cursor };
  }

  async #beginAnew(reason: "lost" | "invalid"): Promise<void> {
    const { events, network } = this.#parts;
    const stage = this.#stage;
    if (reason === "invalid") events.schedulerChainChanged(network, stage);
    const batch = beginAnew(this.#parts, { stage, cursor: this.#cursor });
    await noteGaps(this.#parts, batch, { stage, ids: () => this.#liveIds() });
    await this.#save(batch.to);
  }

  #ask(): Promise<ReadOutcome> {
    this.#asked ??= this.#reader?.next() ?? Promise.resolve("closed");
    return this.#asked;
  }

  async #next(): Promise<ReadOutcome> {
    const outcome = await this.#ask();
    this.#asked = null;
    return outcome;
  }

  /** What comes within this turn of the event loop; null where nothing does. It stays asked for. */
  async #ready(): Promise<ReadOutcome | null> {
    const asked = this.#ask();
    // Whoever waits for it later is told of a failure.
    asked.catch(() => undefined);
    return await Promise.race([asked, new Promise<null>((resolve) => setImmediate(() => resolve(null)))]);
  }

  async #take(batch: ReadBlocks): Promise<void> {
    const { clock, log, events, network } = this.#parts;
    const beganMs = clock.monotonic();
    await this.#join();
    const stage = this.#stage;
    await noteGaps(this.#parts, batch, { stage, ids: () => this.#liveIds() });
    const deliveries = await this.#write(batch);
    const blocks = batch.events.filter(({ type }) => type === "block").length;
    events.schedulerWrote(network, { stage, blocks, deliveries, delayMs: clock.monotonic() - beganMs });
    const newest = log.latest(stage)?.slot ?? null;
    const told = log.placeOf(this.#cursor, stage)?.slot ?? null;
    if (newest !== null && told !== null)
      events.schedulerLag(network, stage, Number(newest > told ? newest - told : 0n));
  }

  /** Those that have been told as much as the others go with them from here on. */
  async #join(): Promise<void> {
    const { set } = this.#parts;
    const stage = this.#stage;
    const joining = this.#arrived().flatMap((id) => {
      const from = set.find(id)?.behind[stage] ?? null;
      return from !== null && areLevel(from, this.#cursor) ? [{ webhookId: id, from }] : [];
    });
    if (joining.length === 0) return;
    // What is behind what is written would be told to them again by who goes on from there.
    await this.#save(this.#cursor);
    await set.join(stage, joining);
  }

  #liveIds(): readonly string[] {
    return this.#parts.set.live(this.#stage).map(({ id }) => id);
  }

  /** Matches and writes until both are of the same revision of the webhooks. */
  async #write(batch: ReadBlocks): Promise<readonly NewDelivery[]> {
    const { set, schedule, network, webhooks, events } = this.#parts;
    const stage = this.#stage;
    for (;;) {
      const { revision } = set;
      const behind = new Set(set.behind(stage).map(({ id }) => id));
      const tells = ({ id }: IndexedWebhook): boolean => !behind.has(id);
      const deliveries = await matchBlocks(this.#parts, batch, { stage, tells, ids: () => this.#liveIds() });
      if (deliveries.length === 0) {
        if ((await webhooks.revision(network)) === revision) {
          await this.#pass(batch.to);
          return [];
        }
      } else {
        const from = this.#saved;
        const outcome = await schedule.step({ stage, from, to: batch.to, revision, deliveries });
        if (outcome.ok) return this.#wrote(batch, { deliveries, behind: outcome.behind, from });
        if (outcome.code === "CURSOR") throw new TypeError("another scheduler has moved the cursor of the shard");
      }
      events.schedulerMatchedAgain(network, stage);
      await set.reload();
    }
  }

  #wrote(
    { to }: ReadBlocks,
    of: { readonly deliveries: readonly NewDelivery[]; readonly behind: readonly string[]; readonly from: string },
  ): readonly NewDelivery[] {
    const { set, clock, listener, network } = this.#parts;
    const stage = this.#stage;
    this.#cursor = to;
    this.#saved = to;
    this.#savedAtMs = clock.monotonic();
    const left = new Set(of.behind);
    const made = left.size === 0 ? of.deliveries : of.deliveries.filter(({ webhookId }) => !left.has(webhookId));
    if (left.size > 0) set.fallBehind(of.behind, { stage, from: of.from, nowMs: clock.now() });
    if (made.length > 0) listener.committed({ network, stage, deliveries: made });
    return made;
  }

  /** Blocks without deliveries: the cursor is written now and then. */
  async #pass(to: string): Promise<void> {
    const { clock } = this.#parts;
    if (clock.monotonic() - this.#savedAtMs >= saveMs) await this.#save(to);
    this.#cursor = to;
  }

  async #save(to: string): Promise<void> {
    const { schedule, clock } = this.#parts;
    if (to === this.#saved) return;
    if (!(await schedule.move({ stage: this.#stage, from: this.#saved, to }))) {
      throw new TypeError("another scheduler has moved the cursor of the shard");
    }
    this.#saved = to;
    this.#savedAtMs = clock.monotonic();
  }
}
