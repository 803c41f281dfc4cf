import { SluiceError } from "@sluice/contract/errors";
import type { UsageFigures, UsageReport } from "@sluice/contract/schemas";
import * as schemas from "@sluice/contract/schemas";
import { platformTierLimits } from "@sluice/contract/tiers";
import type { Clock } from "@sluice/lib";
import type { Hono } from "hono";
import { dataSinceHeaders, parseInput, type RestEnvironment } from "../http/index.ts";
import type { UsageSums as LedgerFigures, Usage, UsageQuestion, UsageRange } from "../ledger/index.ts";
import type { AccountRecord, State } from "../state/index.ts";
import type { AdminCaller, Admission } from "./admin-access.ts";
import { isoTime } from "./records.ts";

export interface UsageDependencies {
  readonly state: { readonly accounts: Pick<State["accounts"], "get"> };
  readonly clock: Clock;
  readonly adminAccess: Admission;
  /** Writes what this process still holds, so that what was answered a moment ago is counted; may fail. */
  readonly flushUsage: () => Promise<void>;
  readonly readUsage: (question: UsageQuestion) => Promise<Usage>;
  /** Requests of an account that were served in a month, recorded or not. */
  readonly servedRequests: (accountId: string, month: string) => Promise<bigint>;
  /** Requests of an account that are recorded, by month. */
  readonly recordedRequests: (range: UsageRange) => Promise<ReadonlyMap<string, bigint>>;
  /** The moment from which all records of requests are kept, Unix milliseconds; null where that is for ever. */
  readonly requestsKeptSince: () => number | null;
  readonly creditsUsed: (accountId: string) => Promise<{ month: string; used: bigint }>;
}

const dayMs = 24 * 3_600_000;
/** A report reads the ledger of at most so many days. */
const daysMax = 400;
/** Facts are written within seconds; when the ledger was away they come later, and figures of a day wait for them. */
const settledAfterMs = 15 * 60_000;

type Query = ReturnType<typeof readQuery>;

/** What an owner account used: by day, method or key from the ledger, and the present month against its allowance. */
export function addUsageRoute(app: Hono<RestEnvironment>, dependencies: UsageDependencies): void {
  app.get("/api/v1/usage", async (context) => {
    const caller = await dependencies.adminAccess.admit(context, "read");
    const query = readQuery(context.req.query(), dependencies.clock.now());
    const account = await accountOf(caller, query.account_id, dependencies.state);
    const range = monthsOf(query);
    const keptSinceMs = dependencies.requestsKeptSince();
    // Before the records are read: what is served meanwhile is not missing.
    const served = await Promise.all(range.months.map((month) => dependencies.servedRequests(account.id, month)));
    await dependencies.flushUsage().catch(() => undefined);
    const [{ items, nextCursor, total }, month, recorded] = await Promise.all([
      readPage(account.id, query, dependencies),
      monthOf(account, dependencies),
      dependencies.recordedRequests({ accountId: account.id, fromMs: range.fromMs, untilMs: range.untilMs }),
    ]);
    const report: UsageReport = {
      account_id: account.id,
      from: dayOf(query.fromMs),
      to: dayOf(query.untilMs - dayMs),
      group_by: query.group_by,
      items,
      next_cursor: nextCursor,
      total,
      missing: missingOf({ months: range.months, keptSinceMs }, served, recorded),
      month,
    };
    const headers = dataSinceHeaders(query.fromMs, keptSinceMs);
    return context.json(report, 200, { "Cache-Control": "no-store", ...headers });
  });
}

function invalid(path: string, message: string): SluiceError {
  return new SluiceError("INVALID_INPUT", { message: `${path} ${message}`, details: { errors: [{ path, message }] } });
}

function readQuery(parameters: Record<string, string>, nowMs: number) {
  const query = parseInput(schemas.usageQuery, parameters);
  const today = nowMs - (nowMs % dayMs);
  const now = new Date(nowMs);
  const month = Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1);
  const untilMs = (query.to === undefined ? today : Date.parse(query.to)) + dayMs;
  const fromMs = query.from === undefined ? Math.min(month, untilMs - dayMs) : Date.parse(query.from);
  if (fromMs >= untilMs) throw invalid("from", "must not be after to");
  if (untilMs - fromMs > daysMax * dayMs) throw invalid("from", `must be at most ${daysMax} days before to`);
  return { ...query, fromMs, untilMs, nowMs };
}

