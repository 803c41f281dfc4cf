import type { Network } from "@sluice/contract/tiers";
import { type Clock, Serial, within } from "@sluice/lib";
import { MalformedBytes } from "@sluice/wire/bytes";
import type { Slot } from "@sluice/wire/identifiers";
import type { EncodedRows, LedgerChainStore } from "../../ledger/index.ts";
import type { ChainIdentity, ChainLog, LogEvent } from "../../log/index.ts";
import type { HistoryEvents } from "../events.ts";
import { BlockRows } from "./block-rows.ts";
import { Persistence } from "./persistence.ts";
import { type WrittenBlock, WrittenChain } from "./written-chain.ts";

export interface LedgerWriterOptions {
  readonly network: Network;
  readonly chain: ChainIdentity;
  /** Whether instructions, movements and changes of votes have rows too. */
  readonly votes: boolean;
  /** What sentences call the native currency; SOL where it is left out. */
  readonly nativeSymbol?: string | undefined;
  /** Whether what the ledger holds of another chain is removed; else nothing is written beside it. */
  readonly discardsOtherChain: boolean;
  /** How long small rows of the head's blocks wait for those of the blocks after them. */
  readonly gatherMs?: number;
}

export interface LedgerWriterDependencies {
  readonly store: LedgerChainStore;
  readonly chainLog: Pick<ChainLog, "follow" | "latest" | "setWatermark">;
  readonly clock: Clock;
  readonly events: HistoryEvents;
}

/** Bounds of what is on its way into the ledger: one INSERT of each table that is sent, and one that is gathered. */
const limits = {
  /** Slots of one INSERT while the writer is behind, from a multiple of it on. */
  slots: 16n,
  /** Bytes of rows from which an INSERT takes no further block. */
  bytes: 24 * 1024 * 1024,
  /** How long rows wait for the block after them while the writer is behind. */
  waitMs: 200,
  /**
   * How long rows of the head's blocks are gathered where nothing else is said, and the bytes from which they no longer
   * are: an INSERT of a few rows takes 20 ms of a core, and one of each table for each block made a chain with nothing
   * but votes take a third of a core. With what the INSERT itself takes, a block is there within a second.
   */
  gatherMs: 600,
  gatheredBytes: 1024 * 1024,
  /** How often the watermark is looked at while no block comes. */
  settleMs: 1_000,
} as const;

/** Blocks that are written together. */
interface Batch {
  readonly blocks: readonly WrittenBlock[];
  readonly tables: readonly EncodedRows[];
  readonly cursor: string;
  readonly takenAtMs: number;
  readonly blockTime: bigint | null;
}

/**
 * Follows the chain's log at stage confirmed and writes its blocks into the ledger: at the head those of most of a
 * second, when behind up to sixteen slots at once. What is written, then the cursor after it: killed between the two it
 * writes the same again, which counts once. While the ledger takes nothing, blocks wait in the log.
 */
export class LedgerWriter implements AsyncDisposable {
  readonly #options: LedgerWriterOptions;
  readonly #dependencies: LedgerWriterDependencies;
  readonly #ended = new AbortController();
  readonly #persistence: Persistence;
  readonly #rows: BlockRows;
  readonly #running: Promise<void>;
  /** Blocks whose rows are gathered, the cursor after the last of them, and when the first was taken. */
  #gathered: WrittenBlock[] = [];
  #cursor = "";
  #takenAtMs = 0;
  #blockTime: bigint | null = null;
  /** What is written, one after the other: at most one batch while the next one is gathered. */
  #writing = new Serial();
  /** Why what is gathered must not be written: what is before it was not. */
  #fault: unknown = null;

  constructor(options: LedgerWriterOptions, dependencies: LedgerWriterDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
    const { network, votes, nativeSymbol } = options;
    const { events } = dependencies;
    this.#rows = new BlockRows({ network, votes, nativeSymbol, unreadable: (of) => events.parserFault(network, of) });
    this.#persistence = new Persistence(options.network, { ...dependencies, signal: this.#ended.signal });
    this.#running = this.#run();
  }

