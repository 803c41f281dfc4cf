import type { Network } from "@sluice/contract/tiers";
import { type Clock, sleep } from "@sluice/lib";
import {
  absentOperation,
  type ChainReads,
  joined,
  type LedgerAssetBlocks,
  type LedgerAssetReads,
  type LedgerAssetStore,
  missing,
  type SlotSpan,
} from "../../ledger/index.ts";
import { BlockIndexer } from "./block-indexer.ts";
import type { AssetIndexEvents } from "./events.ts";
import { AssetFill } from "./fill.ts";
import type { AssetNodes } from "./node-reads.ts";
import { type IndexedChain, readSpans, saveSpans } from "./progress.ts";
import { readAssets } from "./readings.ts";
import { readingRow } from "./rows.ts";
import { Unsettled } from "./unsettled.ts";

export interface AssetIndexerDependencies {
  readonly store: LedgerAssetStore;
  readonly reads: LedgerAssetReads;
  readonly blocks: LedgerAssetBlocks;
  readonly chain: Pick<ChainReads, "held">;
  readonly nodes: AssetNodes;
  readonly clock: Clock;
  readonly events: AssetIndexEvents;
}

const limits = {
  /** Slots that are indexed together. */
  slots: 128n,
  /** Rounds: while there is nothing to do, and after a failure. */
  everyMs: 300,
  failedMs: 1_000,
  /** How often the spans are written: a process that is killed indexes that much again. */
  saveMs: 5_000,
  /** Readings that are settled in one call, and those that are remembered. */
  settledAtOnce: 100,
  unsettledMax: 200_000,
  /** When what nodes refused is asked for again. */
  refusedMs: 60_000,
  /** How often readings of other processes are looked for, which nobody settles else. */
  recallMs: 60_000,
  /** Windows of the past in one round, so that the head does not wait for them. */
  windows: 8,
} as const;

/**
 * Keeps the index of assets of one network up to its blocks in the ledger, confirmed ones included: changes of leaves
 * as calls tell them, and accounts as nodes show them after the block. What was read at confirmed is read again when it
 * is final, so that no state of a fork that died stays. Slots that the ledger gets later are indexed then.
 */
export class AssetIndex {
  readonly #options: IndexedChain;
  readonly #dependencies: AssetIndexerDependencies;
  readonly #unsettled = new Unsettled();
  readonly #indexer: BlockIndexer;
  readonly #fill: AssetFill;
  #spans: readonly SlotSpan[] = [];
  #version = 0n;
  #saved = "";
  #savedAtMs = Number.NEGATIVE_INFINITY;
  #recalledAtMs = Number.NEGATIVE_INFINITY;
  #isOpen = false;
  /** Blocks of late that are indexed, by hash. */
  readonly #seen = new Map<string, bigint>();

  constructor(options: IndexedChain, dependencies: AssetIndexerDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
    this.#indexer = new BlockIndexer(options.network, { ...dependencies, unsettled: this.#unsettled });
    this.#fill = new AssetFill(options, { ...dependencies, indexer: this.#indexer });
  }

