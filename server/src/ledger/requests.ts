import { type Clock, invariant, SingleFlight, type Timer, within } from "@sluice/lib";
import { type Batch, type BatchNumbers, type BatchWriter, newBatch } from "./batches.ts";
import type { LedgerLog } from "./endpoint.ts";
import { LedgerQueryError, LedgerUnavailableError } from "./errors.ts";
import type { LedgerEvents } from "./events.ts";
import type { FactFiles } from "./fact-files.ts";
import { RequestBlock } from "./request-block.ts";
import type { RequestFact } from "./request-fact.ts";
import { type RequestPace, requestLogLimits } from "./request-limits.ts";
import { requestsTable } from "./tables.ts";

/** The last millisecond of the range of DateTime64. */
const latestMs = Date.UTC(2300, 0, 1) - 1;

export interface RequestLogDependencies {
  readonly writer: Pick<BatchWriter, "write">;
  readonly numbers: BatchNumbers;
  readonly clock: Clock;
  readonly log: LedgerLog;
  readonly events?: Pick<LedgerEvents, "ledgerFlushed" | "ledgerDropped" | "factsWaiting">;
  /** Where facts wait beside memory while the ledger takes none; without them they wait in memory alone. */
  readonly files?: FactFiles | null;
}

/**
 * Why facts were dropped: the queue had no room, a file of them was damaged, the log was closed, the fact did not match
 * its type, the ledger refused it for good, or was unavailable until the process ended.
 */
type DropReason = "full" | "damaged" | "closed" | "malformed" | "refused" | "unavailable";

/** A batch that waits to be written, and what it takes of the queue's bytes. */
interface Sealed {
  readonly batch: Batch;
  readonly bytes: number;
}

/**
 * Collects facts without delaying requests and writes them in batches. `append` encodes a fact into the open block of
 * its month; a block that is full, or has waited long enough, is sealed under a number. A sealed batch keeps number and
 * bytes until it is written, however often that is tried; one that the ledger rejects permanently is dropped, counted
 * and logged, so that it does not block the rest.
 */
export class RequestLog implements AsyncDisposable {
  readonly #pace: RequestPace;
  readonly #dependencies: RequestLogDependencies;
  /** Blocks that still take facts, one a month; the last used is the first. */
  #open: RequestBlock[] = [];
  readonly #sealed: Sealed[] = [];
  #rows = 0;
  #bytes = 0;
  /** Batches sealed and batches done with since the start. */
  #sealedCount = 0;
  #doneCount = 0;
  #lastRows = 0;
  readonly #writer = new SingleFlight(() => this.#writeAll());
  #sealTimer: Timer | null = null;
  #retryTimer: Timer | null = null;
  #appended = 0;
  /** Facts in files, and those of them that an earlier process had left at the start. */
  #stored = 0;
  readonly #adopted: number;
  /** Batches in files that this process has sealed. */
  #ownStored = 0;
  #hasFullDisk = false;
  #flushed = 0;
  #dropped = 0;
  #closed = false;
  /** Closing has waited for the ledger: no further batch is written. */
  #hasEnded = false;
  /** Since when, and why, the ledger takes nothing; null while it does. */
  #outage: { readonly sinceMs: number; reason: string } | null = null;
  /** Facts whose loss is not in the log yet, and when the log was last told of any. */
  #untold = 0;
  #toldAtMs = Number.NEGATIVE_INFINITY;

