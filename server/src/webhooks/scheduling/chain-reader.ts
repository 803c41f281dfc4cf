import { type ConfirmedBlock, unpackOnce } from "@sluice/encode";
import { MalformedBytes } from "@sluice/wire/bytes";
import { type PastBlocks, type PastEvent, PastReader } from "../../history/index.ts";
import type { ChainLog, Follower, LogEvent } from "../../log/index.ts";
import type { WebhookStage } from "../../state/index.ts";

/** What is read of the chain; `cursor` is after it. */
export type ChainEvent =
  | {
      readonly type: "block";
      readonly slot: bigint;
      readonly blockhash: string;
      readonly transactions: number;
      /** Null for a block whose body cannot be read. */
      readonly read: () => ConfirmedBlock | null;
      readonly cursor: string;
    }
  /** The chain goes on from an earlier block: what was told of those after it happened and is over. */
  | { readonly type: "undo"; readonly cursor: string }
  | {
      readonly type: "gap";
      readonly from: bigint;
      readonly to: bigint;
      readonly reason: string;
      readonly cursor: string;
    };

/** `lost`: what comes next is held nowhere. `invalid`: the cursor is of another chain. `closed`: it was ended. */
export type ReadOutcome = ChainEvent | "closed" | "lost" | "invalid";

export interface WebhookReaderOptions {
  readonly stage: WebhookStage;
  readonly cursor: string;
}

export interface WebhookReaderDependencies {
  readonly log: Pick<ChainLog, "network" | "follow" | "placeOf" | "cursorAfter" | "earliest">;
  /** What the log no longer holds; null where nothing else holds it. */
  readonly past: PastBlocks | null;
}

/** Reads the chain from a cursor on: from the log where that holds it, else from the past. */
export class ChainReader {
  readonly #stage: WebhookStage;
  readonly #log: WebhookReaderDependencies["log"];
  readonly #past: PastReader | null;
  #cursor: string;
  #follower: Follower | null = null;
  #isEnded = false;

  constructor({ stage, cursor }: WebhookReaderOptions, { log, past }: WebhookReaderDependencies) {
    this.#stage = stage;
    this.#cursor = cursor;
    this.#log = log;
    this.#past = past === null ? null : new PastReader(stage, { log, past });
  }

  /** What comes next; waits for it. @throws {unknown} as the log and the past do while they are away */
  async next(): Promise<ReadOutcome> {
    for (;;) {
      const event = await this.#step();
      if (event === "lagging") continue;
      if (typeof event !== "string") this.#cursor = event.cursor;
      return event;
    }
  }

  /** What waits is told that it is closed. */
  end(): void {
    this.#isEnded = true;
    void this.#follower?.return();
    this.#follower = null;
  }

  async #step(): Promise<ReadOutcome | "lagging"> {
    if (this.#isEnded) return "closed";
    if (this.#follower === null) {
      const outcome = this.#log.follow({ stage: this.#stage, from: { cursor: this.#cursor } });
      if (!outcome.ok) return outcome.code === "CURSOR_INVALID" ? "invalid" : await this.#nextOfPast();
      this.#follower = outcome.follower;
    }
    const { done, value } = await this.#follower.next();
    if (done === true || this.#isEnded) return "closed";
    if (value.type === "lagging") return "lagging";
    if (value.type !== "expired") return chainEventOf(value);
    this.#follower = null;
    return await this.#nextOfPast();
  }

  async #nextOfPast(): Promise<ReadOutcome> {
    const event = (await this.#past?.next(this.#cursor)) ?? null;
    return event === null ? "lost" : pastEventOf(event);
  }
}

function pastEventOf(event: PastEvent): ChainEvent {
  const { cursor } = event;
  if (event.type === "undo") return { type: "undo", cursor };
  const { slot, blockhash, transactions } = event.header;
  return { type: "block", slot, blockhash, transactions, read: () => event.block, cursor };
}

function chainEventOf(event: Exclude<LogEvent, { type: "expired" | "lagging" }>): ChainEvent {
  const { cursor } = event;
  if (event.type === "undo") return { type: "undo", cursor };
  if (event.type === "gap") return { type: "gap", from: event.from, to: event.to, reason: event.reason, cursor };
  const { slot, blockhash, transactions } = event.header;
  const read = (): ConfirmedBlock | null => {
    try {
      const block = unpackOnce(event.body);
      return block.slot === slot && block.blockhash === blockhash ? block : null;
    } catch (error) {
      if (error instanceof MalformedBytes) return null;
      throw error;
    }
  };
  return { type: "block", slot, blockhash, transactions, read, cursor };
}
