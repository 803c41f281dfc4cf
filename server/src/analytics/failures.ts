import { type ErrorCode, SluiceError } from "@sluice/contract/errors";
import { LedgerAbortedError, LedgerQueryError, LedgerUnavailableError } from "../ledger/index.ts";

/** What the engine said of a statement, as its author is told: the code of the limit or fault, and no internals. */

/** The engine's numbers, with those that are limits. */
const limitCodes: ReadonlyMap<number, ErrorCode> = new Map<number, ErrorCode>([
  [62, "SQL_SYNTAX"], // SYNTAX_ERROR
  [158, "SQL_READ_LIMIT"], // TOO_MANY_ROWS
  [159, "SQL_TIMEOUT"], // TIMEOUT_EXCEEDED
  [160, "SQL_TIMEOUT"], // TOO_SLOW
  [164, "SQL_NOT_ALLOWED"], // READONLY
  [201, "SQL_BUSY"], // QUOTA_EXCEEDED
  [202, "SQL_BUSY"], // TOO_MANY_SIMULTANEOUS_QUERIES
  [241, "SQL_MEMORY_LIMIT"], // MEMORY_LIMIT_EXCEEDED
  [243, "SQL_MEMORY_LIMIT"], // NOT_ENOUGH_SPACE, for what it spills to disk
  [291, "SQL_NOT_ALLOWED"], // DATABASE_ACCESS_DENIED
  [306, "SQL_INVALID"], // TOO_DEEP_RECURSION
  [307, "SQL_READ_LIMIT"], // TOO_MANY_BYTES
  [358, "SQL_NOT_ALLOWED"], // INTO_OUTFILE_NOT_ALLOWED
  [497, "SQL_NOT_ALLOWED"], // ACCESS_DENIED
]);

const tooManyRowsOrBytes = 396;
const cancelled = 394;

/** Codes whose text says what is wrong with the statement itself. */
const authorsCodes: ReadonlySet<number> = new Set([
  6, 12, 19, 26, 27, 32, 36, 38, 41, 42, 43, 44, 46, 47, 48, 50, 53, 57, 62, 69, 70, 72, 80, 114, 125, 128, 130, 131,
  135, 137, 138, 152, 153, 162, 165, 167, 168, 169, 170, 174, 179, 182, 184, 190, 207, 215, 220, 277, 306, 321, 349,
  352, 376, 386, 395, 403, 407, 427, 440, 441, 456, 457, 468, 531, 569, 583, 635, 636, 637, 691, 706, 723,
]);

const messageLength = 300;
/** Where the engine's text goes over to its own affairs. */
const ends = [": In scope", ". In scope", ": While ", ": while ", ". Maybe you meant", ". Stack trace", " (version "];
/** Words that no text for a customer holds: of this server's tables, settings, users and files. */
const internal = /sluice|getSetting|log_comment|splitByChar|__table|\bdefault:|\/(?:[\w.-]+\/)|127\.0\.0\.1|system\./i;

/** The engine's sentence about the statement; null where it speaks of anything else. */
function sentenceOf({ engineCode, message }: LedgerQueryError): string | null {
  if (!authorsCodes.has(engineCode)) return null;
  let text = message.replace(/^Code: \d+\. /, "").replace(/^DB::\w+: /, "");
  for (const end of ends) text = text.split(end)[0] ?? "";
  text = text
    .replace(/ ?\([A-Z_]+\)\.?$/, "")
    .replaceAll(/\s+/g, " ")
    .trim();
  if (text === "" || internal.test(text)) return null;
  return text.length > messageLength ? `${text.slice(0, messageLength)} ...` : text;
}

const codeOf = ({ engineCode, message }: LedgerQueryError): ErrorCode => {
  if (engineCode === tooManyRowsOrBytes) return message.includes("max rows") ? "SQL_ROWS_LIMIT" : "SQL_RESULT_LIMIT";
  // The memory of the whole engine, which others have taken.
  if (engineCode === 241 && !/^(?:Code: 241\. )?(?:DB::Exception: )?Query memory/.test(message)) return "SQL_BUSY";
  return limitCodes.get(engineCode) ?? "SQL_INVALID";
};

/** Seconds after which a query that found no place is worth sending again. */
export const busyRetrySeconds = 5;

/** What is thrown by the ledger, as the customer is answered. Other values are returned as they are. */
export function customerFailure(error: unknown): unknown {
  if (error instanceof LedgerUnavailableError) {
    return new SluiceError("STORE_UNAVAILABLE", {
      message: "The ledger is not available; try again later",
      cause: error,
    });
  }
  if (!(error instanceof LedgerQueryError)) return error;
  if (error.engineCode === cancelled) {
    return new SluiceError("STORE_UNAVAILABLE", { message: "The query was stopped; try again later", cause: error });
  }
  const code = codeOf(error);
  const message = sentenceOf(error);
  return new SluiceError(code, {
    cause: error,
    ...(message === null ? {} : { message }),
    ...(code === "SQL_BUSY" ? { details: { retryAfterSeconds: busyRetrySeconds } } : {}),
  });
}

const nearLength = 30;

/** As `customerFailure`, with the place in the customer's own text where reading it stopped. */
export function syntaxFailure(error: unknown, query: string): unknown {
  const failure = customerFailure(error);
  if (!(failure instanceof SluiceError) || failure.code !== "SQL_SYNTAX") return failure;
  const found = /^Syntax error(?<why> \([^)]*\))?: failed at position (?<position>\d+)/.exec(failure.message);
  if (found === null) return failure;
  const position = Number(found.groups?.["position"]);
  // The engine counts bytes from 1.
  const near = Buffer.from(query)
    .subarray(position - 1)
    .toString("utf8")
    .trim()
    .slice(0, nearLength);
  const why = found.groups?.["why"] ?? "";
  const message = `Syntax error${why} at byte ${position}, ${near === "" ? "the end" : `near ${JSON.stringify(near)}`}`;
  return new SluiceError("SQL_SYNTAX", { message, details: { position }, cause: error });
}

/** Codes of queries that were refused, or found no place or no ledger: nobody pays for them. */
const unchargedCodes: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "SQL_SYNTAX",
  "SQL_NOT_ALLOWED",
  "SQL_BUSY",
  "SQL_ACCOUNT_BUSY",
  "STORE_UNAVAILABLE",
  "INSUFFICIENT_CREDITS",
]);

/**
 * Codes that the engine gives before it reads anything: of names, types and numbers of arguments. The other ones are of
 * values, which the text of the error may hold.
 */
const analysisCodes: ReadonlySet<number> = new Set([
  42, 43, 44, 46, 47, 50, 53, 60, 62, 80, 167, 168, 179, 184, 207, 215, 306, 386, 403, 456, 457,
]);

/** Whether a failed query has cost the server work that is its author's. */
export function isCharged(error: unknown): boolean {
  if (error instanceof LedgerAbortedError) return true;
  if (!(error instanceof SluiceError) || unchargedCodes.has(error.code)) return false;
  const { cause } = error;
  if (!(cause instanceof LedgerQueryError)) return false;
  // Of the same code as unfit values.
  return !analysisCodes.has(cause.engineCode) && !cause.message.includes("Query tree is too big");
}