async function accountOf(
  caller: AdminCaller,
  requested: string | undefined,
  state: UsageDependencies["state"],
): Promise<AccountRecord> {
  const id = requested ?? caller.accountId;
  if (id === null) throw invalid("account_id", "must name an account");
  if (id !== caller.accountId && !caller.isOperator) {
    throw new SluiceError("PERMISSION_DENIED", { message: "Usage of other accounts is for operators" });
  }
  const account = await state.accounts.get(id);
  if (account === null) throw new SluiceError("NOT_FOUND", { message: "There is no such account" });
  return account;
}

async function readPage(accountId: string, query: Query, dependencies: UsageDependencies) {
  const { group_by: groupBy, fromMs, untilMs, nowMs, limit } = query;
  const after = query.cursor === undefined ? null : decodeCursor(groupBy, query.cursor);
  const { rows, more, total } = await dependencies.readUsage({
    accountId,
    fromMs,
    untilMs,
    network: query.network ?? null,
    groupBy,
    after,
    limit,
  });
  const items = rows.map(({ group, ...figures }) => ({
    group,
    ...figuresOf(figures),
    final: nowMs >= (groupBy === "day" ? Date.parse(group) + dayMs : untilMs) + settledAfterMs,
  }));
  const last = items.at(-1);
  return {
    items,
    nextCursor: more && last !== undefined ? encodeCursor(groupBy, last.group) : null,
    total: figuresOf(total),
  };
}

function figuresOf(figures: LedgerFigures): UsageFigures {
  const { latencyMs } = figures;
  const tenth = (ms: number): number => Math.round(ms * 10) / 10;
  return {
    requests: figures.requests,
    errors: figures.errors,
    credits: String(figures.credits),
    bytes_in: String(figures.bytesIn),
    bytes_out: String(figures.bytesOut),
    cache_hits: figures.cacheHits,
    cache_misses: figures.cacheMisses,
    latency_ms:
      latencyMs === null ? null : { p50: tenth(latencyMs.p50), p95: tenth(latencyMs.p95), p99: tenth(latencyMs.p99) },
  };
}

async function monthOf(account: AccountRecord, { creditsUsed }: UsageDependencies): Promise<UsageReport["month"]> {
  const { month, used } = await creditsUsed(account.id);
  const allowance = account.creditsMonthly ?? platformTierLimits[account.tiers.platform].creditsMonthly;
  const [year = 0, number = 0] = month.split("-").map(Number);
  return {
    month,
    used: String(used),
    allowance: allowance === null ? null : String(allowance),
    remaining: allowance === null ? null : String(allowance > used ? allowance - used : 0n),
    resets_at: isoTime(Date.UTC(year, number, 1)),
  };
}

/** The calendar months, in UTC, that a range of days touches. */
function monthsOf({ fromMs, untilMs }: Query): { fromMs: number; untilMs: number; months: string[] } {
  const first = new Date(fromMs);
  const [year, month] = [first.getUTCFullYear(), first.getUTCMonth()];
  const months: string[] = [];
  let endMs = Date.UTC(year, month, 1);
  for (let index = 0; endMs < untilMs; index += 1) {
    months.push(dayOf(endMs).slice(0, 7));
    endMs = Date.UTC(year, month + index + 1, 1);
  }
  return { fromMs: Date.UTC(year, month, 1), untilMs: endMs, months };
}

/**
 * What was served in a month and has no record; months without such are left out, and so are those of which records
 * were deleted for their age.
 */
function missingOf(
  { months, keptSinceMs }: { readonly months: readonly string[]; readonly keptSinceMs: number | null },
  served: readonly bigint[],
  recorded: ReadonlyMap<string, bigint>,
): UsageReport["missing"] {
  return months.flatMap((month, index) => {
    if (keptSinceMs !== null && Date.parse(`${month}-01`) < keptSinceMs) return [];
    const missing = (served[index] ?? 0n) - (recorded.get(month) ?? 0n);
    return missing > 0n ? [{ month, requests: Number(missing) }] : [];
  });
}

const dayOf = (ms: number): string => isoTime(ms).slice(0, 10);

/** The cursor names its grouping, so that one of another report is refused instead of silently starting somewhere. */
function encodeCursor(groupBy: string, after: string): string {
  return Buffer.from(JSON.stringify([groupBy, after])).toString("base64url");
}

function decodeCursor(groupBy: string, cursor: string): string {
  try {
    const parts: unknown = JSON.parse(Buffer.from(cursor, "base64url").toString("utf8"));
    if (Array.isArray(parts) && parts.length === 2 && parts[0] === groupBy) {
      const [, after] = parts as readonly unknown[];
      if (typeof after === "string" && after.isWellFormed() && !after.includes("\0")) return after;
    }
  } catch {
    // Whatever it is, it is no cursor.
  }
  throw invalid("cursor", "is not a cursor of this report");
}
