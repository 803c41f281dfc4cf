import { methodPattern } from "@sluice/contract/permissions";
import { isAddressRange, parseDuration } from "@sluice/lib";
import { InvalidArgumentError } from "commander";

/**
 * Readers of what an operator typed. What does not fit is refused by the option's own name, with an example, before any
 * server is asked.
 */

/** `Number` would make NaN of other text, which JSON writes as null, and null means "no limit" to the server. */
export function wholeNumber(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError("It must be a whole number, such as 50.");
  return Number(text);
}

/** A whole number, or the word `tier`: the limit is the tier's own. An option that is read as null would be empty. */
export function wholeNumberOrTier(text: string): number | "tier" {
  return text === "tier" ? text : wholeNumber(text);
}

/** What the server is asked for: null where the limit is the tier's own. */
export function limitOf<T>(given: T | "tier"): T | null {
  return given === "tier" ? null : given;
}

/** A whole number as decimal text, which may pass 2^53, or the word `tier`. */
export function amountOrTier(text: string): string {
  if (text === "tier") return text;
  if (!/^(0|[1-9]\d{0,18})$/.test(text)) {
    throw new InvalidArgumentError("It must be a whole number, such as 5000000, or the word tier.");
  }
  return text;
}

/** A reader that takes some words only, which completion offers. */
interface OfWords {
  readonly words: readonly string[];
}

/** One of the words. */
export function oneOf<const T extends string>(words: readonly T[]): ((text: string) => T) & OfWords {
  const read = (text: string): T => {
    const found = words.find((word) => word === text.toLowerCase());
    if (found === undefined) throw new InvalidArgumentError(`It must be one of ${words.join(", ")}.`);
    return found;
  };
  return Object.assign(read, { words });
}

/** The words that a reader takes; none where it takes others too. */
export function wordsOf(read: unknown): readonly string[] {
  if (typeof read !== "function" || !("words" in read) || !Array.isArray(read.words)) return [];
  return read.words.map(String);
}

/** A host, or `*.` and a host. */
export function domainName(text: string): string {
  const label = "[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?";
  if (text.length > 253 || !new RegExp(`^(\\*\\.)?${label}(\\.${label})*$`, "i").test(text)) {
    throw new InvalidArgumentError(
      "It must be a host without scheme, port and path, such as app.example.com or *.example.com.",
    );
  }
  return text.toLowerCase();
}

/** An address, or a range in CIDR form. */
export function addressRange(text: string): string {
  if (!isAddressRange(text)) {
    throw new InvalidArgumentError(
      "It must be an address or a range, such as 203.0.113.7, 203.0.113.0/24 or 2001:db8::/32.",
    );
  }
  return text;
}

/** A method of JSON-RPC, or the beginning of several and `*`. */
export function methodName(text: string): string {
  if (!methodPattern.test(text)) {
    throw new InvalidArgumentError("It must be a method such as getBalance, or the beginning of several as getToken*.");
  }
  return text;
}

/** A day or a moment in ISO 8601, given back in UTC with milliseconds. */
export function moment(text: string): string {
  const time = /^\d{4}-\d{2}-\d{2}/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(time)) {
    throw new InvalidArgumentError("It must be a day or a time, such as 2027-06-30 or 2027-06-30T12:00:00Z.");
  }
  return new Date(time).toISOString();
}

/** The same, or the word `never`. */
export function momentOrNever(text: string): string {
  return text === "never" ? text : moment(text);
}

/** A day in UTC. */
export function day(text: string): string {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) throw new InvalidArgumentError("It must be a day, such as 2026-11-20.");
  return text;
}

/** Seconds of a duration such as `90s`, `15m`, `12h` or `7d`. */
export function duration(text: string): number {
  const ms = parseDuration(text);
  if (ms === null) throw new InvalidArgumentError("It must be a duration, such as 90s, 15m, 12h or 7d.");
  return ms / 1_000;
}

/** Reads an option that may be repeated, each occurrence by `read`. */
export function listOf<T>(
  read: (text: string) => T,
): ((text: string, before?: readonly T[]) => readonly T[]) & OfWords {
  const readNext = (text: string, before: readonly T[] = []): readonly T[] => [...before, read(text)];
  return Object.assign(readNext, { words: wordsOf(read) });
}
