import type { Clock } from "@sluice/lib";
import type { LedgerConnection } from "./connection.ts";
import { countsAsError, countsAsRequest } from "./request-figures.ts";

/** The requests of one minute. */
interface MinuteUsage {
  /** Start of the minute, Unix milliseconds. */
  readonly minute: number;
  readonly requests: number;
  readonly credits: number;
}

/** The requests of one method. */
interface MethodUsage {
  readonly method: string;
  readonly requests: number;
  readonly errors: number;
  readonly credits: number;
}

/** The requests of one hour. */
export interface HourUsage {
  readonly requests: number;
  /** Requests with an HTTP status of 400 or more or a JSON-RPC error, and connections that were refused or failed. */
  readonly errors: number;
  readonly credits: number;
  /** The last 60 minutes, oldest first, the present one last; minutes without requests are there with zeros. */
  readonly byMinute: readonly MinuteUsage[];
  /** The ten methods with the most requests. */
  readonly byMethod: readonly MethodUsage[];
}

const minuteMs = 60_000;

interface Scope {
  readonly condition: string;
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** Rows since a time, of one account or of all. */
function scope(sinceMs: number, accountId: string | null): Scope {
  const since = "at >= fromUnixTimestamp64Milli({since:Int64})";
  if (accountId === null) return { condition: since, parameters: { since: sinceMs } };
  const condition = `account_id = {account:String} AND ${since}`;
  return { condition, parameters: { since: sinceMs, account: accountId } };
}

/** Usage of the last 60 minutes. `accountId` null means all accounts. */
export async function lastHour(
  connection: LedgerConnection,
  clock: Clock,
  accountId: string | null,
): Promise<HourUsage> {
  const present = Math.floor(clock.now() / minuteMs) * minuteMs;
  const first = present - 59 * minuteMs;
  const { condition, parameters } = scope(first, accountId);
  const figures = `countIf(${countsAsRequest}) AS requests, countIf(${countsAsError}) AS errors, sum(credits) AS credits`;
  const [minutes, methods] = await Promise.all([
    connection.query<Record<"minute" | "requests" | "errors" | "credits", string>>(
      `SELECT toUnixTimestamp64Milli(at) - toUnixTimestamp64Milli(at) % ${minuteMs} AS minute, ${figures} ` +
        `FROM requests WHERE ${condition} GROUP BY minute ORDER BY minute`,
      parameters,
    ),
    connection.query<Record<"method" | "requests" | "errors" | "credits", string>>(
      `SELECT method, ${figures} FROM requests WHERE ${condition} GROUP BY method ORDER BY requests DESC, method LIMIT 10`,
      parameters,
    ),
  ]);
  const byStart = new Map(minutes.map((row) => [Number(row.minute), row]));
  const byMinute = Array.from({ length: 60 }, (_, index): MinuteUsage => {
    const minute = first + index * minuteMs;
    const row = byStart.get(minute);
    return { minute, requests: Number(row?.requests ?? 0), credits: Number(row?.credits ?? 0) };
  });
  const total = (of: "requests" | "errors" | "credits"): number =>
    minutes.reduce((sum, row) => sum + Number(row[of]), 0);
  const byMethod = methods.map((row) => ({
    method: row.method,
    requests: Number(row.requests),
    errors: Number(row.errors),
    credits: Number(row.credits),
  }));
  return { requests: total("requests"), errors: total("errors"), credits: total("credits"), byMinute, byMethod };
}
