import type { Random } from "@sluice/lib";
import { AccountMatcher, type BlockEvents, TransactionMatcher, updateText } from "../../events/index.ts";
import { type BlockPlace, cursorWithin } from "../../log/index.ts";
import type { FlowBlock } from "../flow/flow-block.ts";
import type { FlowEnd, FlowGap, FlowPosition, FlowReceiver } from "../flow/flow-receiver.ts";
import type { SentOnItsOwn } from "./sent-blocks.ts";
import { dataText, gapText } from "./server-messages.ts";
import { accountFilterOf, slotData, type ToldStage, transactionFilterOf } from "./stream-events.ts";
import type { StreamSpec } from "./stream-spec.ts";

/** A message of a replay that waits for its turn. */
export interface WaitingMessage {
  readonly text: string;
  /** Where the subscription is after it. */
  readonly cursor: string;
}

export interface ReplayOptions {
  readonly spec: StreamSpec;
  readonly id: string;
  readonly commitment: ToldStage;
  /** Where it begins. */
  readonly cursor: string;
  /** Nothing of a lower slot is told; null for no bound. */
  readonly from: bigint | null;
}

export interface ReplayDependencies {
  readonly random: Random;
  /** Null for a block that cannot be told. */
  readonly read: (block: FlowBlock) => BlockEvents | null;
  /** Whether the client's tier sees a block of this time (Unix seconds; null where it is not known). */
  readonly sees: (blockTime: bigint | null) => boolean;
  readonly sent: SentOnItsOwn;
  /** The messages about blocks that are undone, highest first; `cursor` is where the chain goes on. */
  readonly undoMessages: (gone: readonly BlockPlace[], back: BlockPlace, cursor: string) => readonly WaitingMessage[];
  readonly nowMs: () => number;
  /** A message waits, where none did. */
  readonly offered: () => void;
  readonly caughtUp: () => void;
  /** The replay is over: the block lies before what the tier sees, or the flow has ended. */
  readonly ended: (end: FlowEnd | "tier") => void;
}

/** What may wait of one replay; the block is asked for again behind it. */
const waitingMax = { messages: 64, characters: 64 * 1024 } as const;

/**
 * One subscription on its way from the past to the head. What it is told waits here for the tier's messages a second
 * and for the client, and no more is taken meanwhile: a replay drops nothing.
 */
export class Replay implements FlowReceiver {
  readonly #options: ReplayOptions;
  readonly #dependencies: ReplayDependencies;
  readonly #items: (block: FlowBlock) => ItemSource | null;
  #waiting: WaitingMessage[] = [];
  #characters = 0;
  #cursor: string;
  #taken = 0;
  #room: PromiseWithResolvers<void> | null = null;
  /** The slot up to which it was told, and when it last came nearer to the head than before. */
  #slot: bigint | null = null;
  #nearest: bigint | null = null;
  #nearestMs: number;

  constructor(options: ReplayOptions, dependencies: ReplayDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
    this.#cursor = options.cursor;
    this.#nearestMs = dependencies.nowMs();
    this.#items = itemsOf(options, dependencies);
  }

  /** After what was sent last. */
  get cursor(): string {
    return this.#cursor;
  }

  get isWaiting(): boolean {
    return this.#waiting.length > 0;
  }

  /** Messages that were sent. */
  get taken(): number {
    return this.#taken;
  }

