import type { Network } from "@sluice/contract/tiers";
import { type Clock, sleep } from "@sluice/lib";
import { type BackfillOrder, holes, type LedgerChainStore, missing, type SlotSpan } from "../../ledger/index.ts";
import type { ChainIdentity } from "../../log/index.ts";
import type { HistoryEvents } from "../events.ts";
import { BlockRows } from "../writer/block-rows.ts";
import { identityOf } from "../writer/written-chain.ts";
import { AgedSlots } from "./aged-slots.ts";
import { BackfillFault, BlockFetcher } from "./block-fetcher.ts";
import type { BackfillSource } from "./slot-words.ts";
import { SpanFiller } from "./span-filler.ts";

export interface ChainBackfillOptions {
  readonly network: Network;
  readonly chain: ChainIdentity;
  readonly votes: boolean;
  /** What sentences call the native currency; SOL where it is left out. */
  readonly nativeSymbol?: string | undefined;
}

export interface ChainBackfillDependencies {
  readonly store: LedgerChainStore;
  /** The nodes to ask, those with old blocks first. */
  readonly sources: () => readonly BackfillSource[];
  /** The last final slot that nodes show. */
  readonly finalized: () => bigint | null;
  /** The moment from which the ledger keeps blocks, Unix milliseconds; null where that is for ever. */
  readonly keptSince: () => number | null;
  readonly clock: Clock;
  readonly events: Pick<
    HistoryEvents,
    "backfillWrote" | "backfillSingleWord" | "backfillFailed" | "holesCounted" | "parserFault"
  >;
}

/** How backfill of a network does. */
export interface BackfillProgress {
  /** Slots that became held in the last minute, for each second; null while nothing is filled. */
  readonly slotsPerSecond: number | null;
  /** Why nothing is filled now; null while it is, or nothing is missing. */
  readonly fault: string | null;
  /** Slots below it are older than the ledger keeps blocks, as far as it is known. */
  readonly agedBefore: bigint;
}

const waits = { idleMs: 2_000, faultMs: 5_000, faultMsMax: 60_000 } as const;
/** Slots that are filled before it is looked again what is missing. */
const spanSlotsMax = 4_096n;
const rateWindowMs = 60_000;

/**
 * Fills what operators have ordered, the oldest order first, and the holes between what is held. One process of several
 * does: the one that writes the ledger. Killed, the next one goes on with what is not held.
 */
export class ChainBackfill implements AsyncDisposable {
  readonly #options: ChainBackfillOptions;
  readonly #dependencies: ChainBackfillDependencies;
  readonly #ended = new AbortController();
  readonly #filler: SpanFiller;
  readonly #aged: AgedSlots;
  readonly #running: Promise<void>;
  /** When slots became held, and how many. */
  #filled: { readonly atMs: number; readonly slots: number }[] = [];
  #heldUntil = 0n;
  #fault: string | null = null;
  #faults = 0;

