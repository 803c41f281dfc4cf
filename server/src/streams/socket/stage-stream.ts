import type { StreamChannel } from "@sluice/contract/streams";
import type { Random } from "@sluice/lib";
import {
  AccountMatcher,
  type BlockEvents,
  type FilterMember,
  TransactionMatcher,
  updateText,
} from "../../events/index.ts";
import { type BlockPlace, cursorWithin } from "../../log/index.ts";
import type { FanOut, FrameGroup } from "../../net/index.ts";
import type { FlowBlock } from "../flow/flow-block.ts";
import type {
  FlowEnd,
  FlowGap,
  FlowMembership,
  FlowOutcome,
  FlowPosition,
  FlowReceiver,
} from "../flow/flow-receiver.ts";
import { SentBlocks } from "./sent-blocks.ts";
import { dataText, gapText } from "./server-messages.ts";
import { accountFilterOf, slotData, type ToldStage, transactionFilterOf } from "./stream-events.ts";
import type { StreamSpec } from "./stream-spec.ts";

/** Blocks that are taken back, and the cursor after that. */
export interface Undone {
  readonly undo: BlockPlace;
  readonly back: BlockPlace;
  readonly cursor: string;
}

/** A subscription that is told live. */
export interface LiveMember {
  /** `gone` are the blocks of which the group published something since it joined, highest first. */
  undone(undone: Undone, gone: readonly BlockPlace[]): void;
  /** Nothing more is told. */
  ended(end: FlowEnd): void;
}

/** Equal subscriptions of any number of clients: what is told of them is written once. */
export class StreamGroup {
  readonly id: string;
  readonly channel: StreamChannel;
  readonly frames: FrameGroup;
  readonly sent = new SentBlocks();
  /** Each with the place of the last block that was published before it joined. */
  readonly members = new Map<LiveMember, number>();
  /** Its place in the matcher of its channel; null for channels without one. */
  filter: FilterMember<StreamGroup> | null = null;

  constructor(of: { readonly id: string; readonly channel: StreamChannel; readonly frames: FrameGroup }) {
    this.id = of.id;
    this.channel = of.channel;
    this.frames = of.frames;
  }

  publish(place: BlockPlace, cursor: string, data: string): void {
    this.sent.add(place);
    this.frames.publish(dataText({ channel: this.channel, id: this.id, slot: place.slot, cursor, data }));
  }

  undo(undone: Undone): void {
    const { slot } = undone.back;
    for (const [member, after] of [...this.members]) member.undone(undone, this.sent.above(slot, after));
    this.sent.dropAbove(slot);
  }
}

export interface StageStreamOptions {
  readonly commitment: ToldStage;
}

export interface StageStreamDependencies {
  readonly fanOut: FanOut;
  readonly random: Random;
  /** Joins the flow of the network's stage, live. */
  readonly join: (receiver: FlowReceiver) => FlowOutcome;
  /** Null for a block that cannot be told. */
  readonly read: (block: FlowBlock) => BlockEvents | null;
  /** Something is published from now on that belongs to a block of its own. */
  readonly publishing: () => void;
}

/**
 * The live subscriptions to one network at one commitment, in groups of equal ones. Each transaction and account of a
 * block is looked up once for all of them.
 */
export class StageStream implements FlowReceiver {
  readonly #options: StageStreamOptions;
  readonly #dependencies: StageStreamDependencies;
  readonly #groups = new Map<string, StreamGroup>();
  readonly #transactions: TransactionMatcher<StreamGroup>;
  readonly #accounts: AccountMatcher<StreamGroup>;
  #membership: FlowMembership | null = null;
  #cursor = "";

  constructor(options: StageStreamOptions, dependencies: StageStreamDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
    this.#transactions = new TransactionMatcher(dependencies.random);
    this.#accounts = new AccountMatcher(dependencies.random);
  }

  /** After what was told last; where who joins now begins. */
  get cursor(): string {
    return this.#cursor;
  }

  /**
   * Tells the member what comes next, with all whose subscriptions are equal.
   *
   * @throws {LogError} when the log is closed
   */
  enter(spec: StreamSpec, id: string, member: LiveMember): StreamGroup {
    this.#begin();
    const group = this.#groups.get(id) ?? this.#open(spec, id);
    group.members.set(member, group.sent.order);
    return group;
  }

