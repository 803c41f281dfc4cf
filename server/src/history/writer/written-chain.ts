import type { Network } from "@sluice/contract/tiers";
import {
  type DroppedBlock,
  type EncodedRows,
  type HeldChain,
  type HeldIdentity,
  isSameHeldChain,
  type LedgerChainStore,
} from "../../ledger/index.ts";
import type { ChainIdentity } from "../../log/index.ts";

/** A block as the writer knows it. */
export interface WrittenBlock {
  readonly slot: bigint;
  readonly blockhash: string;
  readonly parentSlot: bigint;
  readonly parentBlockhash: string;
  /** Whether it was on the finalized chain when it was told. */
  readonly isFinal: boolean;
}

interface SlotPlace {
  readonly slot: bigint;
  readonly blockhash: string;
}

/** Slots that the writer holds without a hole. */
interface OpenRange {
  first: bigint;
  until: bigint;
  /** What the ledger has of it. */
  saved: bigint | null;
}

/** A block that an earlier writer has left above the watermark; one that it has not written whole has no parent. */
interface FoundBlock {
  readonly slot: bigint;
  readonly blockhash: string;
  readonly parentBlockhash: string | null;
}

interface Unsettled {
  readonly slot: bigint;
  readonly blockhash: string;
  readonly isFinal: boolean;
  readonly range: OpenRange;
}

export interface WrittenChainDependencies {
  readonly store: LedgerChainStore;
  readonly chain: ChainIdentity;
  readonly discardsOtherChain: boolean;
}

/** Versions of one writer lie above those of every writer before it. */
const versionsOfWriter = 2n ** 32n;
/** Blocks that are looked for above the watermark; more are never unsettled while a chain works. */
const unsettledSlotsMax = 1_000_000n;

/** A chain's identity as the ledger has it. */
export const identityOf = ({ genesisHash, firstBlockhash }: ChainIdentity): HeldIdentity => ({
  genesisHash,
  firstBlockhash: firstBlockhash ?? "",
});

/**
 * What the ledger holds of the chain, as its one writer knows it: blocks above the watermark, those that left the
 * chain, the ranges whose end moves, and the cursor. Every method may be repeated after a failure.
 */
export class WrittenChain {
  readonly #network: Network;
  readonly #store: LedgerChainStore;
  readonly #chain: HeldIdentity;
  #heldUntil: bigint | null;
  #version: bigint;
  #cursor: string;
  #range: OpenRange | null;
  /** Ranges before the present one whose last blocks are not settled. */
  #before: OpenRange[] = [];
  #unsettled: Unsettled[] = [];
  readonly #dropped: Set<string>;
  /** Blocks above the watermark that an earlier writer has left; null once it is known which are on the chain. */
  #found: readonly FoundBlock[] | null;
  /** Changes of ranges and cursor, and how many of them the ledger has. */
  #changes = 0;
  #saved = 0;

  private constructor(
    network: Network,
    { store, chain }: WrittenChainDependencies,
    of: { held: HeldChain; dropped: readonly string[]; found: readonly FoundBlock[] },
  ) {
    this.#network = network;
    this.#store = store;
    this.#chain = identityOf(chain);
    this.#heldUntil = of.held.ranges.at(-1)?.until ?? null;
    this.#version = (of.held.version / versionsOfWriter + 1n) * versionsOfWriter;
    this.#cursor = of.held.cursor ?? "";
    this.#range = of.held.writing === null ? null : { ...of.held.writing, saved: of.held.writing.until };
    this.#dropped = new Set(of.dropped);
    this.#found = of.found;
  }

  /** @throws {LedgerUnavailableError | LedgerQueryError} */
  static async read(network: Network, dependencies: WrittenChainDependencies): Promise<WrittenChain | "other chain"> {
    const { store, chain, discardsOtherChain } = dependencies;
    let held = await store.held(network);
    if (held.chain !== null && !isSameHeldChain(held.chain, identityOf(chain))) {
      if (!discardsOtherChain) return "other chain";
      await store.discard(network);
      held = await store.held(network);
    }
    const first = held.writing?.until ?? 0n;
    const dropped = await store.droppedFrom(network, first);
    const above = { first, until: first + unsettledSlotsMax };
    const whole = await store.blocksOf(network, above);
    const parts = await store.partsOf(network, above);
    const all: FoundBlock[] = [...whole, ...parts.map((part) => ({ ...part, parentBlockhash: null }))];
    const found = all.filter(({ slot }) => !held.ranges.some((range) => slot >= range.first && slot < range.until));
    const written = new WrittenChain(network, dependencies, { held, dropped, found });
    // So that no row of a writer before this one, which may still be on its way, stands above its own.
    written.#changes++;
    await written.save();
    return written;
  }

  /** Where the log is followed from. */
  get from(): "earliest" | { readonly cursor: string } {
    return this.#cursor === "" ? "earliest" : { cursor: this.#cursor };
  }

  /** Where the slots end that are held and final; null while none is held. */
  get heldUntil(): bigint | null {
    return this.#heldUntil;
  }

  /** What comes next does not follow on what is held. Blocks of which nobody will tell more leave the ledger. */
  async beginAnew(): Promise<void> {
    await this.#reconcileAt("");
    await this.#markDropped(this.#unsettled, true);
    this.#unsettled = [];
    this.#endRange();
    this.#cursor = "";
  }