  constructor(pace: RequestPace, dependencies: RequestLogDependencies) {
    this.#pace = pace;
    this.#dependencies = dependencies;
    this.#adopted = dependencies.files?.rows ?? 0;
    this.#stored = this.#adopted;
    if (this.#adopted === 0) return;
    dependencies.log.info({ facts: this.#adopted }, "request facts of an earlier process wait to be written");
    void this.#write();
  }

  /** Facts that wait, in memory or on disk, or are being written. */
  get size(): number {
    return this.#rows + this.#stored;
  }

  /** Bytes that they take. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Facts dropped since the start. */
  get dropped(): number {
    return this.#dropped;
  }

  /**
   * Adds one fact; never waits and never throws. A full or closed log drops and counts it. An invalid time, or one
   * before 1970 or after 2299, is replaced by the present.
   */
  append(fact: RequestFact): void {
    this.#appended += 1;
    if (this.#closed || this.#rows >= requestLogLimits.queueMax || this.#bytes >= requestLogLimits.queueBytesMax) {
      this.#drop(1, this.#closed ? "closed" : "full");
      return;
    }
    try {
      this.#take(fact);
    } catch {
      // A fact that does not match its type must not fail its request.
      this.#drop(1, "malformed");
    }
  }

  /**
   * Returns when every fact appended before the call is on disk (or was rejected permanently and counted as dropped).
   * Throws LedgerUnavailableError past the deadline; the facts stay queued.
   */
  async flush(deadlineMs: number = requestLogLimits.flushMsMax): Promise<void> {
    const until = this.#dependencies.clock.monotonic() + deadlineMs;
    this.#sealAll();
    const last = this.#sealedCount;
    while (this.#doneCount < last) {
      const leftMs = until - this.#dependencies.clock.monotonic();
      if (leftMs <= 0) throw new LedgerUnavailableError(`${this.size} facts could not be written in time`);
      await within(this.#dependencies.clock, leftMs, this.#write());
    }
  }

  /**
   * Writes the queued facts within `closeMsMax`. The rest goes to files for the next process; what finds no room there
   * is dropped, counted and logged.
   */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    await this.flush(requestLogLimits.closeMsMax).catch(() => undefined);
    this.#retryTimer?.cancel();
    this.#retryTimer = null;
    this.#hasEnded = true;
    // A write under way goes to its end first: the next process takes the files over. A batch of which this process
    // never learns that it was written is the same to the ledger when that process writes it.
    const { clock, files } = this.#dependencies;
    const { running } = this.#writer;
    if (files != null && running !== null) await within(clock, requestLogLimits.closeMsMax, running);
    await this.#spill();
    files?.[Symbol.dispose]();
    if (this.#rows === 0) return;
    const lost = this.#rows;
    this.#doneCount += this.#sealed.length;
    this.#sealed.length = 0;
    this.#rows = 0;
    this.#bytes = 0;
    this.#drop(lost, "unavailable");
    this.#tellDropped("unavailable");
  }

  #drop(facts: number, reason: DropReason): void {
    this.#dropped += facts;
    this.#untold += facts;
    this.#dependencies.events?.ledgerDropped(requestsTable.name, facts, reason);
    const isDue = this.#dependencies.clock.monotonic() - this.#toldAtMs >= requestLogLimits.tellEveryMs;
    if (isDue) this.#tellDropped(reason);
  }

  /** A full queue drops with each request: the log gets a line with the first, and then one for many. */
  #tellDropped(reason: DropReason): void {
    if (this.#untold === 0) return;
    const fields = { facts: this.#untold, reason, waiting: this.#rows, cause: this.#outage?.reason ?? null };
    this.#dependencies.log.error(fields, "request facts were dropped");
    this.#untold = 0;
    this.#toldAtMs = this.#dependencies.clock.monotonic();
  }

  #take(fact: RequestFact): void {
    const at = fact.at >= 0 && fact.at <= latestMs ? Math.trunc(fact.at) : Math.trunc(this.#dependencies.clock.now());
    const first = this.#open[0];
    const block = first?.holds(at) ? first : this.#blockFor(at);
    const before = block.bytes;
    block.append(fact, at);
    this.#rows++;
    this.#bytes += block.bytes - before;
    if (block.rows >= requestLogLimits.batchRows || block.bytes >= requestLogLimits.batchBytes) {
      this.#seal(block);
      void this.#write();
    } else if (this.#sealTimer === null) this.#scheduleSeal();
  }

  /** The open block of a month, created when missing; it becomes the first of the open ones. */
  #blockFor(at: number): RequestBlock {
    const known = this.#open.find((block) => block.holds(at));
    if (known === undefined && this.#open.length >= requestLogLimits.openMax) {
      this.#sealAll();
      void this.#write();
    }
    const block = known ?? new RequestBlock(at, Math.min(this.#lastRows * 1.25, requestLogLimits.batchRows));
    this.#open = [block, ...this.#open.filter((other) => other !== block)];
    return block;
  }

  #scheduleSeal(): void {
    const { batchMs, busyMs } = this.#pace;
    const seal = (): void => {
      this.#sealAll();
      void this.#write();
    };
    const delayMs = this.#lastRows >= requestLogLimits.busyRows ? busyMs : batchMs;
    this.#sealTimer = this.#dependencies.clock.after(delayMs, seal, { keepsAlive: true });
  }

  #sealAll(): void {
    for (const block of [...this.#open]) this.#seal(block);
  }

  #seal(block: RequestBlock): void {
    this.#open = this.#open.filter((other) => other !== block);
    if (this.#open.length === 0) {
      this.#sealTimer?.cancel();
      this.#sealTimer = null;
    }
    if (block.rows === 0) return;
    this.#lastRows = block.rows;
    const number = this.#dependencies.numbers.next();
    const { columns, bytes } = block.encode(number);
    const held = { rows: block.rows, ...block.span };
    this.#bytes += bytes.byteLength - block.bytes;
    this.#sealed.push({
      batch: newBatch(requestsTable, number, { kind: "native", columns, bytes }, held),
      bytes: bytes.byteLength,
    });
    this.#sealedCount++;
  }

  /** Writes the sealed batches, or joins the run that does. Schedules another run when some are left. Never rejects. */
  #write(): Promise<void> {
    const isJoined = this.#writer.running !== null;
    const run = this.#writer.run();
    // After the run has ended, so that a batch sealed in its last moment is seen.
    if (!isJoined) void run.then(() => this.#scheduleRetry());
    return run;
  }

  #scheduleRetry(): void {
    if ((this.#sealed.length === 0 && this.#stored === 0) || this.#closed) return;
    const retry = (): void => {
      this.#retryTimer = null;
      void this.#write();
    };
    this.#retryTimer ??= this.#dependencies.clock.after(requestLogLimits.retryMs, retry, { keepsAlive: true });
  }

  /** Writes what waits in files, then the sealed batches, oldest first; what the ledger does not take goes to files. */
  async #writeAll(): Promise<void> {
    const isTaken = (await this.#writeStored()) && (await this.#writeSealed());
    if (!isTaken) await this.#spill();
    const { files, events } = this.#dependencies;
    events?.factsWaiting({ rows: this.#rows, storedRows: this.#stored, storedBytes: files?.bytes ?? 0 });
  }

  async #writeStored(): Promise<boolean> {
    const { files } = this.#dependencies;
    for (let first = files?.first; first !== undefined && !this.#hasEnded; first = files?.first) {
      const batch = await files?.read(first).catch(() => null);
      if (batch == null) this.#drop(first.rows, "damaged");
      else if (!(await this.#writeOne(batch))) return false;
      files?.shift();
      this.#stored -= first.rows;
      this.#check();
    }
    this.#doneCount += this.#ownStored;
    this.#ownStored = 0;
    return true;
  }

  /** Open blocks stay open, so that no batch is the rest of the one before. */
  async #writeSealed(): Promise<boolean> {
    for (let first = this.#sealed[0]; first !== undefined && !this.#hasEnded; first = this.#sealed[0]) {
      if (!(await this.#writeOne(first.batch))) return false;
      // Closing may have given the batches up while this one was being written.
      if (this.#sealed[0] !== first) return true;
      this.#sealed.shift();
      this.#doneCount++;
      this.#rows -= first.batch.rows;
      this.#bytes -= first.bytes;
      this.#check();
    }
    return true;
  }

  /** Moves sealed batches to files, oldest first, as far as there is room; what has none stays in memory. */
  async #spill(): Promise<void> {
    const { files, log } = this.#dependencies;
    if (files === undefined || files === null) return;
    try {
      for (let first = this.#sealed[0]; first !== undefined; first = this.#sealed[0]) {
        if (!(await files.put(first.batch))) return;
        if (this.#sealed[0] !== first) return;
        this.#sealed.shift();
        this.#ownStored += 1;
        this.#stored += first.batch.rows;
        this.#rows -= first.batch.rows;
        this.#bytes -= first.bytes;
      }
      this.#hasFullDisk = false;
    } catch (error) {
      if (!this.#hasFullDisk)
        log.warn({ error: String(error) }, "request facts cannot wait on disk; they wait in memory");
      this.#hasFullDisk = true;
    }
  }

  /** Once a batch, of up to 50,000 facts; 6 ns a check (100 million in a loop, Bun 1.4, two shared cores). */
  #check(): void {
    const accounted = this.#flushed + this.#rows + this.#stored + this.#dropped;
    invariant(
      this.#appended + this.#adopted === accounted,
      "every request fact was written, waits, or was dropped and counted",
    );
    invariant(this.#bytes >= 0, "the bytes of waiting request facts are not negative");
  }

  /** True when the batch is done: written, or rejected permanently. */
  async #writeOne(batch: Batch): Promise<boolean> {
    const { clock, writer, events, log } = this.#dependencies;
    const startedAt = clock.monotonic();
    try {
      await writer.write(batch);
      this.#flushed += batch.rows;
      events?.ledgerFlushed(requestsTable.name, batch.rows, clock.monotonic() - startedAt);
      this.#endOutage();
      return true;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      if (error instanceof LedgerQueryError) {
        log.error({ facts: batch.rows, reason }, "the ledger refused request facts");
        this.#drop(batch.rows, "refused");
        return true;
      }
      // Once for each cause; it is tried again every second.
      if (this.#outage?.reason !== reason) {
        log.warn({ waiting: this.size, reason }, "the ledger is unavailable; request facts wait");
      }
      this.#outage ??= { sinceMs: startedAt, reason };
      this.#outage.reason = reason;
      return false;
    }
  }

  #endOutage(): void {
    if (this.#outage === null) return;
    const { clock, log } = this.#dependencies;
    this.#tellDropped("full");
    const lastedMs = Math.round(clock.monotonic() - this.#outage.sinceMs);
    log.info({ lastedMs, waiting: this.size }, "the ledger takes request facts again");
    this.#outage = null;
  }
}