  leave(group: StreamGroup, member: LiveMember): void {
    group.members.delete(member);
    if (group.members.size > 0 || this.#groups.get(group.id) !== group) return;
    this.#groups.delete(group.id);
    group.filter?.[Symbol.dispose]();
    if (this.#groups.size > 0) return;
    this.#membership?.[Symbol.dispose]();
    this.#membership = null;
  }

  #begin(): void {
    if (this.#membership !== null) return;
    const outcome = this.#dependencies.join(this);
    // Who begins live has no cursor that could be refused.
    if (!outcome.ok) throw new TypeError(`the live flow cannot be joined: ${outcome.code}`);
    this.#membership = outcome.membership;
    this.#cursor = outcome.cursor;
  }

  #open(spec: StreamSpec, id: string): StreamGroup {
    const { channel } = spec;
    const group = new StreamGroup({ id, channel, frames: this.#dependencies.fanOut.group(id) });
    this.#groups.set(id, group);
    if (channel === "transactions") group.filter = this.#transactions.add(transactionFilterOf(spec), group);
    else if (channel === "accounts") group.filter = this.#accounts.add(accountFilterOf(spec), group);
    return group;
  }

  block(block: FlowBlock, { cursor }: FlowPosition): null {
    this.#cursor = cursor;
    this.#dependencies.publishing();
    const { slot, blockhash } = block.header;
    const place = { slot, blockhash };
    this.#tell("slots", place, () => slotData(block.header, this.#options.commitment));
    const others = [...this.#groups.values()].filter(({ channel }) => channel !== "slots");
    if (others.length === 0) return null;
    const events = this.#dependencies.read(block);
    if (events === null) {
      const gap = { from: slot, to: slot, reason: "unreadable" };
      for (const group of others) group.frames.publish(gapText(group.id, gap, cursor));
      return null;
    }
    this.#tell("blocks", place, () => events.text(this.#options.commitment));
    this.#tellTransactions(events, place);
    this.#tellAccounts(events, place);
    return null;
  }

  /** Tells all subscriptions of a channel that says one thing of a block. */
  #tell(channel: "blocks" | "slots", place: BlockPlace, text: () => string): void {
    let data: string | null = null;
    for (const group of this.#groups.values()) {
      if (group.channel !== channel) continue;
      data ??= text();
      group.publish(place, this.#cursor, data);
    }
  }

  #tellTransactions(events: BlockEvents, place: BlockPlace): void {
    if (this.#transactions.groups === 0) return;
    for (const transaction of events.transactions) {
      const groups = this.#transactions.match(transaction.facts);
      if (groups.length === 0) continue;
      const cursor = cursorWithin(this.#cursor, transaction.index);
      const data = transaction.text(this.#options.commitment);
      for (const equal of groups) for (const group of equal.members()) group.publish(place, cursor, data);
    }
  }

  #tellAccounts(events: BlockEvents, place: BlockPlace): void {
    if (this.#accounts.groups === 0) return;
    const { updates } = events.accounts;
    for (const [index, update] of updates.entries()) {
      const groups = this.#accounts.match(update.account, update.owner);
      if (groups.length === 0) continue;
      const cursor = cursorWithin(this.#cursor, index);
      const data = updateText(place.slot, update);
      for (const equal of groups) for (const group of equal.members()) group.publish(place, cursor, data);
    }
  }

  undo(undo: BlockPlace, back: BlockPlace, { cursor }: FlowPosition): void {
    this.#cursor = cursor;
    this.#dependencies.publishing();
    for (const group of [...this.#groups.values()]) group.undo({ undo, back, cursor });
  }

  gap(gap: FlowGap, { cursor }: FlowPosition): void {
    this.#cursor = cursor;
    this.#dependencies.publishing();
    for (const group of this.#groups.values()) group.frames.publish(gapText(group.id, gap, cursor));
  }

  ready(): null {
    return null;
  }

  caughtUp(): void {}

  ended(end: FlowEnd): void {
    this.#membership = null;
    const members = [...this.#groups.values()].flatMap((group) => [...group.members.keys()]);
    for (const group of this.#groups.values()) group.filter?.[Symbol.dispose]();
    this.#groups.clear();
    for (const member of members) member.ended(end);
  }
}