  /** Writes blocks that follow each other, oldest first. */
  async write(blocks: readonly WrittenBlock[], tables: readonly EncodedRows[]): Promise<void> {
    const [first] = blocks;
    const last = blocks.at(-1);
    if (first === undefined || last === undefined) return;
    await this.#reconcileAt(first.parentBlockhash);
    await this.#store.writeBlocks(this.#network, { first: first.slot, until: last.slot + 1n }, tables);
    await this.#markDropped(
      blocks.filter(({ blockhash }) => this.#dropped.has(blockhash)),
      false,
    );
    const range = this.#rangeOf(first);
    for (const { slot, blockhash, isFinal } of blocks) this.#unsettled.push({ slot, blockhash, isFinal, range });
  }

  /** A block leaves the chain, and with it all that was told after `back`. Those that are told again come back. */
  async undo(
    { undo, back }: { readonly undo: SlotPlace; readonly back: Pick<SlotPlace, "slot"> },
    cursor: string,
  ): Promise<void> {
    await this.#reconcileAt(undo.blockhash);
    const above = this.#unsettled.filter(({ slot, blockhash }) => slot > back.slot && blockhash !== undo.blockhash);
    await this.#markDropped([undo, ...above], true);
    this.#unsettled = this.#unsettled.filter((block) => block.blockhash !== undo.blockhash && !above.includes(block));
    await this.save(cursor);
  }

  /** Slots are missing: what follows is a range of its own. */
  async gap({ from }: { from: bigint }, cursor: string): Promise<void> {
    const before = this.#found?.findLast(({ slot, parentBlockhash }) => slot < from && parentBlockhash !== null);
    if (before !== undefined) await this.#reconcileAt(before.blockhash);
    this.#endRange();
    await this.save(cursor);
  }

  /**
   * Counts blocks as final, up to a finalized one or up to those that were told as such.
   *
   * @returns whether there is something to save
   */
  settle(finalized: { readonly slot: bigint; readonly blockhash: string } | null): boolean {
    const count =
      1 + this.#unsettled.findLastIndex(({ blockhash, isFinal }) => isFinal || blockhash === finalized?.blockhash);
    for (const { slot, range } of this.#unsettled.splice(0, count)) {
      range.until = slot + 1n;
      if (this.#heldUntil === null || range.until > this.#heldUntil) this.#heldUntil = range.until;
    }
    if (count > 0) this.#changes++;
    return this.#changes > this.#saved;
  }

  /** Writes what has changed of ranges and cursor; a gap at the end is known with the block after it. */
  async save(cursor: string = this.#cursor): Promise<void> {
    if (cursor !== this.#cursor) this.#changes++;
    this.#cursor = cursor;
    const changes = this.#changes;
    if (changes === this.#saved || this.#range === null) return;
    for (const range of this.#before) if (range.saved !== range.until) await this.#hold(range, "");
    // Last, since the row with the highest version says where the next writer goes on.
    await this.#hold(this.#range, cursor);
    const waiting = new Set(this.#unsettled.map(({ range }) => range));
    this.#before = this.#before.filter((range) => waiting.has(range));
    this.#saved = changes;
  }

  async #hold(range: OpenRange, cursor: string): Promise<void> {
    const { first, until } = range;
    const version = this.#nextVersion();
    await this.#store.hold(this.#network, this.#chain, { source: "writer", first, until, version, cursor });
    range.saved = until;
  }

  /**
   * When it is known at which block the chain goes on: blocks that an earlier writer has written above the watermark,
   * and which do not lead to it, leave the ledger. Those that are told again come back.
   */
  async #reconcileAt(blockhash: string): Promise<void> {
    const range = this.#range;
    if (this.#found === null) return;
    const known = new Map(this.#found.map((block) => [block.blockhash, block]));
    const chain: Unsettled[] = [];
    for (let block = known.get(blockhash); block !== undefined && range !== null; ) {
      known.delete(block.blockhash);
      chain.push({ slot: block.slot, blockhash: block.blockhash, isFinal: false, range });
      block = block.parentBlockhash === null ? undefined : known.get(block.parentBlockhash);
    }
    await this.#markDropped([...known.values()], true);
    this.#unsettled = chain.toReversed();
    this.#found = null;
  }

  async #markDropped(blocks: readonly { slot: bigint; blockhash: string }[], dropped: boolean): Promise<void> {
    if (blocks.length === 0) return;
    const rows = blocks.map(({ slot, blockhash }): DroppedBlock => {
      return { slot, blockhash, dropped, version: this.#nextVersion() };
    });
    await this.#store.markDropped(this.#network, rows);
    for (const { blockhash } of blocks) {
      if (dropped) this.#dropped.add(blockhash);
      else this.#dropped.delete(blockhash);
    }
  }

  /** The range of a block that is written next: slots between its parent and it were skipped. */
  #rangeOf({ parentSlot }: Pick<WrittenBlock, "parentSlot">): OpenRange {
    const first = parentSlot + 1n;
    this.#range ??= { first, until: first, saved: null };
    // The chain went back beyond the block with which the range began.
    if (this.#range.until === this.#range.first && first < this.#range.first) {
      this.#range = { first, until: first, saved: null };
    }
    return this.#range;
  }

  #endRange(): void {
    if (this.#range !== null) this.#before.push(this.#range);
    this.#range = null;
  }

  #nextVersion(): bigint {
    this.#version += 1n;
    return this.#version;
  }
}
