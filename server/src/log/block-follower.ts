import { type Clock, invariant, sleep } from "@sluice/lib";
import { addressOfBytes, type Slot } from "@sluice/wire/identifiers";
import type { Block, ChainIndex } from "./chain-index.ts";
import { type CursorChain, encodeCursor, type LogPosition } from "./cursor.ts";
import type { Follower, LogEvent, Stage } from "./records.ts";
import { type FollowStep, isBeforeBound, nextStep, positionAfter } from "./steps.ts";

/** What a follower needs of its log. */
export interface FollowedLog {
  readonly index: ChainIndex;
  readonly of: CursorChain;
  readonly clock: Pick<Clock, "after">;
  /** Settles when the index has changed after the call, a follower has left or the log has closed. */
  changed(): Promise<void>;
  /** Null when the body is lost; the index says so then. @throws {LogError} while it cannot be read */
  bodyOf(block: Block): Promise<Uint8Array | null>;
  left(follower: BlockFollower): void;
}

/** A follower that is farther behind the head is told so, once until it is nearer than `caughtUp`. */
export const laggingSlots = { told: 150, caughtUp: 32 } as const;
const retryMs = 250;

/** The position of a follower of a log that has never held a block. */
const nowhere = { slot: 0n as Slot, blockhash: addressOfBytes(new Uint8Array(32)) };

export function isNowhere({ slot, blockhash }: LogPosition): boolean {
  return slot === nowhere.slot && blockhash === nowhere.blockhash;
}

/** Before the first block that is held. */
export function positionBefore(index: ChainIndex, stage: Stage): LogPosition {
  const root = index.earliest;
  if (root === null) return positionAfter(index, stage, nowhere);
  return positionAfter(index, stage, { slot: root.header.parentSlot, blockhash: root.header.parentBlockhash });
}

/** Tells one reader the chain. Its position is all that it holds, so a slow one costs no memory. */
export class BlockFollower implements Follower {
  readonly #log: FollowedLog;
  readonly #ended = new AbortController();
  #position: LogPosition;
  #isLagging = false;
  /** A follower that is taken over at every event gets on, since its first event is one of the chain. */
  #hasTold = false;
  #isBusy = false;

  constructor(log: FollowedLog, position: LogPosition) {
    this.#log = log;
    this.#position = position;
  }

  get stage(): Stage {
    return this.#position.stage;
  }

  /** Slots between what was told last and the newest block of the stage. */
  get lagSlots(): number {
    const newest = this.#log.index.newest(this.stage);
    const position = this.#position;
    if (newest === null || isNowhere(position)) return 0;
    const told = isBeforeBound(position) ? position.from - 1n : (position.told.at(-1) ?? position).slot;
    return Math.max(0, Number(newest.slot - told));
  }

  cursor(index?: number): string {
    const position = index === undefined ? this.#position : { ...this.#position, index };
    return encodeCursor(position, this.#log.of);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<LogEvent>> {
    invariant(!this.#isBusy, "a follower is asked for one event at a time");
    this.#isBusy = true;
    try {
      const event = await this.#event();
      return event === null ? { done: true, value: undefined } : { done: false, value: event };
    } finally {
      this.#isBusy = false;
    }
  }

  async return(): Promise<IteratorResult<LogEvent>> {
    this.#end();
    return { done: true, value: undefined };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#end();
  }

  #end(): void {
    if (this.#ended.signal.aborted) return;
    this.#ended.abort();
    this.#log.left(this);
  }

  async #event(): Promise<LogEvent | null> {
    const { index } = this.#log;
    while (!this.#ended.signal.aborted) {
      const changed = this.#log.changed();
      const { from } = this.#position;
      if (from === null && isNowhere(this.#position) && index.latest !== null && index.floor === 0n) {
        this.#position = positionBefore(index, this.stage);
      }
      const lagging = this.#laggingNow();
      if (lagging !== null) return lagging;
      const step = nextStep(index, this.#position);
      // An end wakes as a change does.
      if (step.kind === "wait") await changed;
      else {
        const event = await this.#told(step);
        this.#hasTold ||= event !== null;
        if (event !== null) return event;
      }
    }
    return null;
  }

  #laggingNow(): LogEvent | null {
    const { lagSlots } = this;
    if (lagSlots < laggingSlots.caughtUp) this.#isLagging = false;
    if (this.#isLagging || !this.#hasTold || lagSlots <= laggingSlots.told) return null;
    this.#isLagging = true;
    return { type: "lagging", slots: lagSlots, cursor: this.cursor() };
  }

  async #told(step: Exclude<FollowStep, { kind: "wait" }>): Promise<LogEvent | null> {
    if (step.kind === "expired") {
      this.#end();
      return { type: "expired", firstSlot: this.#log.index.earliest?.slot ?? null };
    }
    if (step.kind === "block") return this.#block(step);
    this.#position = step.position;
    const cursor = this.cursor();
    if (step.kind === "undo") return { type: "undo", undo: step.undo, back: step.back, cursor };
    const { from, to, reason } = step.gap;
    return { type: "gap", from, to, reason, cursor };
  }

  /** Null when the body has to be waited for. */
  async #block({ block, skip, position }: Extract<FollowStep, { kind: "block" }>): Promise<LogEvent | null> {
    let body: Uint8Array | null = block.body;
    try {
      body ??= await this.#log.bodyOf(block);
    } catch {
      // The log says why it cannot be read; what a follower does about it is to ask again.
      await sleep(this.#log.clock, retryMs, this.#ended.signal);
      return null;
    }
    if (body === null || this.#ended.signal.aborted) return null;
    this.#position = position;
    return { type: "block", header: block.header, stage: position.stage, body, skip, cursor: this.cursor() };
  }
}
