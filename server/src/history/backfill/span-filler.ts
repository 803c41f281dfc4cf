import type { Network } from "@sluice/contract/tiers";
import type { Clock } from "@sluice/lib";
import type { DroppedBlock, HeldIdentity, LedgerChainStore, LinkedBlock, SlotSpan } from "../../ledger/index.ts";
import type { BlockRows } from "../writer/block-rows.ts";
import { BackfillFault, type BlockFetcher } from "./block-fetcher.ts";
import type { FetchedBody } from "./slot-words.ts";

/** Slots of one INSERT, and of which so many parts are fetched ahead of the one that is written. */
const partSlots = 16n;
const partsAhead = 4;
/** How far a neighbour is looked for in the ledger and at the nodes. */
const neighbourSlots = 512n;
/** Blocks that a node's list had left out, before one that was listed. */
const unlistedMax = 64;
/** Versions of backfill lie above those of all rows that it found. */
const versionsOfPart = 2n ** 32n;

export interface SpanFillerDependencies {
  readonly store: LedgerChainStore;
  readonly fetcher: BlockFetcher;
  readonly rows: BlockRows;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Blocks that are on disk, and where the span is held up to now. */
  readonly wrote: (blocks: number, until: bigint) => void;
}

/** The last block before what comes next; null where nothing is known before it. */
type Before = Pick<FetchedBody, "slot" | "blockhash"> | null;

/**
 * Fills slots that the ledger does not hold, from the first on. Each block has to name the one before it as its parent,
 * and the block after the span the last one: so nodes prove which slots were skipped. What is written is held at once.
 */
export class SpanFiller {
  readonly #network: Network;
  readonly #chain: HeldIdentity;
  readonly #dependencies: SpanFillerDependencies;

  constructor(network: Network, chain: HeldIdentity, dependencies: SpanFillerDependencies) {
    this.#network = network;
    this.#chain = chain;
    this.#dependencies = dependencies;
  }

  /**
   * @param final - the last slot that is final
   * @throws {BackfillFault} when nodes do not give the span, or contradict what is held
   */
  async fill(span: SlotSpan, final: bigint): Promise<void> {
    const { signal } = this.#dependencies;
    let before = await this.#lastBefore(span.first);
    const parts = partsOf(span);
    const ahead: Promise<readonly FetchedBody[]>[] = [];
    for (let next = 0; (ahead.length > 0 || next < parts.length) && !signal.aborted; ) {
      for (; ahead.length < partsAhead && next < parts.length; next++) {
        const fetched = this.#fetch(parts[next] as SlotSpan);
        // It is awaited in its turn.
        fetched.catch(() => undefined);
        ahead.push(fetched);
      }
      const listed = (await ahead.shift()) ?? [];
      if (listed.length === 0) continue;
      const blocks = await this.#linked(listed, before, span.first);
      await this.#write(blocks, span);
      const last = blocks.at(-1);
      if (last !== undefined) before = last;
    }
    if (!signal.aborted) await this.#close(span, { before, final });
  }

