import { SluiceError } from "@sluice/contract/errors";
import { limits } from "@sluice/contract/limits";
import { type Expression, type SqlBool, sql } from "kysely";
import type { PageRequest, RecordPage } from "./records.ts";
import { isIdentifier } from "./values.ts";

/** The end of a page: lists are ordered by (time, id), so rows added or removed between two pages shift nothing. */
export interface Position {
  readonly time: bigint;
  readonly id: string;
}

function badCursor(): SluiceError {
  const errors = [{ path: "cursor", message: "is not a cursor of this list" }];
  return new SluiceError("INVALID_INPUT", { message: "cursor is not a cursor of this list", details: { errors } });
}

/** The cursor names its list, so that one of another list is refused instead of silently starting somewhere. */
function encodeCursor(list: string, position: Position): string {
  return Buffer.from(JSON.stringify([list, position.time.toString(), position.id])).toString("base64url");
}

function decodeCursor(list: string, cursor: string): Position {
  if (cursor.length > 1_000 || !/^[A-Za-z0-9_-]+$/.test(cursor)) throw badCursor();
  let parts: unknown;
  try {
    parts = JSON.parse(Buffer.from(cursor, "base64url").toString("utf8"));
  } catch {
    throw badCursor();
  }
  if (!Array.isArray(parts) || parts.length !== 3) throw badCursor();
  const [name, time, id] = parts as readonly unknown[];
  if (name !== list || typeof time !== "string" || !/^\d{1,16}$/.test(time)) throw badCursor();
  if (typeof id !== "string" || !isIdentifier(id)) throw badCursor();
  return { time: BigInt(time), id };
}

/** A request checked: how many rows, and after which position (null is from the start). INVALID_INPUT otherwise. */
export function readPageRequest(list: string, page: PageRequest): { limit: number; after: Position | null } {
  const limit = page.limit ?? limits.pageDefault;
  if (!Number.isSafeInteger(limit) || limit < 1 || limit > limits.pageMax) {
    const message = `must be a whole number from 1 to ${limits.pageMax}`;
    throw new SluiceError("INVALID_INPUT", {
      message: `limit ${message}`,
      details: { errors: [{ path: "limit", message }] },
    });
  }
  const cursor = page.cursor ?? null;
  return { limit, after: cursor === null ? null : decodeCursor(list, cursor) };
}

/** The condition "comes after `after`" over the two columns a list is ordered by. */
export function beyond(
  columns: { time: string; id: string },
  after: Position | null,
  direction: "asc" | "desc",
): Expression<SqlBool> {
  if (after === null) return sql<SqlBool>`1 = 1`;
  const operator = sql.raw(direction === "asc" ? ">" : "<");
  return sql<SqlBool>`(${sql.ref(columns.time)}, ${sql.ref(columns.id)}) ${operator} (${after.time}, ${after.id})`;
}

/** Creates a page from up to `limit` + 1 rows: the extra row only shows that there is another page. */
export function toPage<Row, T>(
  list: string,
  limit: number,
  rows: readonly Row[],
  convert: (row: Row) => T,
  positionOf: (row: Row) => Position,
): RecordPage<T> {
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  const more = rows.length > limit && last !== undefined;
  return { items: shown.map(convert), nextCursor: more ? encodeCursor(list, positionOf(last)) : null };
}
