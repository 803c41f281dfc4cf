import type { LedgerConnection } from "./connection.ts";
import { countsAsError, countsAsRequest, countsAsTimed } from "./request-figures.ts";

/** A query for the usage of one owner account. */
export interface UsageQuestion {
  readonly accountId: string;
  /** Unix milliseconds; `untilMs` is the first moment that no longer counts. */
  readonly fromMs: number;
  readonly untilMs: number;
  /** Null is every network, and requests without one. */
  readonly network: string | null;
  readonly groupBy: "day" | "method" | "key";
  /** Groups are ordered as text; those after this one are returned. Null begins at the first. */
  readonly after: string | null;
  readonly limit: number;
}

/** Whole calendar months of one owner account. */
export type UsageRange = Pick<UsageQuestion, "accountId" | "fromMs" | "untilMs">;

/** Counts and sums over a set of requests. */
export interface UsageSums {
  readonly requests: number;
  /** Requests with an HTTP status of 400 or more or a JSON-RPC error, and connections that were refused or failed. */
  readonly errors: number;
  readonly credits: bigint;
  readonly bytesIn: bigint;
  readonly bytesOut: bigint;
  readonly cacheHits: number;
  readonly cacheMisses: number;
  /** Of requests, not of connections; null without requests. */
  readonly latencyMs: { readonly p50: number; readonly p95: number; readonly p99: number } | null;
}

/** The figures of one group. */
interface UsageRow extends UsageSums {
  /** A day in UTC such as 2026-11-20, a method, or the id of a key. */
  readonly group: string;
}

/** The answer to a UsageQuestion. */
export interface Usage {
  readonly rows: readonly UsageRow[];
  /** Whether there are groups after the last row. */
  readonly more: boolean;
  readonly total: UsageSums;
}

const groups = { day: "toString(toDate(at))", method: "toString(method)", key: "key_id" } as const;

const figures =
  `countIf(${countsAsRequest}) AS requests, countIf(${countsAsError}) AS errors, sum(credits) AS spent, ` +
  "sum(bytes_in) AS taken, sum(bytes_out) AS given, countIf(cache = 'HIT') AS hits, countIf(cache = 'MISS') AS misses, " +
  `countIf(${countsAsTimed}) AS timed, quantilesTDigestIf(0.5, 0.95, 0.99)(latency_ms, ${countsAsTimed}) AS latencies`;

interface FiguresRow {
  readonly requests: string;
  readonly errors: string;
  readonly spent: string;
  readonly taken: string;
  readonly given: string;
  readonly hits: string;
  readonly misses: string;
  readonly timed: string;
  readonly latencies: readonly (number | null)[];
}

/** One page of an account's usage and the sum of the whole range. Days are of UTC, as the column's time is. */
export async function readUsage(connection: LedgerConnection, question: UsageQuestion): Promise<Usage> {
  const { accountId, fromMs, untilMs, network, groupBy, after, limit } = question;
  const condition =
    "account_id = {account:String} AND at >= fromUnixTimestamp64Milli({from:Int64}) " +
    "AND at < fromUnixTimestamp64Milli({until:Int64})" +
    (network === null ? "" : " AND network = {network:String}");
  const parameters = { account: accountId, from: fromMs, until: untilMs, ...(network === null ? {} : { network }) };
  const group = groups[groupBy];
  const beyond = after === null ? "" : ` AND ${group} > {after:String}`;
  const [rows, totals] = await Promise.all([
    connection.query<FiguresRow & { readonly name: string }>(
      `SELECT ${group} AS name, ${figures} FROM requests WHERE ${condition}${beyond} ` +
        "GROUP BY name ORDER BY name LIMIT {limit:UInt32}",
      { ...parameters, limit: limit + 1, ...(after === null ? {} : { after }) },
    ),
    connection.query<FiguresRow>(`SELECT ${figures} FROM requests WHERE ${condition}`, parameters),
  ]);
  const [total] = totals;
  if (total === undefined) throw new Error("a sum without a row");
  return {
    rows: rows.slice(0, limit).map((row) => ({ group: row.name, ...figuresOf(row) })),
    more: rows.length > limit,
    total: figuresOf(total),
  };
}

/** How many requests of an account are recorded, by calendar month in UTC ("2026-11"). */
export async function recordedByMonth(
  connection: LedgerConnection,
  { accountId, fromMs, untilMs }: UsageRange,
): Promise<ReadonlyMap<string, bigint>> {
  const rows = await connection.query<{ readonly month: string; readonly requests: string }>(
    `SELECT formatDateTime(at, '%Y-%m') AS month, countIf(${countsAsRequest}) AS requests FROM requests ` +
      "WHERE account_id = {account:String} AND at >= fromUnixTimestamp64Milli({from:Int64}) " +
      "AND at < fromUnixTimestamp64Milli({until:Int64}) GROUP BY month",
    { account: accountId, from: fromMs, until: untilMs },
  );
  return new Map(rows.map(({ month, requests }) => [month, BigInt(requests)]));
}

function figuresOf(row: FiguresRow): UsageSums {
  const [p50, p95, p99] = row.latencies.map((latency) => latency ?? 0);
  return {
    requests: Number(row.requests),
    errors: Number(row.errors),
    credits: BigInt(row.spent),
    bytesIn: BigInt(row.taken),
    bytesOut: BigInt(row.given),
    cacheHits: Number(row.hits),
    cacheMisses: Number(row.misses),
    latencyMs: row.timed === "0" ? null : { p50: p50 ?? 0, p95: p95 ?? 0, p99: p99 ?? 0 },
  };
}