  constructor(options: ChainBackfillOptions, dependencies: ChainBackfillDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
    const { store, sources, clock, events, keptSince } = dependencies;
    const { signal } = this.#ended;
    const { network, votes, nativeSymbol } = options;
    const fetcher = new BlockFetcher({
      ...{ sources, clock, signal },
      tookSingleWord: () => events.backfillSingleWord(network),
    });
    this.#aged = new AgedSlots(network, { store, fetcher, keptSince });
    this.#filler = new SpanFiller(network, identityOf(options.chain), {
      ...{ store, clock, signal, fetcher },
      rows: new BlockRows({ network, votes, nativeSymbol, unreadable: (of) => events.parserFault(network, of) }),
      wrote: (blocks, until) => this.#wrote(blocks, until),
    });
    this.#running = this.#run();
  }

  progress(): BackfillProgress {
    const nowMs = this.#dependencies.clock.monotonic();
    this.#filled = this.#filled.filter(({ atMs }) => nowMs - atMs < rateWindowMs);
    const [first] = this.#filled;
    const slots = this.#filled.reduce((sum, each) => sum + each.slots, 0);
    const seconds = first === undefined ? 0 : Math.max(1, (nowMs - first.atMs) / 1_000);
    const slotsPerSecond = first === undefined ? null : slots / seconds;
    return { slotsPerSecond, fault: this.#fault, agedBefore: this.#aged.before };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ended.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { clock, events } = this.#dependencies;
    const { signal } = this.#ended;
    while (!signal.aborted) {
      let waitMs: number = waits.idleMs;
      try {
        if (await this.#once()) waitMs = 0;
        this.#faults = 0;
        this.#fault = null;
      } catch (error) {
        this.#faults++;
        waitMs = Math.min(waits.faultMs * this.#faults, waits.faultMsMax);
        const message = error instanceof Error ? error.message : String(error);
        if (message !== this.#fault) events.backfillFailed(this.#options.network, message);
        this.#fault = message;
      }
      if (waitMs > 0) await sleep(clock, waitMs, signal);
    }
  }

  /** @returns whether there was something to fill */
  async #once(): Promise<boolean> {
    const { network, chain } = this.#options;
    const { store, finalized, events } = this.#dependencies;
    const final = finalized();
    const held = await store.held(network);
    const orders = (await store.backfills(network)).filter(({ state }) => state === "active");
    const holding = holes(held.ranges);
    if (orders.length + holding.length > 0) await this.#aged.look();
    // What would be removed as soon as it is written is not missing.
    const between = this.#notAged(holding);
    events.holesCounted(network, slotsOf(between));
    const own = identityOf(chain);
    // The writer decides what becomes of another chain.
    if (final === null || (held.chain !== null && held.chain.genesisHash !== own.genesisHash)) return false;
    const ordered = orders.map((order) => ({ order, left: this.#notAged(missing(order, held.ranges)) }));
    for (const { order, left } of ordered) {
      if (left.length === 0) await store.putBackfill(network, { ...order, state: "done" });
    }
    const wanted = [...ordered.flatMap(({ left }) => left), ...between];
    const spans = wanted.map(({ first, until }) => ({ first, until: until > final + 1n ? final + 1n : until }));
    return await this.#fillFirst(
      spans.filter(({ first, until }) => first < until),
      final,
    );
  }

  /** The first span that can be filled; one that cannot be had now does not keep the others waiting. */
  async #fillFirst(spans: readonly SlotSpan[], final: bigint): Promise<boolean> {
    let fault: BackfillFault | null = null;
    for (const span of spans) {
      if (this.#ended.signal.aborted) return false;
      const kept = await this.#aged.kept(span);
      // All of it is too old, which is known now: what is left is counted anew.
      if (kept === null) return true;
      const { first, until } = kept;
      this.#heldUntil = first;
      const end = first + spanSlotsMax;
      try {
        await this.#filler.fill({ first, until: until < end ? until : end }, final);
      } catch (error) {
        if (!(error instanceof BackfillFault)) throw error;
        fault ??= error;
      }
      if (this.#heldUntil > first) return true;
    }
    if (fault !== null) throw fault;
    return false;
  }

  #notAged(spans: readonly SlotSpan[]): SlotSpan[] {
    return spans.flatMap((span) => this.#aged.known(span) ?? []);
  }

  #wrote(blocks: number, until: bigint): void {
    const slots = Number(until - this.#heldUntil);
    this.#heldUntil = until;
    this.#filled.push({ atMs: this.#dependencies.clock.monotonic(), slots });
    this.#dependencies.events.backfillWrote(this.#options.network, blocks);
  }
}

const slotsOf = (spans: readonly SlotSpan[]): bigint =>
  spans.reduce((slots, { first, until }) => slots + until - first, 0n);

/** Of an order, how many of its slots are held; those below `aged` apart. */
export function heldSlots({ first, until }: BackfillOrder, held: readonly SlotSpan[], aged: bigint): bigint {
  const kept = { first: first > aged ? first : aged, until };
  return kept.first < until ? until - kept.first - slotsOf(missing(kept, held)) : 0n;
}
