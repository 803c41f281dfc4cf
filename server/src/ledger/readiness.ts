import { backoffDelayMs, type Clock, type Random, type Timer } from "@sluice/lib";
import type { LedgerLog } from "./endpoint.ts";
import { LedgerOpenError, LedgerQueryError, LedgerUnavailableError } from "./errors.ts";

export interface ReadinessDependencies {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: LedgerLog;
  /** Reaches the ledger and migrates it; `LedgerOpenError` where it cannot be used by this version. */
  readonly open: () => Promise<void>;
}

const retryBackoff = { baseMs: 1_000, maxMs: 10_000 };

/**
 * Whether a ledger that may be away has been reached and migrated since the start. Until then every call is refused
 * with the cause, and it is tried again every few seconds; nothing that is served depends on it meanwhile.
 */
export class LedgerReadiness implements AsyncDisposable {
  readonly #dependencies: ReadinessDependencies;
  #cause: string | null = "it has not been reached yet";
  #attempt = 0;
  #timer: Timer | null = null;
  #running: Promise<void> | null = null;
  #isClosed = false;

  constructor(dependencies: ReadinessDependencies) {
    this.#dependencies = dependencies;
  }

  /**
   * Tries once, and goes on trying in the background where the ledger is away.
   * @throws {LedgerOpenError} for a ledger that this version cannot use
   */
  async begin(): Promise<void> {
    try {
      await this.#dependencies.open();
      this.#cause = null;
    } catch (error) {
      if (!isAway(error)) throw error;
      this.#fail(error, "the ledger is away: the server starts without it, and facts wait");
    }
  }

  /** As `begin`, for a ledger that has to be there: rejects as its opening does. */
  async beginPresent(): Promise<void> {
    await this.#dependencies.open();
    this.#cause = null;
  }

  /** @throws {LedgerUnavailableError} while the ledger has not been reached */
  require(): void {
    if (this.#cause !== null) throw new LedgerUnavailableError(this.#cause);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    this.#timer?.cancel();
    await this.#running;
  }

  async #retry(): Promise<void> {
    const { open, log } = this.#dependencies;
    try {
      await open();
      this.#cause = null;
      log.info({ attempts: this.#attempt + 1 }, "the ledger is there, and is used from now on");
    } catch (error) {
      // It answers, and is not to be used: told at the level of a fault, since nothing but a person changes it.
      if (isRefusal(error)) this.#fail(error, "the ledger cannot be used", "error");
      else this.#fail(error, "the ledger is away for another reason");
    }
  }

  #fail(error: unknown, message: string, level: "warn" | "error" = "warn"): void {
    const { clock, random, log } = this.#dependencies;
    const cause = error instanceof Error ? error.message : String(error);
    if (cause !== this.#cause) log[level]({ reason: cause }, message);
    this.#cause = cause;
    if (this.#isClosed) return;
    const delayMs = backoffDelayMs(this.#attempt, retryBackoff, random);
    this.#attempt += 1;
    this.#timer = clock.after(delayMs, () => {
      this.#running = this.#retry();
    });
  }
}

/** What may pass by itself; a statement that is refused for good would be refused again. */
/** What the ledger itself says and no time changes; the store whose lock the migration takes may be away too. */
const isRefusal = (error: unknown): boolean =>
  error instanceof LedgerOpenError || (error instanceof LedgerQueryError && !error.transient);

function isAway(error: unknown): boolean {
  if (error instanceof LedgerOpenError) return false;
  return error instanceof LedgerUnavailableError || (error instanceof LedgerQueryError && error.transient);
}