  /**
   * Indexes what there is, as far as one round goes.
   *
   * @returns whether there is more to do at once
   * @throws {Error} when the ledger or the nodes do not answer; the next round does it again
   */
  async round(): Promise<boolean> {
    const { network } = this.#options;
    const { chain, nodes, events } = this.#dependencies;
    await this.#recall();
    const { ranges, finalBefore, blocks } = await chain.held(network);
    if (blocks === null) return false;
    const first = greatest(finalBefore, blocks.from);
    await this.#indexHead({ first, until: blocks.to + 1n });
    const held = ranges.map(({ from, to }) => ({ first: from, until: to + 1n }));
    const windows = held.flatMap((span) => missing(span, this.#spans)).flatMap(windowsOf);
    // The newest first: what is asked for most, and what was indexed at the head already.
    for (const window of windows.slice(-limits.windows).toReversed()) await this.#indexFinal(window);
    await this.#settle(nodes.newestSlot("finalized"));
    const isFilling = await this.#fill.step();
    await this.#save();
    for (const [blockhash, slot] of this.#seen) if (slot < finalBefore - limits.slots) this.#seen.delete(blockhash);
    const indexedUntil = this.#spans.at(-1)?.until ?? 0n;
    const lagSlots = Number(indexedUntil >= finalBefore ? 0n : finalBefore - indexedUntil);
    const unsettled = this.#unsettled.size;
    const postponed = this.#unsettled.postponed(this.#dependencies.clock.monotonic());
    events.indexStands(network, { unsettled, postponed, lagSlots });
    return isFilling || windows.length > limits.windows;
  }

  /** What an earlier process left, and what others have read meanwhile. */
  async #recall(): Promise<void> {
    const { network, chain } = this.#options;
    const { store, reads, clock } = this.#dependencies;
    if (clock.monotonic() < this.#recalledAtMs + limits.recallMs) return;
    if (!this.#isOpen) {
      const { spans, version } = await readSpans(store, network, chain);
      this.#spans = spans;
      this.#version = version;
    }
    for (const reading of await reads.unsettled(network, limits.unsettledMax)) this.#unsettled.add(reading);
    this.#isOpen = true;
    this.#recalledAtMs = clock.monotonic();
  }

  /** Blocks that may leave the chain: those that were not indexed yet, a fork's among them. */
  async #indexHead(span: SlotSpan): Promise<void> {
    for (const window of windowsOf(span)) await this.#indexBlocks(window);
  }

  async #indexFinal(window: SlotSpan): Promise<void> {
    await this.#indexBlocks(window);
    this.#spans = joined([...this.#spans, window]);
  }

  async #indexBlocks({ first, until }: SlotSpan): Promise<void> {
    const { network } = this.#options;
    const named = await this.#dependencies.blocks.blocks(network, { from: first, to: until - 1n });
    const fresh = named.filter(({ blockhash }) => !this.#seen.has(blockhash));
    const [from, to] = [fresh[0]?.slot, fresh.at(-1)?.slot];
    if (from === undefined || to === undefined) return;
    await this.#indexer.index({ from, to });
    for (const { slot, blockhash } of fresh) this.#seen.set(blockhash, slot);
  }

  /** Reads again, finalized, what was read before the slot of the reading was final. */
  async #settle(finalizedSlot: bigint | null): Promise<void> {
    const { network } = this.#options;
    const { nodes, store, reads, clock, events } = this.#dependencies;
    if (finalizedSlot === null) return;
    const nowMs = clock.monotonic();
    const due = this.#unsettled.due(finalizedSlot, nowMs, limits.settledAtOnce);
    if (due.length === 0) return;
    const ids = due.map(({ asset }) => asset);
    const minimumSlot = due.reduce((highest, { slot }) => greatest(highest, slot), 0n);
    const known = await reads.byIds(network, ids);
    const holders = new Map(ids.map((id) => [id, [known.get(id)?.holding.tokenAccount ?? ""].filter(Boolean)]));
    const terms = { commitment: "finalized", minimumSlot, holders } as const;
    const { slot, assets, unheld } = await readAssets(nodes, ids, terms);
    await this.#indexer.readMembers({ slot, assets }, known);
    // What nodes refuse to tell of one asset holds up no other one.
    const told = due.filter(({ asset }) => !unheld.has(asset));
    const rows = told.map(({ asset: id, changedSlot }) => {
      const asset = assets.get(id) ?? null;
      const row = readingRow(id, asset, { slot, isFinal: true, changedSlot, known: known.get(id) });
      // What no final reading has ever shown was on a fork alone.
      return asset === null && known.get(id)?.isSettled !== true ? { ...row, operation: absentOperation } : row;
    });
    await store.write(network, rows);
    for (const reading of told) this.#unsettled.settled(reading);
    for (const reading of due) {
      if (unheld.has(reading.asset)) this.#unsettled.postpone(reading, nowMs + limits.refusedMs);
    }
    events.readingsIndexed(network, "finalized", rows.length);
    events.holdersRefused(network, unheld.size);
  }

  async #save(): Promise<void> {
    const { network, chain } = this.#options;
    const { store, clock } = this.#dependencies;
    const text = this.#spans.map(({ first, until }) => `${first}-${until}`).join();
    if (text === this.#saved || clock.monotonic() < this.#savedAtMs + limits.saveMs) return;
    this.#version += 1n;
    await saveSpans(store, { network, chain }, { spans: this.#spans, version: this.#version });
    this.#saved = text;
    this.#savedAtMs = clock.monotonic();
  }
}

/** Runs the index until it is disposed of. */
export class AssetIndexer implements AsyncDisposable {
  readonly #network: Network;
  readonly #index: AssetIndex;
  readonly #dependencies: Pick<AssetIndexerDependencies, "clock" | "events">;
  readonly #ended = new AbortController();
  readonly #running: Promise<void>;
  #isFailing = false;

  constructor(options: IndexedChain, dependencies: AssetIndexerDependencies) {
    this.#network = options.network;
    this.#dependencies = dependencies;
    this.#index = new AssetIndex(options, dependencies);
    this.#running = this.#run();
  }

  /** Ends after the round that runs. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#ended.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { clock } = this.#dependencies;
    while (!this.#ended.signal.aborted) {
      const waitMs = await this.#roundWait();
      if (waitMs > 0) await sleep(clock, waitMs, this.#ended.signal);
    }
  }

  /** Milliseconds until the next round. */
  async #roundWait(): Promise<number> {
    const { events } = this.#dependencies;
    try {
      const isBusy = await this.#index.round();
      this.#isFailing = false;
      return isBusy ? 0 : limits.everyMs;
    } catch (error) {
      events.indexFailed(this.#network, { error, isFirst: !this.#isFailing });
      this.#isFailing = true;
      return limits.failedMs;
    }
  }
}

/** The larger of two. */
const greatest = (one: bigint, other: bigint): bigint => (one < other ? other : one);

/** The parts of a span that are indexed one after the other. */
function windowsOf({ first, until }: SlotSpan): SlotSpan[] {
  const windows: SlotSpan[] = [];
  for (let from = first; from < until; from += limits.slots) {
    windows.push({ first: from, until: from + limits.slots < until ? from + limits.slots : until });
  }
  return windows;
}
