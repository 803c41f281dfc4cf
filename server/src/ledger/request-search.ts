import type { LedgerConnection } from "./connection.ts";
import { type RequestFact, statusStillOpen } from "./request-fact.ts";

/** A place in the order of a search: after the first `skip` facts that have this time and id. */
export interface RequestPlace {
  /** Unix milliseconds. */
  readonly atMs: number;
  readonly requestId: string;
  /** The items of one batch have the same time and id. */
  readonly skip: number;
}

/** Which facts are searched for; null does not matter. */
export interface RequestSearch {
  readonly accountId: string | null;
  readonly keyId: string | null;
  readonly network: string | null;
  readonly method: string | null;
  /** Null is every status but that of facts about a connection that goes on. */
  readonly status: number | null;
  /**
   * The public code of a refusal. With `rpcCode` beside it, records that have no public code are found by that: earlier
   * versions wrote none.
   */
  readonly code: string | null;
  readonly rpcCode: number | null;
  /** Unix milliseconds; `untilMs` is the first moment that no longer counts. */
  readonly sinceMs: number;
  readonly untilMs: number;
  readonly after: RequestPlace | null;
  /** At most 1,000. */
  readonly limit: number;
}

export interface FoundRequests {
  /** Newest first. */
  readonly facts: readonly RequestFact[];
  /** Where the next page begins; null on the last. */
  readonly next: RequestPlace | null;
}

const factsMax = 1_000;

type TextColumn = "request_id" | "account_id" | "key_id" | "network" | "method" | "code" | "upstream";
type CountColumn = "at_ms" | "bytes_in" | "bytes_out" | "credits";
type RequestRow = Readonly<Record<TextColumn | CountColumn, string>> & {
  readonly door: RequestFact["door"];
  readonly cache: RequestFact["cache"];
  readonly status: number;
  readonly rpc_code: number | null;
  readonly latency_ms: number;
};

const selected = "SELECT *, toUnixTimestamp64Milli(at) AS at_ms FROM requests";
/**
 * Facts of the same time and id in an order of their own, so that pages over them meet; equal ones stand for each
 * other.
 */
const ties = "method, status, latency_ms, bytes_in, bytes_out, credits, cache, upstream, code";

/**
 * The facts of one request, oldest first: one, or those of each item of a batch, or those of a connection. The first
 * 1,000 of them. `accountId` null means all accounts.
 */
export async function findRequest(
  connection: LedgerConnection,
  requestId: string,
  accountId: string | null,
): Promise<RequestFact[]> {
  const own = accountId === null ? "" : " AND account_id = {account:String}";
  const rows = await connection.query<RequestRow>(
    `${selected} WHERE request_id = {id:String}${own} ORDER BY at, ${ties} LIMIT ${factsMax}`,
    { id: requestId, ...(accountId === null ? {} : { account: accountId }) },
  );
  return rows.map(factOfRow);
}

/** One page of the facts that a search finds, newest first. */
export async function searchRequests(connection: LedgerConnection, search: RequestSearch): Promise<FoundRequests> {
  const { accountId, keyId, network, method, status, code, rpcCode, after } = search;
  const limit = Math.min(Math.max(Math.trunc(search.limit), 1), factsMax);
  const conditions = [
    "at >= fromUnixTimestamp64Milli({since:Int64})",
    "at < fromUnixTimestamp64Milli({until:Int64})",
    ...(accountId === null ? [] : ["account_id = {account:String}"]),
    ...(keyId === null ? [] : ["key_id = {key:String}"]),
    ...(network === null ? [] : ["network = {network:String}"]),
    ...(method === null ? [] : ["method = {method:String}"]),
    status === null ? `status != ${statusStillOpen}` : "status = {status:UInt16}",
    ...codeConditions(search),
    ...(after === null
      ? []
      : [
          "at <= fromUnixTimestamp64Milli({at:Int64})",
          "(at < fromUnixTimestamp64Milli({at:Int64}) OR request_id <= {id:String})",
        ]),
  ];
  const rows = await connection.query<RequestRow>(
    `${selected} WHERE ${conditions.join(" AND ")} ORDER BY at DESC, request_id DESC, ${ties} ` +
      "LIMIT {limit:UInt32} OFFSET {skip:UInt32}",
    {
      since: search.sinceMs,
      until: search.untilMs,
      account: accountId,
      key: keyId,
      network,
      method,
      status,
      code,
      rpcCode,
      at: after?.atMs ?? 0,
      id: after?.requestId ?? "",
      limit: limit + 1,
      skip: after?.skip ?? 0,
    },
  );
  const facts = rows.slice(0, limit).map(factOfRow);
  const last = facts.at(-1);
  return { facts, next: rows.length > limit && last !== undefined ? placeAfter(facts, last, after) : null };
}

function codeConditions({ code, rpcCode }: Pick<RequestSearch, "code" | "rpcCode">): string[] {
  if (code === null) return rpcCode === null ? [] : ["rpc_code = {rpcCode:Int32}"];
  if (rpcCode === null) return ["code = {code:String}"];
  return ["(code = {code:String} OR (code = '' AND rpc_code = {rpcCode:Int32}))"];
}

function placeAfter(facts: readonly RequestFact[], last: RequestFact, before: RequestPlace | null): RequestPlace {
  const isAtLast = (at: number, requestId: string): boolean => at === last.at && requestId === last.requestId;
  const seen = facts.filter(({ at, requestId }) => isAtLast(at, requestId)).length;
  const skipped = before !== null && isAtLast(before.atMs, before.requestId) ? before.skip : 0;
  return { atMs: last.at, requestId: last.requestId, skip: seen + skipped };
}

function factOfRow(row: RequestRow): RequestFact {
  return {
    at: Number(row.at_ms),
    requestId: row.request_id,
    accountId: row.account_id,
    keyId: row.key_id,
    network: row.network,
    door: row.door,
    method: row.method,
    status: row.status,
    rpcCode: row.rpc_code,
    latencyMs: row.latency_ms,
    bytesIn: Number(row.bytes_in),
    bytesOut: Number(row.bytes_out),
    credits: Number(row.credits),
    code: row.code,
    cache: row.cache,
    upstream: row.upstream,
  };
}
