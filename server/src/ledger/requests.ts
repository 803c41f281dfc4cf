import type { Clock } from "../lib/index.ts";
import { type Batch, type BatchNumbers, type BatchWriter, batchesOf } from "./batches.ts";
import type { LedgerLog } from "./endpoint.ts";
import { LedgerQueryError, LedgerUnavailableError } from "./errors.ts";
import { requestsTable } from "./tables.ts";

/** One served request, as the gateway knows it when it has answered. */
export interface RequestFact {
  /** Unix milliseconds. */
  readonly at: number;
  readonly requestId: string;
  readonly accountId: string;
  readonly keyId: string;
  readonly network: string;
  readonly door: "rpc" | "rest" | "ws" | "pubsub";
  readonly method: string;
  /** HTTP status. */
  readonly status: number;
  /** JSON-RPC error code, null for a result. */
  readonly rpcCode: number | null;
  readonly latencyMs: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
  readonly credits: number;
  readonly cache: "HIT" | "MISS" | "";
  /** The upstream's label, "" when none was asked. */
  readonly upstream: string;
}

/** What the process's metrics want to hear; every call is cheap and must not throw. */
export interface LedgerMetrics {
  appended(facts: number): void;
  dropped(facts: number): void;
  flushed(rows: number, ms: number): void;
}

/** Bounds of the request log. */
export const requestLogLimits = {
  /** Facts that wait or are being written. When full the newest is dropped and counted: what waits is older history. */
  queueMax: 100_000,
  /** Facts of one batch, and how long the first of a batch waits for others, in milliseconds. */
  batchRows: 10_000,
  batchMs: 1_000,
  /** Wait after a flush that failed. */
  retryMs: 1_000,
  /** How long `flush` waits by default, and closing. */
  flushMsMax: 10_000,
  closeMsMax: 5_000,
} as const;

/** A column row of a fact. */
export function requestRow(fact: RequestFact): object {
  return {
    at: Math.trunc(fact.at),
    request_id: fact.requestId,
    account_id: fact.accountId,
    key_id: fact.keyId,
    network: fact.network,
    door: fact.door,
    method: fact.method,
    status: fact.status,
    rpc_code: fact.rpcCode,
    latency_ms: fact.latencyMs,
    bytes_in: fact.bytesIn,
    bytes_out: fact.bytesOut,
    credits: fact.credits,
    cache: fact.cache,
    upstream: fact.upstream,
  };
}

export interface RequestLogDependencies {
  readonly writer: Pick<BatchWriter, "write">;
  readonly numbers: BatchNumbers;
  readonly clock: Clock;
  readonly log: LedgerLog;
  readonly metrics?: LedgerMetrics;
}

/**
 * Takes facts off the hot path and writes them in batches. `append` only pushes onto an array. A batch keeps its number
 * and rows until it is written, however often that is tried; one that the ledger refuses for good is dropped, counted
 * and logged, so that it cannot hold up the rest.
 */
export class RequestLog implements AsyncDisposable {
  readonly #dependencies: RequestLogDependencies;
  #queue: RequestFact[] = [];
  /** Batches cut from the queue and not yet written; at most those of one cut. */
  #cut: Batch[] = [];
  #cutRows = 0;
  #writing: Promise<void> | null = null;
  #timer: ReturnType<typeof setTimeout> | null = null;
  #dropped = 0;
  #closed = false;

  constructor(dependencies: RequestLogDependencies) {
    this.#dependencies = dependencies;
  }

  /** Facts that wait or are being written. */
  get size(): number {
    return this.#queue.length + this.#cutRows;
  }

  /** Facts dropped since the start. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Takes one fact; never waits and never throws. A full or closed log drops it and counts it. */
  append(fact: RequestFact): void {
    if (this.#closed || this.size >= requestLogLimits.queueMax) {
      this.#drop(1);
      return;
    }
    this.#queue.push(fact);
    this.#dependencies.metrics?.appended(1);
    if (this.#queue.length >= requestLogLimits.batchRows) this.#write();
    else this.#schedule(requestLogLimits.batchMs);
  }

  /**
   * Returns when every fact appended before the call is on disk (or was refused for good and counted as dropped).
   * Throws LedgerUnavailableError past the deadline; the facts stay queued.
   */
  async flush(deadlineMs: number = requestLogLimits.flushMsMax): Promise<void> {
    const until = this.#dependencies.clock.monotonic() + deadlineMs;
    while (this.size > 0) {
      const leftMs = until - this.#dependencies.clock.monotonic();
      if (leftMs <= 0) throw new LedgerUnavailableError(`${this.size} facts could not be written in time`);
      let timer: ReturnType<typeof setTimeout> | null = null;
      const deadline = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, leftMs);
      });
      await Promise.race([this.#write(), deadline]);
      if (timer !== null) clearTimeout(timer);
    }
  }

  /** Writes what is queued, at most `closeMsMax` long; what is left then is dropped, counted and logged. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    await this.flush(requestLogLimits.closeMsMax).catch(() => undefined);
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    if (this.size === 0) return;
    const lost = this.size;
    this.#queue = [];
    this.#cut = [];
    this.#cutRows = 0;
    this.#drop(lost);
    this.#dependencies.log.error(
      { facts: lost },
      "request facts were lost: the ledger did not take them before closing",
    );
  }

  #drop(facts: number): void {
    this.#dropped += facts;
    this.#dependencies.metrics?.dropped(facts);
  }

  #schedule(waitMs: number): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      this.#write();
    }, waitMs);
  }

  /** One writer at a time; joins the one under way. Never rejects. */
  #write(): Promise<void> {
    this.#writing ??= this.#writeAll().finally(() => {
      this.#writing = null;
      if (this.size > 0) this.#schedule(requestLogLimits.retryMs);
    });
    return this.#writing;
  }

  async #writeAll(): Promise<void> {
    while (this.#queue.length > 0 || this.#cut.length > 0) {
      if (this.#cut.length === 0) this.#cutBatch();
      const batch = this.#cut[0];
      if (batch === undefined) continue;
      if (!(await this.#writeOne(batch))) return;
      // Closing may have given the batches up while this one was being written.
      if (this.#cut[0] !== batch) return;
      this.#cut.shift();
      this.#cutRows -= batch.rows.length;
    }
  }

  #cutBatch(): void {
    const facts = this.#queue.splice(0, requestLogLimits.batchRows);
    this.#cut = batchesOf(requestsTable, facts.map(requestRow), this.#dependencies.numbers);
    this.#cutRows = facts.length;
  }

  /** True when the batch is done with: written, or refused for good. */
  async #writeOne(batch: Batch): Promise<boolean> {
    const { clock, writer, metrics, log } = this.#dependencies;
    const startedAt = clock.monotonic();
    try {
      await writer.write(batch);
      metrics?.flushed(batch.rows.length, clock.monotonic() - startedAt);
      return true;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      if (error instanceof LedgerQueryError) {
        this.#drop(batch.rows.length);
        log.error({ facts: batch.rows.length, reason }, "request facts were refused by the ledger");
        return true;
      }
      log.warn({ waiting: this.size, reason }, "request facts wait: the ledger does not take them");
      return false;
    }
  }
}
