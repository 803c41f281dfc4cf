/**
 * An exception in ClickHouse's own form: number, name, text, HTTP status.
 * Source of the statuses: ClickHouse's HTTP interface maps exception codes so (documented behaviour of version 26).
 */
export class EngineException extends Error {
  readonly code: number;
  /** `Code: N. DB::Exception: ... (NAME)` without a line end. */
  readonly text: string;

  constructor(code: number, text: string) {
    super(text);
    this.name = "EngineException";
    this.code = code;
    this.text = text;
  }
}

/** The codes that this front raises itself, by ClickHouse's names. */
const exceptionCodes = {
  BAD_ARGUMENTS: 36,
  NOT_IMPLEMENTED: 48,
  SYNTAX_ERROR: 62,
  UNKNOWN_COMPRESSION_METHOD: 89,
  TOO_MANY_SIMULTANEOUS_QUERIES: 202,
  QUERY_IS_TOO_LARGE: 229,
  TABLE_IS_READ_ONLY: 242,
  NOT_ENOUGH_SPACE: 243,
  CANNOT_DECOMPRESS: 271,
  TOO_MANY_BYTES: 307,
  INTO_OUTFILE_NOT_ALLOWED: 358,
  QUERY_WAS_CANCELLED: 394,
  TOO_MANY_ROWS_OR_BYTES: 396,
  SYSTEM_ERROR: 425,
  AUTHENTICATION_FAILED: 516,
  UNKNOWN_EXCEPTION: 1002,
} as const;

export type ExceptionName = keyof typeof exceptionCodes;

export function raise(name: ExceptionName, message: string): EngineException {
  const code = exceptionCodes[name];
  return new EngineException(code, `Code: ${code}. DB::Exception: ${message} (${name})`);
}

/** What the operating system refused, by its own name for it; any other refusal is SYSTEM_ERROR. */
const systemErrors: Readonly<Record<string, ExceptionName>> = {
  ENOSPC: "NOT_ENOUGH_SPACE",
  EDQUOT: "NOT_ENOUGH_SPACE",
  EROFS: "TABLE_IS_READ_ONLY",
};

/**
 * Reads what the engine, or the file that INSERT data waits in, threw; a text without a code becomes UNKNOWN_EXCEPTION.
 */
export function fromEngine(thrown: unknown): EngineException {
  if (thrown instanceof EngineException) return thrown;
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  if (thrown instanceof Error && "code" in thrown && "syscall" in thrown) {
    return raise(systemErrors[String(thrown.code)] ?? "SYSTEM_ERROR", message.slice(0, 1000));
  }
  const code = /Code: (\d+)\./.exec(message)?.[1];
  if (code === undefined) return raise("UNKNOWN_EXCEPTION", message.slice(0, 1000));
  return new EngineException(Number(code), message.trimEnd());
}

const badRequest = new Set([
  6, 8, 15, 25, 26, 27, 36, 37, 38, 41, 44, 53, 62, 72, 117, 123, 167, 168, 223, 321, 376, 427, 441, 675, 676,
]);
const notFound = new Set([46, 47, 50, 56, 60, 63, 73, 78, 81, 115, 152, 336, 511]);
const forbidden = new Set([192, 193, 497, 512, 516]);
const unavailable = new Set([76, 209, 439]);
const single: ReadonlyMap<number, number> = new Map([
  [194, 401],
  [159, 408],
  [381, 411],
  [229, 413],
  [307, 413],
  [48, 501],
]);

/** HTTP status of an exception code, as ClickHouse answers it; 500 for every other code. */
export function statusOf(code: number): number {
  if (badRequest.has(code)) return 400;
  if (notFound.has(code)) return 404;
  if (forbidden.has(code)) return 403;
  if (unavailable.has(code)) return 503;
  return single.get(code) ?? 500;
}

/**
 * The trailer that reports a failure after the status line was sent. Clients look for the tag that the
 * header `X-ClickHouse-Exception-Tag` named, and count the message's bytes backwards from the end.
 */
export function exceptionTrailer(tag: string, message: string): Uint8Array {
  const line = `${message}\n`;
  const length = Buffer.byteLength(line);
  return Buffer.from(`\r\n__exception__\r\n${tag}\r\n${line}${length} ${tag}\r\n__exception__\r\n`);
}
