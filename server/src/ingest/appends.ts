import { backoffDelayMs, type Clock, type Random, sleep } from "@sluice/lib";
import type { ChainLog, LogRecord } from "../log/index.ts";

export interface AppendsDependencies {
  readonly clock: Pick<Clock, "after">;
  readonly random: Random;
  readonly log: Pick<ChainLog, "append">;
  readonly onStored: (record: LogRecord) => void;
  /** A record that the log refuses for what it is. */
  readonly onRefused: (record: LogRecord, code: string) => void;
  /** Called when the log takes nothing, and again when it does. */
  readonly onStalled: (code: string | null) => void;
}

/** Bytes of records that the log has not stored yet; beyond them nothing is taken from sources. */
const waitingBytesMax = 64 * 1024 * 1024;
/** What a record without a body counts. */
const headBytes = 512;
const backoff = { baseMs: 250, maxMs: 5_000 } as const;
/** Codes of the log that no other try changes. */
const refusals: ReadonlySet<string> = new Set(["RECORD_DIFFERS", "RECORD_INVALID", "CHAIN_DIFFERS"]);

const bytesOf = (record: LogRecord): number => headBytes + (record.kind === "block" ? record.body.length : 0);
const codeOf = (error: unknown): string =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "FAULT";

/**
 * Hands records to the log, again and again while it takes none: a full disk, a server of the log without its leader.
 * What waits is bounded; `isFull` says that sources have to wait, and what they tell meanwhile is fetched afterwards.
 */
export class Appends implements AsyncDisposable {
  readonly #dependencies: AppendsDependencies;
  readonly #ended = new AbortController();
  readonly #running = new Set<Promise<void>>();
  #waitingBytes = 0;
  #stalled = 0;

  constructor(dependencies: AppendsDependencies) {
    this.#dependencies = dependencies;
  }

  get waitingBytes(): number {
    return this.#waitingBytes;
  }

  /** While the log fails, little is added to what waits. */
  get isFull(): boolean {
    return this.#waitingBytes >= (this.#stalled > 0 ? waitingBytesMax / 4 : waitingBytesMax);
  }

  get isStalled(): boolean {
    return this.#stalled > 0;
  }

  add(record: LogRecord): void {
    if (this.#ended.signal.aborted) return;
    this.#waitingBytes += bytesOf(record);
    const run = this.#store(record).finally(() => {
      this.#waitingBytes -= bytesOf(record);
      this.#running.delete(run);
    });
    this.#running.add(run);
  }

  async #store(record: LogRecord): Promise<void> {
    const { clock, random, log, onStored, onRefused, onStalled } = this.#dependencies;
    let isStalled = false;
    for (let attempt = 0; !this.#ended.signal.aborted; attempt += 1) {
      try {
        await log.append(record);
        if (isStalled) this.#flows();
        onStored(record);
        return;
      } catch (error) {
        const code = codeOf(error);
        if (refusals.has(code)) {
          if (isStalled) this.#flows();
          onRefused(record, code);
          return;
        }
        if (!isStalled) {
          isStalled = true;
          this.#stalled += 1;
          if (this.#stalled === 1) onStalled(code);
        }
        await sleep(clock, backoffDelayMs(attempt, backoff, random), this.#ended.signal);
      }
    }
  }

  /** The log has an answer for a record again. */
  #flows(): void {
    this.#stalled -= 1;
    if (this.#stalled === 0) this.#dependencies.onStalled(null);
  }

  /** What is on its way to the disk is waited for; what the log does not take is fetched again by the next process. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#ended.abort();
    await Promise.allSettled(this.#running);
  }
}
