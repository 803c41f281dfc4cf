import { dlopen, FFIType, type Pointer, ptr, read, toArrayBuffer } from "bun:ffi";
import { createRequire } from "node:module";
import { join } from "node:path";
import { raise } from "./exceptions.ts";
import { childLimits } from "./limits.ts";

const packages: Readonly<Record<string, string>> = {
  "linux-x64": "@chdb/lib-linux-x64-gnu",
  "linux-arm64": "@chdb/lib-linux-arm64-gnu",
  "darwin-x64": "@chdb/lib-darwin-x64",
  "darwin-arm64": "@chdb/lib-darwin-arm64",
};

/** The library that chDB's binding loads as well; both are one engine in this process. */
function libraryPath(): string {
  const name = packages[`${process.platform}-${process.arch}`];
  if (name === undefined) throw new Error(`There is no engine for ${process.platform}-${process.arch}`);
  const chdb = createRequire(createRequire(import.meta.url).resolve("chdb"));
  return join(chdb.resolve(`${name}/package.json`), "..", "libchdb.so");
}

const tooLarge = `Limit for result exceeded, max bytes: ${childLimits.bufferedResultBytesMax}`;

const load = () =>
  dlopen(libraryPath(), {
    chdb_connect: { args: [FFIType.i32, FFIType.ptr], returns: FFIType.ptr },
    chdb_close_conn: { args: [FFIType.ptr], returns: FFIType.void },
    chdb_query_n: {
      args: [FFIType.ptr, FFIType.ptr, FFIType.u64, FFIType.ptr, FFIType.u64],
      returns: FFIType.ptr,
    },
    chdb_result_error: { args: [FFIType.ptr], returns: FFIType.cstring },
    chdb_result_length: { args: [FFIType.ptr], returns: FFIType.u64 },
    chdb_result_buffer: { args: [FFIType.ptr], returns: FFIType.ptr },
    chdb_result_elapsed: { args: [FFIType.ptr], returns: FFIType.f64 },
    chdb_result_rows_read: { args: [FFIType.ptr], returns: FFIType.u64 },
    chdb_result_storage_rows_read: { args: [FFIType.ptr], returns: FFIType.u64 },
    chdb_result_storage_bytes_read: { args: [FFIType.ptr], returns: FFIType.u64 },
    chdb_destroy_query_result: { args: [FFIType.ptr], returns: FFIType.void },
  }).symbols;

/** A finished statement with what it has read from tables, which chDB's own binding does not tell. */
export interface MeasuredResult {
  readonly bytes: ArrayBuffer;
  /** Seconds. */
  readonly elapsed: number;
  readonly resultRows: number;
  readonly rowsRead: number;
  readonly bytesRead: number;
}

/** The C interface of the engine that this process has open already. Each call blocks its thread until it ends. */
export class EngineCalls {
  readonly #symbols = load();
  readonly #directory: string;

  constructor(options: { readonly directory: string }) {
    this.#directory = options.directory;
  }

  /** Runs `preparation` and then `sql` on one connection. Throws an Error with the engine's text. */
  run({ preparation, sql, format }: { preparation: readonly string[]; sql: string; format: string }): MeasuredResult {
    const texts = [Buffer.from("clickhouse\0"), Buffer.from(`--path=${this.#directory}\0`)];
    const list = new BigUint64Array(texts.map((text) => BigInt(ptr(text))));
    const handle = this.#symbols.chdb_connect(list.length, ptr(list));
    if (handle === null) throw new Error("the engine opened no connection");
    try {
      const connection = read.ptr(handle, 0) as Pointer;
      for (const statement of preparation) this.#query(connection, statement, "Null");
      return this.#query(connection, sql, format);
    } finally {
      this.#symbols.chdb_close_conn(handle);
    }
  }

  #query(connection: Pointer, sql: string, format: string): MeasuredResult {
    const symbols = this.#symbols;
    const [text, name] = [Buffer.from(sql), Buffer.from(format)];
    const result = symbols.chdb_query_n(connection, ptr(text), text.length, ptr(name), name.length);
    if (result === null) throw new Error("the engine gave no result");
    try {
      const error = symbols.chdb_result_error(result);
      if (error !== null && error !== undefined) throw new Error(error.toString());
      const length = Number(symbols.chdb_result_length(result));
      // Values that are the same in every row count once for the engine's own bound.
      if (length > childLimits.bufferedResultBytesMax) throw raise("TOO_MANY_ROWS_OR_BYTES", tooLarge);
      const buffer = length === 0 ? null : symbols.chdb_result_buffer(result);
      return {
        // A copy: the result is the engine's memory, and freed below.
        bytes: buffer === null ? new ArrayBuffer(0) : toArrayBuffer(buffer, 0, length).slice(0),
        elapsed: symbols.chdb_result_elapsed(result),
        resultRows: Number(symbols.chdb_result_rows_read(result)),
        rowsRead: Number(symbols.chdb_result_storage_rows_read(result)),
        bytesRead: Number(symbols.chdb_result_storage_bytes_read(result)),
      };
    } finally {
      symbols.chdb_destroy_query_result(result);
    }
  }
}
