import { SluiceError } from "@sluice/contract/errors";

/** The largest integer that both drivers hold exactly; they have no unsigned 64-bit type. */
export const int64Max = 2n ** 63n - 1n;

const identifierLengthMax = 200;

function invalid(path: string, message: string): SluiceError {
  return new SluiceError("INVALID_INPUT", { message: `${path} ${message}`, details: { errors: [{ path, message }] } });
}

/** An amount from 0 to 2^63-1, or INVALID_INPUT: a larger one would be stored wrongly or not at all. */
export function checkAmount(path: string, amount: bigint): bigint {
  if (amount < 0n || amount > int64Max) throw invalid(path, `must be a whole number from 0 to ${int64Max}`);
  return amount;
}

/** A whole number from 0 to 2^53-1 (a time in milliseconds, a rate) as the database takes it. */
export function checkWhole(path: string, value: number): bigint {
  if (!Number.isSafeInteger(value) || value < 0) throw invalid(path, "must be a whole number of at least 0");
  return BigInt(value);
}

/** How many there are (rows, bytes), refused above `max`. */
export function checkCount(path: string, count: number, max: number): void {
  if (count > max) throw invalid(path, `must be at most ${max} long`);
}

export function checkWholeOrNull(path: string, value: number | null): bigint | null {
  return value === null ? null : checkWhole(path, value);
}

/**
 * Text that both drivers store as it is: PostgreSQL refuses U+0000, and half of a surrogate pair does not survive
 * UTF-8. `lengthMax` counts UTF-16 units.
 */
export function checkText(path: string, text: string, lengthMax: number): string {
  if (text.length === 0 || text.length > lengthMax) throw invalid(path, `must have 1 to ${lengthMax} characters`);
  if (text.includes("\0") || !text.isWellFormed()) throw invalid(path, "must be well-formed text without U+0000");
  return text;
}

/** @throws {SluiceError} INVALID_INPUT, naming `path`, for text that cannot be an id. */
export function checkIdentifier(path: string, id: string): string {
  return checkText(path, id, identifierLengthMax);
}

/** Whether a row with this id can exist. A look-up of any other id is answered without a query. */
export function isIdentifier(id: string): boolean {
  return id.length > 0 && id.length <= identifierLengthMax && !id.includes("\0") && id.isWellFormed();
}

/** @throws {SluiceError} INVALID_INPUT, naming `path`, for text that is not 64 lower-case hex digits. */
export function checkSha256Hex(path: string, hash: string): string {
  if (!/^[0-9a-f]{64}$/.test(hash)) throw invalid(path, "must be 64 lowercase hexadecimal digits");
  return hash;
}

/** A calendar month such as "2026-11". */
export function checkMonth(path: string, month: string): string {
  if (!/^\d{4}-(0[1-9]|1[0-2])$/.test(month)) throw invalid(path, "must be a month such as 2026-11");
  return month;
}

/** @throws {SluiceError} INVALID_INPUT, naming `path`, for a value that is not allowed. */
export function checkOneOf<T extends string>(path: string, value: string, allowed: readonly T[]): T {
  const found = allowed.find((candidate) => candidate === value);
  if (found === undefined) throw invalid(path, `must be one of ${allowed.join(", ")}`);
  return found;
}

/** JSON text of at most `lengthMax` UTF-16 units, free of what PostgreSQL cannot hold. */
export function checkJson(path: string, value: unknown, lengthMax: number): string {
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch {
    throw invalid(path, "must be JSON without cycles and 64-bit integers");
  }
  if (text === undefined || text.length > lengthMax)
    throw invalid(path, `must be JSON of at most ${lengthMax} characters`);
  return text;
}
