import type { Network } from "@sluice/contract/tiers";
import type { LedgerChainStore, SlotSpan } from "../../ledger/index.ts";
import { BackfillFault, type BlockFetcher } from "./block-fetcher.ts";

export interface AgedSlotsDependencies {
  readonly store: Pick<LedgerChainStore, "agedBefore">;
  readonly fetcher: BlockFetcher;
  /** The moment from which the ledger keeps blocks, Unix milliseconds; null where that is for ever. */
  readonly keptSince: () => number | null;
}

/** How far behind a slot its next block is looked for. */
const nextBlockSlots = 512n;

const later = (one: bigint, other: bigint): bigint => (one > other ? one : other);

/**
 * Which slots of a network are older than the ledger keeps blocks: their rows have gone, or would go as soon as they
 * are written. The ledger shows it of what it holds or held, and nodes of the rest.
 */
export class AgedSlots {
  readonly #network: Network;
  readonly #dependencies: AgedSlotsDependencies;
  #inLedger = 0n;
  #atNodes = 0n;

  constructor(network: Network, dependencies: AgedSlotsDependencies) {
    this.#network = network;
    this.#dependencies = dependencies;
  }

  /** Slots below it are too old, as far as it is known. */
  get before(): bigint {
    return later(this.#inLedger, this.#atNodes);
  }

  /** Has the ledger say it. @throws {LedgerUnavailableError | LedgerQueryError} */
  async look(): Promise<void> {
    const sinceMs = this.#dependencies.keptSince();
    this.#inLedger = sinceMs === null ? 0n : await this.#dependencies.store.agedBefore(this.#network, sinceMs);
  }

  /** The part of a span that is not known to be too old; null where that is none. */
  known(span: SlotSpan): SlotSpan | null {
    const first = later(span.first, this.before);
    return first < span.until ? { first, until: span.until } : null;
  }

  /**
   * The part of a span that is not too old, as nodes have the times of its blocks; null where that is none. What they
   * do not show counts as not too old.
   */
  async kept(span: SlotSpan): Promise<SlotSpan | null> {
    const sinceMs = this.#dependencies.keptSince();
    if (sinceMs === null) return span;
    try {
      let { first, until } = span;
      // Of most spans the first block is kept, and so are all.
      for (let middle = first; first < until; middle = (first + until) / 2n) {
        const agedSlot = await this.#agedFrom({ first: middle, until }, sinceMs);
        if (agedSlot === null) until = middle;
        else first = agedSlot + 1n;
        if (first > this.#atNodes && agedSlot !== null) this.#atNodes = first;
      }
    } catch (error) {
      if (!(error instanceof BackfillFault)) throw error;
    }
    return this.known(span);
  }

  /** The slot of the first block from a slot on, where that block is too old. @throws {BackfillFault} */
  async #agedFrom({ first, until }: SlotSpan, sinceMs: number): Promise<bigint | null> {
    const { fetcher } = this.#dependencies;
    const end = first + nextBlockSlots;
    const [slot] = await fetcher.slots({ first, until: until < end ? until : end });
    if (slot === undefined) return null;
    const { blockTime } = await fetcher.block(slot);
    return blockTime !== null && Number(blockTime) * 1_000 < sinceMs ? slot : null;
  }
}