  /** Slots behind the head; null while nothing was told. */
  lagSlots(head: bigint | null): bigint | null {
    if (head === null || this.#slot === null) return null;
    return head < this.#slot ? 0n : head - this.#slot;
  }

  /** How long it has come no nearer to the head, in milliseconds; at the head, or above it, it comes no nearer. */
  stalledMs(head: bigint | null): number {
    const nowMs = this.#dependencies.nowMs();
    const { from } = this.#options;
    const lag = this.lagSlots(head);
    const isAbove = from !== null && (head === null || head < from);
    if (isAbove || (lag !== null && (this.#nearest === null || lag < this.#nearest || lag <= 1n))) {
      this.#nearest = lag;
      this.#nearestMs = nowMs;
    }
    return nowMs - this.#nearestMs;
  }

  /** Takes the message whose turn it is; undefined when none waits. */
  take(): string | undefined {
    const message = this.#waiting.shift();
    if (message === undefined) return undefined;
    this.#characters -= message.text.length;
    this.#taken += 1;
    this.#cursor = message.cursor;
    if (this.#waiting.length === 0) this.#empty();
    return message.text;
  }

  block(block: FlowBlock, { cursor, skip }: FlowPosition): number | null {
    const { slot, blockhash, blockTime } = block.header;
    if (!this.#dependencies.sees(blockTime)) {
      this.#dependencies.ended("tier");
      return null;
    }
    const items = this.#items(block);
    if (items === null) {
      this.gap({ from: slot, to: slot, reason: "unreadable" }, { cursor });
      return null;
    }
    const { id, spec } = this.#options;
    for (let index = skip; index < items.count; index += 1) {
      const data = items.dataAt(index);
      if (data === null) continue;
      if (this.#isFull) return index - 1;
      const within = items.isWhole ? cursor : cursorWithin(cursor, index);
      this.#dependencies.sent.add({ slot, blockhash });
      this.#slot = slot;
      this.#add({ text: dataText({ channel: spec.channel, id, slot, cursor: within, data }), cursor: within });
    }
    this.#passed(slot, cursor);
    return null;
  }

  undo(_undo: BlockPlace, back: BlockPlace, { cursor }: FlowPosition): void {
    const gone = this.#dependencies.sent.undo(back);
    for (const message of this.#dependencies.undoMessages(gone, back, cursor)) this.#add(message);
    this.#passed(back.slot, cursor);
  }

  gap(gap: FlowGap, { cursor }: Pick<FlowPosition, "cursor">): void {
    this.#add({ text: gapText(this.#options.id, gap, cursor), cursor });
    this.#passed(gap.to, cursor);
  }

  ready(): Promise<void> | null {
    if (this.#waiting.length === 0) return null;
    this.#room ??= Promise.withResolvers();
    return this.#room.promise;
  }

  caughtUp(): void {
    this.#dependencies.caughtUp();
  }

  ended(end: FlowEnd): void {
    this.#dependencies.ended(end);
  }

  /** Nothing of it is sent any more. */
  end(): void {
    this.#waiting = [];
    this.#characters = 0;
    this.#empty();
  }

  get #isFull(): boolean {
    return this.#waiting.length >= waitingMax.messages || this.#characters >= waitingMax.characters;
  }

  #add(message: WaitingMessage): void {
    this.#waiting.push(message);
    this.#characters += message.text.length;
    if (this.#waiting.length === 1) this.#dependencies.offered();
  }

  /** All up to there was told; where nothing waits it counts as sent. */
  #passed(slot: bigint, cursor: string): void {
    this.#slot = slot;
    const last = this.#waiting.at(-1);
    if (last === undefined) this.#cursor = cursor;
    else this.#waiting[this.#waiting.length - 1] = { text: last.text, cursor };
  }

  #empty(): void {
    this.#room?.resolve();
    this.#room = null;
  }
}

/** What a block has for one subscription. */
interface ItemSource {
  readonly count: number;
  /** Whether the one item is the block as a whole. */
  readonly isWhole: boolean;
  /** JSON text; null where the filter does not take the item. */
  dataAt(index: number): string | null;
}

function itemsOf(
  { spec, commitment }: ReplayOptions,
  { random, read }: ReplayDependencies,
): (block: FlowBlock) => ItemSource | null {
  if (spec.channel === "slots") {
    return ({ header }) => ({ count: 1, isWhole: true, dataAt: () => slotData(header, commitment) });
  }
  const reading = (of: (events: BlockEvents, slot: bigint) => ItemSource) => (block: FlowBlock) => {
    const events = read(block);
    return events === null ? null : of(events, block.header.slot);
  };
  if (spec.channel === "blocks") {
    return reading((events) => ({ count: 1, isWhole: true, dataAt: () => events.text(commitment) }));
  }
  if (spec.channel === "transactions") {
    const matcher = new TransactionMatcher<true>(random);
    matcher.add(transactionFilterOf(spec), true);
    return reading(({ transactions }) => ({
      count: transactions.length,
      isWhole: false,
      dataAt: (index) => {
        const transaction = transactions[index];
        if (transaction === undefined || matcher.match(transaction.facts).length === 0) return null;
        return transaction.text(commitment);
      },
    }));
  }
  const matcher = new AccountMatcher<true>(random);
  matcher.add(accountFilterOf(spec), true);
  return reading(({ accounts: { updates } }, slot) => ({
    count: updates.length,
    isWhole: false,
    dataAt: (index) => {
      const update = updates[index];
      if (update === undefined || matcher.match(update.account, update.owner).length === 0) return null;
      return updateText(slot, update);
    },
  }));
}