  /** Ends after what is being written, or at once while the ledger takes nothing. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#ended.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { events } = this.#dependencies;
    while (!this.#ended.signal.aborted) {
      try {
        await this.#follow();
      } catch (error) {
        if (!this.#ended.signal.aborted) events.writerFault(this.#options.network, error);
      }
      await this.#persistence.pause();
    }
  }

  /** From what the ledger holds to the end of the follower, which is that of the writer or of what the log holds. */
  async #follow(): Promise<void> {
    const { network, chain, discardsOtherChain } = this.#options;
    const { store, chainLog, events } = this.#dependencies;
    const written = await this.#persistence.keep(() =>
      WrittenChain.read(network, { store, chain, discardsOtherChain }),
    );
    if (written === "other chain") {
      events.writerRefused(network);
      return;
    }
    this.#gathered = [];
    this.#rows.rows.clear();
    this.#fault = null;
    const outcome = chainLog.follow({ stage: "confirmed", from: written.from });
    if (!outcome.ok) {
      // What lies between is a hole in what is held, which backfill fills.
      await this.#persistence.keep(() => written.beginAnew());
      events.writerCursorLost(network, outcome.code);
      const earliest = chainLog.follow({ stage: "confirmed", from: "earliest" });
      if (!earliest.ok) return;
      await this.#readAll(earliest.follower, written);
      return;
    }
    await this.#readAll(outcome.follower, written);
  }

  async #readAll(
    follower: AsyncIterator<LogEvent> & { return(): Promise<IteratorResult<LogEvent>> },
    written: WrittenChain,
  ): Promise<void> {
    const end = (): void => void follower.return();
    this.#ended.signal.addEventListener("abort", end, { once: true });
    const { clock } = this.#dependencies;
    const settling = clock.every(limits.settleMs, () => this.#settleIdle(written));
    try {
      for (;;) {
        const finalized = this.#dependencies.chainLog.latest("finalized");
        const asked = follower.next();
        // While a batch is being written the next one gathers, however slowly its blocks come.
        while (this.#gathered.length > 0) {
          if ((await within(clock, this.#waitMs(), asked)).ok) break;
          if (this.#writing.pending === 0) await this.#flush(written);
        }
        const { done, value } = await asked;
        if (done === true || this.#ended.signal.aborted) break;
        if (!(await this.#take(value, { written, finalizedSlot: finalized?.slot ?? null }))) break;
      }
    } finally {
      settling.cancel();
      this.#ended.signal.removeEventListener("abort", end);
      await follower.return();
      await this.#writing.idle();
    }
  }

  /** How long what is gathered waits for another block. */
  #waitMs(): number {
    if (this.#isBehind() || this.#writing.pending > 0) return limits.waitMs;
    const { gatherMs = limits.gatherMs } = this.#options;
    return Math.max(0, this.#takenAtMs + gatherMs - this.#dependencies.clock.monotonic());
  }

  /** Whether the log has blocks after those that are gathered. */
  #isBehind(): boolean {
    const last = this.#gathered.at(-1);
    const newest = this.#dependencies.chainLog.latest("confirmed");
    return last !== undefined && newest !== null && newest.slot > last.slot;
  }

  /** @returns false when the follower has ended */
  async #take(event: LogEvent, of: { written: WrittenChain; finalizedSlot: bigint | null }): Promise<boolean> {
    const { written } = of;
    if (event.type === "block") {
      await this.#takeBlock(event, of);
      return true;
    }
    if (event.type === "lagging") return true;
    await this.#flush(written);
    if (event.type === "expired") {
      await this.#write(() => written.beginAnew());
      return false;
    }
    await this.#write(async () => {
      if (event.type === "undo") await written.undo(event, event.cursor);
      else await written.gap(event, event.cursor);
    });
    if (event.type === "undo") this.#dependencies.events.writerDropped(this.#options.network);
    return true;
  }

  /** Resolves when all before it and it are written. */
  async #write(work: () => Promise<void>): Promise<void> {
    await this.#writing.run(() => this.#persistence.keep(work));
  }

  async #takeBlock(
    { header, body, cursor }: Extract<LogEvent, { type: "block" }>,
    { written, finalizedSlot }: { written: WrittenChain; finalizedSlot: bigint | null },
  ): Promise<void> {
    const { clock, chainLog } = this.#dependencies;
    const { slot } = header;
    const [first] = this.#gathered;
    const isNextRange = first !== undefined && first.slot / limits.slots !== slot / limits.slots;
    if (isNextRange || this.#rows.rows.bytes >= limits.bytes) await this.#flush(written);
    if (this.#gathered.length === 0) this.#takenAtMs = clock.monotonic();
    if (!this.#add(body, slot)) {
      // As a gap, which backfill fills from the nodes: what follows goes on.
      await this.#flush(written);
      await this.#write(() => written.gap({ from: slot }, cursor));
      return;
    }
    this.#gathered.push({
      slot,
      blockhash: header.blockhash,
      parentSlot: header.parentSlot,
      parentBlockhash: header.parentBlockhash,
      isFinal: finalizedSlot !== null && slot <= finalizedSlot,
    });
    this.#cursor = cursor;
    this.#blockTime = header.blockTime;
    const newest = chainLog.latest("confirmed")?.slot ?? slot;
    this.#dependencies.events.writerLag(this.#options.network, Number(newest > slot ? newest - slot : 0n));
    const rangeEnd = (slot / limits.slots + 1n) * limits.slots;
    const isEnough = this.#rows.rows.bytes >= limits.gatheredBytes || this.#waitMs() === 0;
    if (slot === rangeEnd - 1n || (newest <= slot && isEnough)) await this.#flush(written);
  }

  #add(body: Uint8Array, slot: bigint): boolean {
    try {
      this.#rows.add(body, this.#dependencies.clock.now());
      return true;
    } catch (error) {
      if (!(error instanceof MalformedBytes)) throw error;
      this.#dependencies.events.writerMalformed(this.#options.network, { slot, error });
      return false;
    }
  }

  /** Sends what is gathered when the batch before it is written. */
  async #flush(written: WrittenChain): Promise<void> {
    await this.#writing.idle();
    if (this.#fault !== null) throw this.#fault;
    if (this.#gathered.length === 0) return;
    const batch: Batch = {
      blocks: this.#gathered,
      tables: this.#rows.rows.encode(),
      cursor: this.#cursor,
      takenAtMs: this.#takenAtMs,
      blockTime: this.#blockTime,
    };
    this.#gathered = [];
    this.#rows.rows.clear();
    // Whoever flushes next is told of a failure.
    this.#writing
      .run(() => this.#writeBatch(batch, written))
      .catch((error: unknown) => {
        this.#fault = error;
      });
  }

  async #writeBatch({ blocks, tables, cursor, takenAtMs, blockTime }: Batch, written: WrittenChain): Promise<void> {
    const { network } = this.#options;
    const { events, clock, chainLog } = this.#dependencies;
    await this.#persistence.keep(() => written.write(blocks, tables));
    written.settle(chainLog.latest("finalized"));
    await this.#persistence.keep(() => written.save(cursor));
    this.#tellHeld(written);
    events.writerWrote(network, {
      blocks: blocks.length,
      bytes: tables.reduce((bytes, table) => bytes + table.bytes.length, 0),
      delayMs: clock.monotonic() - takenAtMs,
      behindMs: blockTime === null ? null : Math.max(0, clock.now() - Number(blockTime) * 1_000),
    });
  }

  /** The chain may become final while no block comes. */
  #settleIdle(written: WrittenChain): void {
    // What is gathered is soon written, and what is settled with it.
    if (this.#writing.pending > 0 || this.#gathered.length > 0) return;
    if (!written.settle(this.#dependencies.chainLog.latest("finalized"))) return;
    this.#writing
      .run(() => this.#persistence.keep(() => written.save()))
      .then(
        () => this.#tellHeld(written),
        () => undefined,
      );
  }

  #tellHeld(written: WrittenChain): void {
    const { network } = this.#options;
    const { chainLog, events } = this.#dependencies;
    const until = written.heldUntil;
    if (until === null) return;
    chainLog.setWatermark(until as Slot);
    events.writerHolds(network, until);
  }
}
