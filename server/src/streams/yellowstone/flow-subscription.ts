import { type ErrorCode, errorTable } from "@sluice/contract/errors";
import { yellowstoneBounds } from "@sluice/contract/yellowstone";
import { packCreatedAt, type SlotUpdate } from "@sluice/encode/updates";
import { BoundedMap, type WallMs } from "@sluice/lib";
import type { Slot } from "@sluice/wire/identifiers";
import { LogError, type Stage } from "../../log/index.ts";
import { GrpcStatusError, type PackedMessage } from "../../net/index.ts";
import type { FlowBlock } from "../flow/flow-block.ts";
import type {
  FlowEnd,
  FlowFrom,
  FlowMembership,
  FlowOutcome,
  FlowPosition,
  FlowReceiver,
} from "../flow/flow-receiver.ts";
import type { NetworkFlow } from "../flow/flows.ts";
import type { FeedItem, NodeFeed, NodeFeedListener } from "./node-feed.ts";
import type { Outgoing } from "./outgoing.ts";
import type { Plan } from "./plan.ts";
import type { Plans } from "./plans.ts";
import { missed } from "./processed-subscription.ts";
import type { BlockContent, SlotExtras } from "./slot-content.ts";
import { type ReachedSlot, rankOf, type SlotStatuses } from "./slot-statuses.ts";
import type { ToldBlocks } from "./told-blocks.ts";

/** Blocks for which the node may still owe accounts or entries. */
const waitingBlocksMax = 64;
/** Slots whose later stages are remembered: more than lie between processed and finalized. */
const laterMax = 256;

interface WaitingBlock {
  readonly block: FlowBlock;
  readonly cursor: string;
}

export interface FlowSubscriptionDependencies {
  readonly flow: Pick<NetworkFlow, "join" | "joinPast" | "firstSlot" | "newest" | "log">;
  readonly plans: Plans;
  readonly statuses: SlotStatuses;
  readonly outgoing: Outgoing;
  readonly contentOf: (block: FlowBlock) => BlockContent;
  readonly now: () => WallMs;
  readonly end: (fault: GrpcStatusError) => void;
  /** Takes a token of the key's requests, as whoever reads what the log no longer holds. */
  readonly mayRead: () => Promise<boolean>;
  readonly gap: () => void;
  /** A block is told at processed later than it happened. */
  readonly late: () => void;
  /** Null where the filters ask for nothing that blocks do not hold. */
  readonly feed: NodeFeed | null;
  readonly contentWith: (block: FlowBlock, extras: SlotExtras) => BlockContent;
  /** What the stream was told at its commitment, by this request and those before it. */
  readonly toldBlocks: ToldBlocks;
}

/**
 * What one stream is told of the flow by one request: the content of each slot at the stream's commitment and its
 * status after that, and what other stages slots reach, each slot's in their order.
 */
export class FlowSubscription implements FlowReceiver, NodeFeedListener, Disposable {
  readonly plan: Plan;
  readonly isProcessed = false;
  readonly #stage: Stage;
  readonly #dependencies: FlowSubscriptionDependencies;
  #membership: FlowMembership | null = null;
  #listening: Disposable | null = null;
  #isLive = false;
  #from: FlowFrom = "live";
  #isOver = false;
  #feeding: Disposable | null = null;
  /** Blocks whose accounts and entries the node has not told to their end. */
  readonly #waiting: WaitingBlock[] = [];
  /** After what was told last. */
  #cursor = "";
  /** The last slot that was told at the stream's commitment. */
  #told: Slot | null = null;
  /** The last slot that was whole before it began, live or where another request had got to; else null. */
  #began: Slot | null = null;
  /** By block, the last stage beyond the stream's commitment that was told, so that none is told again by a fork. */
  readonly #later = new BoundedMap<string, Stage>({ max: laterMax });

  constructor(plan: Plan, dependencies: FlowSubscriptionDependencies) {
    this.plan = plan;
    this.#stage = plan.filters.commitment;
    this.#dependencies = dependencies;
  }

  get request(): Plan["request"] {
    return this.plan.request;
  }

