import { serviceCredits } from "@sluice/contract/credits";
import { SluiceError } from "@sluice/contract/errors";
import type { SqlQuery } from "@sluice/contract/schemas";
import { type SqlFormat, sqlLimits, sqlReadCredits } from "@sluice/contract/sql";
import { type Network, type PlatformTier, platformTierLimits, platformTiers } from "@sluice/contract/tiers";
import type { Clock, Timers } from "@sluice/lib";
import type { Access } from "../access/index.ts";
import {
  type CustomerResult,
  type CustomerStatement,
  type CustomerStatements,
  LedgerAbortedError,
} from "../ledger/index.ts";
import { boundParameters } from "./bound-parameters.ts";
import type { AnalyticsEvents } from "./events.ts";
import { customerFailure, isCharged, syntaxFailure } from "./failures.ts";
import { judgeText, judgeTree } from "./gate.ts";
import { jsonResult } from "./json-result.ts";
import { QueryPlaces } from "./places.ts";
import { deliver } from "./result-body.ts";

/** Whose query it is. */
export interface SqlCaller {
  readonly accountId: string;
  readonly tier: PlatformTier;
  readonly creditsMonthly: bigint | null;
  /** The chain whose rows the views show. */
  readonly network: Network;
}

/** A result on its way. `end` resolves when it was read, or left, with the bytes that were handed out. */
export interface SqlAnswer {
  readonly format: SqlFormat;
  readonly body: ReadableStream<Uint8Array>;
  readonly end: Promise<number>;
  readonly rowsRead: bigint;
  readonly bytesRead: bigint;
  readonly elapsedMs: number;
  readonly credits: number;
}

/** What a query cost, also where it failed. */
export interface SqlBill {
  credits: number;
}

export interface AnalyticsOptions {
  /** How long a query may run; 30 seconds unless given. */
  readonly executionMs?: number;
}

export interface AnalyticsDependencies {
  readonly clock: Clock & Timers;
  readonly statements: CustomerStatements;
  readonly access: Pick<Access, "charge" | "refund" | "shortage">;
  readonly events: AnalyticsEvents;
}

/** The lowest tier with SQL. */
const tierLeast: PlatformTier = "business";
/** How often a query that runs is asked what it has read: what it costs when it is stopped. */
const watchEveryMs = 500;

/** @throws {SluiceError} TIER_REQUIRED */
export function requireSqlTier({ tier }: Pick<SqlCaller, "tier">): void {
  if (platformTiers.indexOf(tier) >= platformTiers.indexOf(tierLeast)) return;
  const needed = platformTierLimits[tierLeast].name;
  throw new SluiceError("TIER_REQUIRED", {
    message: `SQL is part of the tier ${needed} and those above; the account's is ${platformTierLimits[tier].name}`,
    details: { required: tierLeast, tier },
  });
}

/**
 * Runs the SQL of customers: judges a query, charges for it, gives it a place and its result back. The judgement comes
 * before anything is charged; what a query has read is charged when it has ended, whether it succeeded or met a bound.
 */
export class Analytics {
  readonly #executionMs: number;
  readonly #dependencies: AnalyticsDependencies;
  readonly #places: QueryPlaces;

  constructor({ executionMs = sqlLimits.executionMs }: AnalyticsOptions, dependencies: AnalyticsDependencies) {
    this.#executionMs = executionMs;
    this.#dependencies = dependencies;
    const { statements, clock, events } = dependencies;
    this.#places = new QueryPlaces({ runningMax: statements.concurrentMax }, { timers: clock });
    events.analyticsOpened({ running: () => this.#places.running, waiting: () => this.#places.waiting });
  }

  /** @throws {SluiceError} with the code of the refusal or of the bound that was met; `bill` tells what it cost */
  async run(
    caller: SqlCaller,
    question: SqlQuery,
    { signal, bill }: { readonly signal: AbortSignal; readonly bill: SqlBill },
  ): Promise<SqlAnswer> {
    const { events } = this.#dependencies;
    try {
      requireSqlTier(caller);
      const judged = await this.#judged(question);
      if (signal.aborted) throw new LedgerAbortedError();
      await this.#charge(caller, serviceCredits.sqlQuery, bill);
      const { format, max_rows: rowsMax } = question;
      const answer = await this.#placed(caller, { ...judged, format, rowsMax, signal }, bill);
      events.queryEnded("answered", { bytesRead: answer.bytesRead, elapsedMs: answer.elapsedMs });
      return answer;
    } catch (thrown) {
      const error = customerFailure(thrown);
      if (error instanceof LedgerAbortedError) events.queryEnded("left", null);
      else events.queryEnded(error instanceof SluiceError ? error.code : "INTERNAL_ERROR", null);
      throw error;
    }
  }

  /** The one-line form of a query that may run. Throws SQL_SYNTAX, SQL_NOT_ALLOWED, SQL_INVALID. */
  async #judged({ query, parameters }: SqlQuery): Promise<Pick<CustomerStatement, "sql" | "parameters">> {
    const { statements } = this.#dependencies;
    const formatted = await statements.formatted(query).catch((error: unknown) => {
      throw syntaxFailure(error, query);
    });
    const bound = boundParameters(formatted, parameters);
    const judgement = judgeText(formatted) ?? judgeTree(await statements.syntaxTree(formatted, bound), formatted);
    if (judgement.ok) return { sql: judgement.isBare ? `SELECT * FROM (${formatted})` : formatted, parameters: bound };
    const { message, what } = judgement;
    throw new SluiceError("SQL_NOT_ALLOWED", { message, details: { what } });
  }

  async #charge(caller: SqlCaller, credits: number, bill: SqlBill): Promise<void> {
    const { access } = this.#dependencies;
    if (!(await access.charge(caller, credits))) {
      throw new SluiceError("INSUFFICIENT_CREDITS", access.shortage(caller, credits, "query"));
    }
    bill.credits += credits;
  }

