import { type Clock, sleep } from "@sluice/lib";
import type { Slot } from "@sluice/wire/identifiers";
import type { BlockSource } from "../../ingest/index.ts";

/** A node as backfill asks it, within the node's own rate. */
export type BackfillSource = Pick<BlockSource, "node" | "fetchBlock" | "fetchSlots">;

/** What backfill keeps of a block until it is written. */
export interface FetchedBody {
  readonly slot: bigint;
  readonly blockhash: string;
  readonly parentSlot: bigint;
  readonly parentBlockhash: string;
  readonly body: Uint8Array;
}

/** Why slots cannot be filled now, in words for an operator. */
export class BackfillFault extends Error {
  override readonly name = "BackfillFault";
}

const limits = {
  /** Blocks that are asked for at one time. */
  atOnce: 8,
  /** Rounds over all nodes for one question, and the wait after a round. */
  rounds: 40,
  waitMs: 250,
} as const;

/** Asks the nodes of a network for blocks of the past, whoever answers first in their order. */
export class BlockFetcher {
  readonly #sources: () => readonly BackfillSource[];
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  #inFlight = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(dependencies: {
    /** Those with old blocks first. */
    readonly sources: () => readonly BackfillSource[];
    readonly clock: Clock;
    readonly signal: AbortSignal;
  }) {
    this.#sources = dependencies.sources;
    this.#clock = dependencies.clock;
    this.#signal = dependencies.signal;
  }

  /** @throws {BackfillFault} when no node gives the block */
  async block(slot: bigint): Promise<FetchedBody> {
    await this.#enter();
    try {
      let reason = "no node can be asked";
      for (let round = 0; round < limits.rounds && !this.#signal.aborted; round++) {
        let isLimited = false;
        for (const source of this.#sources()) {
          const answer = await source.fetchBlock(slot as Slot, this.#signal);
          if (answer.kind === "present") {
            const { header, body } = answer.block;
            const { blockhash, parentSlot, parentBlockhash } = header;
            return { slot, blockhash, parentSlot, parentBlockhash, body };
          }
          const isBusy = answer.kind === "unavailable" && answer.reason === "limited";
          isLimited ||= isBusy;
          if (!isBusy) reason = `${source.node} ${answer.kind === "absent" ? "has no such block" : answer.reason}`;
        }
        // Only a node whose rate was used up may answer otherwise soon.
        if (!isLimited) break;
        await sleep(this.#clock, limits.waitMs, this.#signal);
      }
      throw new BackfillFault(`the block of slot ${slot} cannot be had: ${reason}`);
    } finally {
      this.#leave();
    }
  }

  /**
   * Slots that have blocks, from `first` to below `until`, as some node lists them: a hint, which parent links prove.
   * @throws {BackfillFault} when no node lists them
   */
  async slots({ first, until }: { readonly first: bigint; readonly until: bigint }): Promise<readonly bigint[]> {
    await this.#enter();
    try {
      for (let round = 0; round < limits.rounds && !this.#signal.aborted; round++) {
        for (const source of this.#sources()) {
          const slots = await source.fetchSlots(first as Slot, (until - 1n) as Slot, this.#signal);
          if (slots !== null) return slots;
        }
        await sleep(this.#clock, limits.waitMs, this.#signal);
      }
      throw new BackfillFault(`no node lists the blocks from slot ${first} on`);
    } finally {
      this.#leave();
    }
  }

  async #enter(): Promise<void> {
    if (this.#inFlight < limits.atOnce) this.#inFlight++;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  #leave(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#inFlight--;
    else next();
  }
}