  async #fetch(part: SlotSpan): Promise<readonly FetchedBody[]> {
    const { fetcher } = this.#dependencies;
    const slots = await fetcher.slots(part);
    return await Promise.all(slots.map((slot) => fetcher.block(slot)));
  }

  /** The last block that the ledger holds before a slot; null where it holds none near. */
  async #lastBefore(slot: bigint): Promise<Before> {
    const first = slot > neighbourSlots ? slot - neighbourSlots : 0n;
    const { ranges } = await this.#dependencies.store.held(this.#network);
    if (!ranges.some(({ until }) => until === slot)) return null;
    const blocks = await this.#dependencies.store.blocksOf(this.#network, { first, until: slot });
    return blocks.at(-1) ?? null;
  }

  /** The blocks with those that the list had left out, each the parent of the next one. */
  async #linked(listed: readonly FetchedBody[], before: Before, first: bigint): Promise<readonly FetchedBody[]> {
    const chain: FetchedBody[] = [];
    for (const block of listed) {
      const last = chain.at(-1) ?? before;
      const unlisted: FetchedBody[] = [];
      let { slot, parentSlot, parentBlockhash } = block;
      // The block of slot 0 names itself as its parent's slot, and has none.
      while (slot > 0n && (last === null ? parentSlot >= first : parentBlockhash !== last.blockhash)) {
        if ((last !== null && parentSlot <= last.slot) || unlisted.length >= unlistedMax) {
          throw new BackfillFault(`the block of slot ${block.slot} does not follow on that of slot ${last?.slot}`);
        }
        const missed = await this.#dependencies.fetcher.block(parentSlot);
        if (missed.blockhash !== parentBlockhash) {
          throw new BackfillFault(`nodes give different blocks of slot ${parentSlot}`);
        }
        unlisted.unshift(missed);
        ({ slot, parentSlot, parentBlockhash } = missed);
      }
      chain.push(...unlisted, block);
    }
    return chain;
  }

  async #write(blocks: readonly FetchedBody[], span: SlotSpan): Promise<void> {
    const { store, rows, clock, wrote } = this.#dependencies;
    const [first] = blocks;
    const last = blocks.at(-1);
    if (first === undefined || last === undefined) return;
    rows.rows.clear();
    for (const { body } of blocks) rows.add(body, clock.now());
    const tables = rows.rows.encode();
    rows.rows.clear();
    const written = { first: first.slot, until: last.slot + 1n };
    await store.writeBlocks(this.#network, written, tables);
    await this.#reconcile(blocks, written);
    await this.#hold(span.first, last.slot + 1n);
    wrote(blocks.length, last.slot + 1n);
  }

  /** What the ledger has in these slots beside the blocks is not of the chain, and the blocks are. */
  async #reconcile(blocks: readonly FetchedBody[], { first, until }: SlotSpan): Promise<void> {
    const { store } = this.#dependencies;
    const own = new Set(blocks.map(({ blockhash }) => blockhash));
    const shown = await store.blocksOf(this.#network, { first, until });
    const seen = new Set(shown.map(({ blockhash }) => blockhash));
    const changes = [
      ...shown.filter(({ blockhash }) => !own.has(blockhash)).map((block) => ({ ...block, dropped: true })),
      ...blocks.filter(({ blockhash }) => !seen.has(blockhash)).map((block) => ({ ...block, dropped: false })),
    ];
    if (changes.length === 0) return;
    const { version } = await store.held(this.#network);
    const base = (version / versionsOfPart + 2n) * versionsOfPart;
    const rows = changes.map(({ slot, blockhash, dropped }, index): DroppedBlock => {
      return { slot, blockhash, dropped, version: base + BigInt(index) };
    });
    await store.markDropped(this.#network, rows);
  }

  /** The block after the span proves that the slots after the last one in it were skipped. */
  async #close(span: SlotSpan, { before, final }: { before: Before; final: bigint }): Promise<void> {
    const { store, fetcher, wrote } = this.#dependencies;
    const beyond = { first: span.until, until: span.until + neighbourSlots };
    const [held] = await store.blocksOf(this.#network, beyond);
    let next: Pick<LinkedBlock, "parentSlot" | "parentBlockhash"> | undefined = held;
    if (next === undefined && beyond.first <= final) {
      const until = beyond.until > final + 1n ? final + 1n : beyond.until;
      const [slot] = await fetcher.slots({ first: beyond.first, until });
      if (slot !== undefined) next = await fetcher.block(slot);
    }
    // Nothing is known beyond: the rest of the span is filled when there is.
    if (next === undefined) return;
    // Where no block is known before the span, that the next one's parent lies there proves that all of it was skipped.
    if (before === null && next.parentSlot >= span.first) {
      throw new BackfillFault(`no node has a block from slot ${span.first} to ${span.until - 1n}`);
    }
    if (before !== null && next.parentBlockhash !== before.blockhash) {
      throw new BackfillFault(`the block after slot ${span.until - 1n} does not follow on that of slot ${before.slot}`);
    }
    await this.#hold(span.first, span.until);
    wrote(0, span.until);
  }

  async #hold(first: bigint, until: bigint): Promise<void> {
    const { store } = this.#dependencies;
    const version = (await store.held(this.#network)).version + 1n;
    await store.hold(this.#network, this.#chain, { source: "backfill", first, until, version, cursor: "" });
  }
}

/** Parts of a span that begin at multiples of their size. */
function partsOf({ first, until }: SlotSpan): SlotSpan[] {
  const parts: SlotSpan[] = [];
  for (let at = first; at < until; ) {
    const end = (at / partSlots + 1n) * partSlots;
    const next = end < until ? end : until;
    parts.push({ first: at, until: next });
    at = next;
  }
  return parts;
}