  /** Where another request of the stream goes on: live with the others, or where this one has got to. */
  get position(): FlowFrom {
    if (this.#isLive) return "live";
    // Until the past has answered, nothing was told.
    return this.#cursor === "" ? this.#from : { cursor: this.#cursor };
  }

  /**
   * Begins, in a later step where the log no longer holds the place and the past is asked; the stream ends OUT_OF_RANGE
   * where that does not hold it either. @throws {LogError} when the log is closed
   */
  begin(from: FlowFrom): void {
    const { flow, statuses, feed } = this.#dependencies;
    this.#feeding = feed?.join(this) ?? null;
    this.#from = from;
    this.#isLive = from === "live";
    const outcome = flow.join({ stage: this.#stage, from }, this);
    if (outcome.ok && (from === "live" || "cursor" in from)) this.#beganAt(outcome.cursor);
    if (this.plan.filters.hasSlots) this.#listening = statuses.join((reached) => this.#reached(reached));
    if (outcome.ok || outcome.code === "CURSOR_INVALID" || from === "live") this.#begun(from, outcome);
    else void this.#beginInPast(from);
  }

  /** What was before a stream that begins live counts as told. */
  #beganAt(cursor: string): void {
    const { flow, toldBlocks } = this.#dependencies;
    const place = flow.log.placeOf(cursor, this.#stage);
    if (place === null) return;
    this.#began = place.index === null ? place.slot : ((place.slot - 1n) as Slot);
    if (this.#isLive && toldBlocks.isEmpty) toldBlocks.addBefore(place, flow.log);
  }

  async #beginInPast(from: Exclude<FlowFrom, "live">): Promise<void> {
    const { flow, mayRead, end } = this.#dependencies;
    try {
      if (await mayRead()) this.#begun(from, await flow.joinPast({ stage: this.#stage, from }, this));
      else end(refusedFor("RESOURCE_EXHAUSTED", "RATE_LIMIT_EXCEEDED"));
    } catch (error) {
      // The log has closed meanwhile, or what holds the past is away.
      end(error instanceof LogError ? shuttingDown() : refusedFor("UNAVAILABLE", "STORE_UNAVAILABLE"));
    }
  }

  #begun(from: FlowFrom, outcome: FlowOutcome): void {
    if (outcome.ok) {
      // Another request, or the end of the stream, may have come meanwhile.
      if (this.#isOver) outcome.membership[Symbol.dispose]();
      else this.#membership = outcome.membership;
      this.#cursor = outcome.cursor;
      return;
    }
    if (this.#isOver) return;
    const { end } = this.#dependencies;
    if (outcome.code === "CURSOR_INVALID") end(new GrpcStatusError("INTERNAL", "the stream's place is not known"));
    else end(tooOld(typeof from === "object" && "slot" in from ? from.slot : this.#last, outcome.firstSlot));
  }

  [Symbol.dispose](): void {
    this.#isOver = true;
    this.#membership?.[Symbol.dispose]();
    this.#listening?.[Symbol.dispose]();
    this.#feeding?.[Symbol.dispose]();
    this.#waiting.length = 0;
    this.#feeding = null;
    this.#membership = null;
    this.#listening = null;
  }

  block(block: FlowBlock, { cursor, skip }: FlowPosition): number | null {
    // The protocol knows a block that comes again as one.
    if (this.#dependencies.toldBlocks.has(block.header.blockhash)) {
      this.#cursor = cursor;
      return null;
    }
    if (this.#stage === "processed") this.#dependencies.late();
    if (!this.#isLive) return this.#replayed(block, { cursor, skip });
    if (this.#waiting.length >= waitingBlocksMax) {
      this.#dependencies.end(missed());
      return null;
    }
    this.#waiting.push({ block, cursor });
    this.#tellWaiting();
    return null;
  }

  /** The node has told something: a slot may be whole now. */
  item(item: FeedItem): void {
    if (item.kind === "slot" && this.#waiting.length > 0) this.#tellWaiting();
  }

  lost(): void {
    this.#dependencies.end(missed());
  }

  /** Tells the blocks of which everything is known, in their order. */
  #tellWaiting(): void {
    const { feed, contentOf, contentWith, end } = this.#dependencies;
    for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
      const { block, cursor } = next;
      const extras = feed?.extrasOf(block.header.slot, this) ?? null;
      if (extras === "pending") return;
      if (extras === "lost") {
        end(missed());
        return;
      }
      this.#waiting.shift();
      this.#tell(block, extras === null ? contentOf(block) : contentWith(block, extras), cursor);
    }
  }

  #tell(block: FlowBlock, content: BlockContent, cursor: string): void {
    const { outgoing, plans, statuses, end } = this.#dependencies;
    const { slot, parentSlot: parent, blockhash } = block.header;
    if (outgoing.waitingBytes > yellowstoneBounds.waitingBytes) {
      end(new GrpcStatusError("INTERNAL", "lagged to send an update"));
      return;
    }
    const below = rankOf(this.#stage) - 1;
    const lower = below < 0 ? undefined : ladder[below];
    const isBehind = lower !== undefined && this.#listening !== null && !statuses.hasReached(block.header, lower);
    if (isBehind) statuses.reached({ slot, parent, blockhash, stage: lower });
    outgoing.send(plans.live(this.plan, content));
    this.#send({ slot, parent, status: this.#stage });
    this.#passed(block, cursor);
  }

  undo(): void {
    // The protocol has no word for it at these commitments: what replaces the blocks is told.
  }

  gap(): void {
    // Nor for slots that cannot be had; they are counted.
    this.#dependencies.gap();
  }

  ready(): Promise<void> | null {
    return this.#dependencies.outgoing.ready();
  }

  caughtUp(): void {
    this.#isLive = true;
    if (this.#listening === null) return;
    // Slots that are on their way to the stream's commitment have told their statuses to others meanwhile.
    for (const { slot, parent, stage } of this.#dependencies.statuses.above(this.#last)) {
      if (rankOf(stage) < rankOf(this.#stage)) this.#send({ slot, parent, status: stage });
    }
  }

  ended(reason: FlowEnd): void {
    this.#membership = null;
    const { end } = this.#dependencies;
    if (reason === "expired") void this.#expired();
    else if (reason === "failed") end(new GrpcStatusError("INTERNAL", "internal error"));
    else end(shuttingDown());
  }

  /** The last slot that was told, by this request or before it; 0 without one. */
  get #last(): Slot {
    return this.#told ?? this.#began ?? (0n as Slot);
  }

  async #expired(): Promise<void> {
    const first = await this.#dependencies.flow.firstSlot(this.#stage).catch(() => null);
    if (!this.#isOver) this.#dependencies.end(tooOld(this.#last, first));
  }

  /** While it catches up a client is given as much as it reads; the rest of the block comes again. */
  #replayed(block: FlowBlock, { cursor, skip }: Pick<FlowPosition, "cursor" | "skip">): number | null {
    const { slot, parentSlot: parent } = block.header;
    const content = this.#dependencies.contentOf(block);
    const { outgoing } = this.#dependencies;
    const lower = ladder.slice(0, rankOf(this.#stage));
    const before = lower.flatMap((status) => this.#status({ slot, parent, status }));
    const messages = [
      ...before,
      ...this.plan.messages(content),
      ...this.#status({ slot, parent, status: this.#stage }),
    ];
    for (let at = skip; at < messages.length; at += 1) {
      if (outgoing.isFull && at > skip) return at - 1;
      const message = messages[at];
      if (message !== undefined) outgoing.send([message]);
    }
    this.#passed(block, cursor);
    return null;
  }

  /** The slot was told at the stream's commitment: tells the later stages that it has reached already. */
  #passed(block: FlowBlock, cursor: string): void {
    const { header } = block;
    const { slot, parentSlot: parent, blockhash } = header;
    this.#cursor = cursor;
    this.#dependencies.toldBlocks.add(header);
    this.#told = slot;
    if (this.#listening === null) return;
    for (const stage of ladder.slice(rankOf(this.#stage) + 1)) {
      if (this.#dependencies.statuses.hasReached(header, stage)) this.#sendLater({ slot, parent, blockhash, stage });
    }
  }

  #reached(reached: ReachedSlot): void {
    const { slot, parent, blockhash, stage } = reached;
    const rank = rankOf(stage) - rankOf(this.#stage);
    if (rank === 0) return;
    if (rank < 0) {
      // Those of a replay stand before its slots, and those behind them come at its end.
      if (this.#isLive) this.#send({ slot, parent, status: stage });
      return;
    }
    // One that is ahead is told of its later stages once it was told itself.
    const last = this.#later.get(blockhash);
    const isRepeated = last !== undefined && rankOf(last) >= rankOf(stage);
    const { toldBlocks } = this.#dependencies;
    const wasTold = toldBlocks.has(blockhash) || toldBlocks.isBefore(slot);
    if (wasTold && !isRepeated) this.#sendLater(reached);
  }

  #sendLater({ slot, parent, blockhash, stage }: ReachedSlot): void {
    this.#later.set(blockhash, stage);
    this.#send({ slot, parent, status: stage });
  }

  #status(update: SlotUpdate): PackedMessage[] {
    const message = this.plan.status(update, packCreatedAt(this.#dependencies.now()));
    return message === null ? [] : [message];
  }

  #send(update: SlotUpdate): void {
    this.#dependencies.outgoing.send(this.#status(update));
  }
}

const ladder: readonly Stage[] = ["processed", "confirmed", "finalized"];

/** An error of the table of the other endpoints, in the form of this one. */
function refusedFor(status: "RESOURCE_EXHAUSTED" | "UNAVAILABLE", code: ErrorCode): GrpcStatusError {
  return new GrpcStatusError(status, errorTable[code].text, { retryAfterSeconds: 1, publicCode: code });
}

export const shuttingDown = (): GrpcStatusError =>
  new GrpcStatusError("UNAVAILABLE", "server is shutting down try again later");

export function tooOld(asked: bigint, first: bigint | null): GrpcStatusError {
  const last = first === null ? "" : `, last available: ${first}`;
  return new GrpcStatusError("OUT_OF_RANGE", `broadcast from ${asked} is not available${last}`);
}
