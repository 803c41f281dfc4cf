import { bundleReasons, engineErrorTable } from "@sluice/contract/engine";
import { type ErrorCode, errorTable, SluiceError } from "@sluice/contract/errors";
import { oracleErrorTable } from "@sluice/contract/oracle";
import type { Page, RequestFoundBody, RequestRecordBody } from "@sluice/contract/schemas";
import * as schemas from "@sluice/contract/schemas";
import type { Clock } from "@sluice/lib";
import type { Hono } from "hono";
import { dataSinceHeaders, parseInput, type RestEnvironment } from "../http/index.ts";
import type { FoundRequests, RequestFact, RequestPlace, RequestSearch } from "../ledger/index.ts";
import type { AdminCaller, Admission } from "./admin-access.ts";
import { isoTime } from "./records.ts";

/** The ledger's facts of requests. */
export interface RequestFacts {
  /** Writes what this process still holds, so that what was answered a moment ago is found; may fail. */
  flush(): Promise<void>;
  find(requestId: string, accountId: string | null): Promise<readonly RequestFact[]>;
  search(search: RequestSearch): Promise<FoundRequests>;
}

export interface RequestsDependencies {
  readonly clock: Clock;
  readonly adminAccess: Admission;
  readonly requests: RequestFacts;
  /** The moment from which all records of requests are kept, Unix milliseconds; null where that is for ever. */
  readonly requestsKeptSince: () => number | null;
}

/** An account, for its own requests, or an operator for all. */
type Viewer = Pick<AdminCaller, "accountId" | "isOperator">;

const dayMs = 24 * 3_600_000;
/** A list reads the ledger of at most so many days. */
const daysMax = 400;

/** Requests by id and by what they were, for the accounts that made them and for operators. */
export function addRequestRoutes(app: Hono<RestEnvironment>, dependencies: RequestsDependencies): void {
  app.get("/api/v1/requests", async (context) => {
    const viewer = await dependencies.adminAccess.admit(context, "read");
    const search = searchOf(context.req.query(), viewer, dependencies.clock.now());
    const headers = dataSinceHeaders(search.sinceMs, dependencies.requestsKeptSince());
    return context.json(await listRequests(search, viewer, dependencies), 200, headers);
  });
  app.get("/api/v1/requests/:id", async (context) => {
    const viewer = await dependencies.adminAccess.admit(context, "read");
    return context.json(await showRequest(context.req.param("id"), viewer, dependencies));
  });
}

async function showRequest(
  requestId: string,
  viewer: Viewer,
  { requests }: RequestsDependencies,
): Promise<RequestFoundBody> {
  await requests.flush().catch(() => undefined);
  const facts = await requests.find(requestId, viewer.isOperator ? null : viewer.accountId);
  if (facts.length === 0) throw new SluiceError("NOT_FOUND", { message: noRecord });
  return { request_id: requestId, items: facts.map((fact) => recordOf(fact, viewer)) };
}

const noRecord =
  "There is no record of such a request: calls are recorded by account, so one without a valid key has none, nor " +
  "have bundles that were taken, names, the console and the administration; a record may take two seconds to be " +
  "written";

async function listRequests(
  search: RequestSearch,
  viewer: Viewer,
  { requests }: RequestsDependencies,
): Promise<Page<RequestRecordBody>> {
  await requests.flush().catch(() => undefined);
  const { facts, next } = await requests.search(search);
  return {
    items: facts.map((fact) => recordOf(fact, viewer)),
    next_cursor: next === null ? null : encodeCursor({ ...next, sinceMs: search.sinceMs }),
  };
}