  #refund(caller: SqlCaller, bill: SqlBill): void {
    this.#dependencies.access.refund(caller, bill.credits, this.#dependencies.clock.now());
    bill.credits = 0;
  }

  async #placed(
    caller: SqlCaller,
    statement: Omit<CustomerStatement, "accountId" | "network" | "executionMs">,
    bill: SqlBill,
  ): Promise<SqlAnswer> {
    const { clock, statements } = this.#dependencies;
    const { accountId, network } = caller;
    const leave = await this.#places.enter(accountId, statement.signal).catch((error: unknown) => {
      this.#refund(caller, bill);
      throw error;
    });
    const startedMs = clock.monotonic();
    const watch = this.#watch(accountId);
    let result: CustomerResult;
    try {
      result = await statements.run({ ...statement, accountId, network, executionMs: this.#executionMs });
    } catch (thrown) {
      leave();
      await this.#settle(caller, { thrown, bytesRead: watch.bytesRead() }, bill);
      throw thrown;
    } finally {
      watch.end();
    }
    const { format } = statement;
    return await this.#answer(result, { caller, format, elapsedMs: clock.monotonic() - startedMs, bill, leave });
  }

  async #answer(
    { body, rowsRead, bytesRead }: CustomerResult,
    terms: {
      readonly caller: SqlCaller;
      readonly format: SqlFormat;
      readonly elapsedMs: number;
      readonly bill: SqlBill;
      readonly leave: () => void;
    },
  ): Promise<SqlAnswer> {
    const { caller, format, bill, leave } = terms;
    const elapsedMs = Math.round(terms.elapsedMs * 10) / 10;
    try {
      await this.#charge(caller, sqlReadCredits(bytesRead), bill);
      const figures = { rowsRead, bytesRead, elapsedMs, credits: bill.credits };
      const pieces = format === "json" ? jsonResult(body, figures) : body;
      const delivered = await deliver(pieces, {
        timers: this.#dependencies.clock,
        ended: () => {
          body.destroy();
          leave();
        },
      });
      return { ...delivered, ...figures, format };
    } catch (error) {
      body.destroy();
      leave();
      throw error;
    }
  }

  /** What a query that gave no result costs: what it has read where it failed on the way or was left, else nothing. */
  async #settle(
    caller: SqlCaller,
    { thrown, bytesRead }: { readonly thrown: unknown; readonly bytesRead: bigint },
    bill: SqlBill,
  ): Promise<void> {
    const error = customerFailure(thrown);
    if (!isCharged(error)) {
      this.#refund(caller, bill);
      return;
    }
    const isWhole = error instanceof SluiceError && error.code === "SQL_READ_LIMIT";
    const rest = sqlReadCredits(isWhole ? BigInt(sqlLimits.readBytes) : bytesRead);
    // Credits that are not there any more were used by work that is done.
    if (await this.#dependencies.access.charge(caller, rest)) bill.credits += rest;
  }

  #watch(accountId: string): { readonly bytesRead: () => bigint; readonly end: () => void } {
    const { clock, statements } = this.#dependencies;
    let last = 0n;
    let isAsking = false;
    const ask = async (): Promise<void> => {
      if (isAsking) return;
      isAsking = true;
      const bytes = await statements.bytesRead(accountId).catch(() => 0n);
      if (bytes > last) last = bytes;
      isAsking = false;
    };
    const timer = clock.every(watchEveryMs, () => void ask());
    return { bytesRead: () => last, end: () => timer.cancel() };
  }
}
