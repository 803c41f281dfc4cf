import { createRequire } from "node:module";
import { dirname, join } from "node:path";

/** A connection of the engine; opaque. */
export type Connection = { readonly __connection: unique symbol };
/** A result that is being read in chunks; opaque. */
type Cursor = { readonly __cursor: unique symbol };

export interface NativeResult {
  readonly bytes: Uint8Array;
  /** Seconds. */
  readonly elapsed: number;
  readonly rowsRead: number;
  readonly bytesRead: number;
}

export interface NativeInsert {
  readonly elapsed: number;
  readonly rowsWritten: number;
  readonly bytesWritten: number;
}

interface NativeChunk {
  readonly done: boolean;
  readonly bytes: Uint8Array;
  readonly numRows: number;
}

/** What is used of chDB's native binding. Asynchronous calls run on the process's worker threads. */
export interface Native {
  CreateConnection(directory: string, engineArguments?: readonly string[]): Connection | null;
  CloseConnection(connection: Connection): void;
  QueryAsyncConnection(connection: Connection, sql: string, format: string): Promise<NativeResult>;
  InsertRawAsyncConnection(
    connection: Connection,
    prefix: string,
    data: Buffer,
    countLines: boolean,
  ): Promise<NativeInsert>;
  StreamQuery(connection: Connection, sql: string, format: string): Cursor;
  StreamFetch(cursor: Cursor): Promise<NativeChunk>;
  StreamCancel(cursor: Cursor): void;
}

const used = [
  "CreateConnection",
  "CloseConnection",
  "QueryAsyncConnection",
  "InsertRawAsyncConnection",
  "StreamQuery",
  "StreamFetch",
  "StreamCancel",
] as const;

/**
 * Loads chDB's binding below its Session class. Session.close() waits for every operation of the process, so under one
 * long query each finished call would keep its connection: 2,000 calls held 360 MB, against none when a connection is
 * closed as soon as its own operations have ended. The binding also takes the text before the data of an INSERT as it
 * is, in every format. The version of chdb is pinned exactly; a binding that lacks a function is refused here.
 */
export function loadNative(): Native {
  const require = createRequire(import.meta.url);
  const loader: unknown = require(join(dirname(require.resolve("chdb")), "dist", "loader.js"));
  const load = typeof loader === "object" && loader !== null && "loadNative" in loader ? loader.loadNative : null;
  const binding: unknown = typeof load === "function" ? load() : null;
  if (typeof binding !== "object" || binding === null) throw new Error("chDB's native binding did not load");
  for (const name of used) {
    if (typeof Reflect.get(binding, name) !== "function") throw new Error(`chDB's native binding lacks ${name}`);
  }
  return binding as Native;
}
