import { type Clock, sleep } from "@sluice/lib";
import type { Slot } from "@sluice/wire/identifiers";
import { type BackfillSource, type FetchedBody, SlotWords } from "./slot-words.ts";

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

/**
 * Asks the nodes of a network for blocks of the past: whoever answers first in their order gives a block, and a second
 * node says the same of it. Where no other node can say anything, the word of one is enough, and counted.
 */
export class BlockFetcher {
  readonly #sources: () => readonly BackfillSource[];
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  readonly #tookSingleWord: () => void;
  /** The newest slot of which a node has said that it holds it no more. */
  readonly #prunedUpTo = new Map<string, bigint>();
  #inFlight = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(dependencies: {
    /** Those with old blocks first. */
    readonly sources: () => readonly BackfillSource[];
    readonly clock: Clock;
    readonly signal: AbortSignal;
    /** A block is taken of which one node alone could say anything. */
    readonly tookSingleWord: () => void;
  }) {
    this.#sources = dependencies.sources;
    this.#clock = dependencies.clock;
    this.#signal = dependencies.signal;
    this.#tookSingleWord = dependencies.tookSingleWord;
  }

  /** @throws {BackfillFault} when no node gives the block, or nodes give different ones */
  async block(slot: bigint): Promise<FetchedBody> {
    await this.#enter();
    try {
      const words = new SlotWords(slot, this.#signal);
      for (let round = 0; round < limits.rounds && !this.#signal.aborted; round++) {
        const isLimited = await this.#askAll(slot, words);
        const agreed = words.agreed();
        if (agreed !== null) return agreed;
        // Only a node whose rate was used up may answer otherwise soon.
        if (!isLimited) break;
        await sleep(this.#clock, limits.waitMs, this.#signal);
      }
      if (words.isDisputed) throw new BackfillFault(`nodes give different blocks of slot ${slot}`);
      const { alone, silence } = words;
      if (alone === null || this.#signal.aborted) {
        throw new BackfillFault(`the block of slot ${slot} cannot be had: ${silence ?? "no node can be asked"}`);
      }
      this.#tookSingleWord();
      return alone;
    } finally {
      this.#leave();
    }
  }

  /** One question to each node that has not answered, until two agree; returns whether the rate of one was used up. */
  async #askAll(slot: bigint, words: SlotWords): Promise<boolean> {
    let isLimited = false;
    for (const source of this.#sources()) {
      if (words.hasSpoken(source) || slot <= (this.#prunedUpTo.get(source.node) ?? -1n)) continue;
      const silent = await words.ask(source);
      if (silent?.kind === "unavailable" && silent.reason === "pruned") this.#prunedUpTo.set(source.node, slot);
      isLimited ||= silent?.kind === "unavailable" && silent.reason === "limited";
      if (words.agreed() !== null) break;
    }
    return isLimited;
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