function searchOf(parameters: Record<string, string>, viewer: Viewer, nowMs: number): RequestSearch {
  const query = parseInput(schemas.requestsQuery, parameters);
  if (query.account_id !== undefined && query.account_id !== viewer.accountId && !viewer.isOperator) {
    throw new SluiceError("PERMISSION_DENIED", { message: "Requests of other accounts are for operators" });
  }
  const cursor = query.cursor === undefined ? null : decodeCursor(query.cursor);
  const untilMs = query.until === undefined ? nowMs + 1 : Date.parse(query.until);
  const sinceMs = query.since === undefined ? (cursor?.sinceMs ?? untilMs - dayMs) : Date.parse(query.since);
  if (sinceMs >= untilMs) throw invalid("since", "must be before until");
  if (untilMs - sinceMs > daysMax * dayMs) throw invalid("since", `must be at most ${daysMax} days before until`);
  return {
    accountId: query.account_id ?? (viewer.isOperator ? null : viewer.accountId),
    keyId: query.key ?? null,
    network: query.network ?? null,
    method: query.method ?? null,
    status: query.status ?? null,
    ...codeOf(query.code),
    sinceMs,
    untilMs,
    after: cursor,
    limit: query.limit,
  };
}

function invalid(path: string, message: string): SluiceError {
  return new SluiceError("INVALID_INPUT", { message: `${path} ${message}`, details: { errors: [{ path, message }] } });
}

const nameOf = (rpcCode: number | null): string | null =>
  rpcCode === null ? null : (namesByRpcCode.get(rpcCode) ?? null);

const namesByRpcCode: ReadonlyMap<number, string> = new Map(
  Object.entries(errorTable).map(([name, { rpcCode }]) => [rpcCode, name]),
);

/** Every code that a record may have. */
const publicCodes: ReadonlySet<string> = new Set([
  ...Object.keys(errorTable),
  ...Object.keys(engineErrorTable),
  ...Object.keys(oracleErrorTable),
  ...bundleReasons,
]);

/** A code is given as its number or as its name in one of the tables. */
function codeOf(code: string | undefined): Pick<RequestSearch, "code" | "rpcCode"> {
  if (code === undefined) return { code: null, rpcCode: null };
  if (Object.hasOwn(errorTable, code)) return { code, rpcCode: errorTable[code as ErrorCode].rpcCode };
  if (publicCodes.has(code)) return { code, rpcCode: null };
  const number = Number(code);
  if (Number.isInteger(number)) return { code: null, rpcCode: number };
  throw invalid("code", "is no code of the reference of errors");
}

function recordOf(fact: RequestFact, viewer: Viewer): RequestRecordBody {
  return {
    request_id: fact.requestId,
    at: isoTime(fact.at),
    account_id: fact.accountId,
    key_id: fact.keyId,
    network: fact.network === "" ? null : fact.network,
    endpoint: fact.door,
    method: fact.method,
    status: fact.status,
    code: fact.rpcCode,
    error: fact.code === "" ? nameOf(fact.rpcCode) : fact.code,
    latency_ms: Math.round(fact.latencyMs * 1_000) / 1_000,
    bytes_in: fact.bytesIn,
    bytes_out: fact.bytesOut,
    credits: fact.credits,
    cache: fact.cache === "" ? null : fact.cache,
    upstream: fact.upstream === "" || !viewer.isOperator ? null : fact.upstream,
  };
}

/** A place, and the first moment of the list that it belongs to: a day ago is later on the next page. */
interface Cursor extends RequestPlace {
  readonly sinceMs: number;
}

function encodeCursor({ atMs, requestId, skip, sinceMs }: Cursor): string {
  return Buffer.from(JSON.stringify([atMs, skip, sinceMs, requestId])).toString("base64url");
}

function decodeCursor(cursor: string): Cursor {
  try {
    const parts: unknown = JSON.parse(Buffer.from(cursor, "base64url").toString("utf8"));
    if (Array.isArray(parts) && parts.length === 4) {
      const [atMs, skip, sinceMs, requestId] = parts as readonly unknown[];
      const isPlace = isCount(atMs) && isCount(skip) && skip <= skipMax && isCount(sinceMs);
      if (isPlace && typeof requestId === "string" && requestId.isWellFormed()) {
        return { atMs, skip, sinceMs, requestId };
      }
    }
  } catch {
    // Whatever it is, it is no cursor.
  }
  throw invalid("cursor", "is not a cursor of this list");
}

/** Far above the items of a batch. */
const skipMax = 1_000_000;
const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;
