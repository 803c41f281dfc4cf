import type { Address } from "@sluice/wire/identifiers";
import { type NameSuffix, nameSuffixes } from "@sluice/wire/name-services";

/** Why a text is not a handle; the words of the public test corpus. */
export type HandleFault =
  | "Empty"
  | "NonAscii"
  | "TooLong"
  | "IllegalCharacter"
  | "HyphenAtEdge"
  | "ConsecutiveHyphens"
  | "AllDigits";

export type HandleReading =
  | { readonly ok: true; readonly handle: string }
  | { readonly ok: false; readonly reason: HandleFault };

const handleLengthMax = 32;

/** Unicode's White_Space property, exactly: U+0085 is in it and U+FEFF is not, which is where String.trim differs. */
const whiteSpaceAtEdges = /^\p{White_Space}+|\p{White_Space}+$/gu;

export function trimWhiteSpace(text: string): string {
  return text.replace(whiteSpaceAtEdges, "");
}

/** The canonical form of a handle, with or without its `@`. Source: the resolver's decisions, and the public corpus. */
export function readHandle(text: string): HandleReading {
  const trimmed = trimWhiteSpace(text);
  const handle = (trimmed.startsWith("@") ? trimmed.slice(1) : trimmed).replace(/[A-Z]/g, (letter) =>
    letter.toLowerCase(),
  );
  const reason = faultOf(handle);
  return reason === null ? { ok: true, handle } : { ok: false, reason };
}

function faultOf(handle: string): HandleFault | null {
  if (handle === "") return "Empty";
  // biome-ignore lint/suspicious/noControlCharactersInRegex: ASCII is what the rule names, its control characters included.
  if (/[^\x00-\x7f]/.test(handle)) return "NonAscii";
  if (handle.length > handleLengthMax) return "TooLong";
  if (/[^a-z0-9-]/.test(handle)) return "IllegalCharacter";
  if (handle.startsWith("-") || handle.endsWith("-")) return "HyphenAtEdge";
  if (handle.includes("--")) return "ConsecutiveHyphens";
  return /^[0-9]+$/.test(handle) ? "AllDigits" : null;
}

export interface DomainName {
  /** The canonical name with its suffix. */
  readonly name: string;
  readonly suffix: NameSuffix;
  /** From the one below the suffix down: `blog.alice.x1` has `alice`, `blog`. */
  readonly labels: readonly string[];
}

/** UTF-16 units of a whole name, before it is normalised. */
export const domainLengthMax = 1024;
/** Labels below the suffix; each is one more account to read, all in the same call. */
export const labelsMax = 9;
/** Characters (code points) of a label. */
const labelLengthMax = 64;

/**
 * A label holds no white space, no control characters, no `@` or `/` (decisions), no U+FFFD, which a lossy decoder
 * writes for bytes that are not UTF-8, and no percent-escape, which was encoded twice.
 */
const forbiddenInLabel = /[\p{White_Space}\p{Cc}@/\ufffd]|%[0-9a-f]{2}/iu;

const suffixAtEnd = /\.(x1|xnt|xen)$/i;

/** The suffix that a text ends in, in lower case; null when it ends in none that is known. */
export function suffixOf(text: string): NameSuffix | null {
  const found = suffixAtEnd.exec(text)?.[1]?.toLowerCase();
  return nameSuffixes.find((suffix) => suffix === found) ?? null;
}

/**
 * The canonical form of a domain: lower case, NFC, nothing else, since names that exist on chain must resolve. Null for
 * a text that is not a domain. A canonical form stays as it is.
 */
export function readDomain(text: string): DomainName | null {
  if (text.length > domainLengthMax || !text.isWellFormed()) return null;
  // Some letters in lower case compose with what follows them, so the form is made again.
  const name = text.normalize("NFC").toLowerCase().normalize("NFC");
  const suffix = suffixOf(name);
  if (suffix === null) return null;
  const labels = name.split(".").slice(0, -1).reverse();
  if (labels.length > labelsMax || !labels.every(isLabel)) return null;
  return { name, suffix, labels };
}

function isLabel(label: string): boolean {
  if (label === "" || forbiddenInLabel.test(label)) return false;
  return label.length <= labelLengthMax || [...label].length <= labelLengthMax;
}

/** Error values of the resolver that depend on a name's shape alone (spec: name resolver, Errors). */
export type ShapeError = "invalid handle" | "invalid domain" | "ambiguous: both a handle and a domain shape";

export type NameShape =
  | { readonly kind: "handle"; readonly name: string }
  | ({ readonly kind: "domain" } & DomainName)
  | { readonly kind: "refused"; readonly error: ShapeError };

const refused = (error: ShapeError): NameShape => ({ kind: "refused", error });

/**
 * Reads a text as a handle or a domain by its shape alone, before any look-up. A text that begins with `@` and ends in
 * a known suffix is never resolved, whichever of the two its writer meant.
 */
export function readName(input: string): NameShape {
  const trimmed = trimWhiteSpace(input);
  if (trimmed.startsWith("@")) {
    if (suffixOf(trimmed) !== null) return refused("ambiguous: both a handle and a domain shape");
    const reading = readHandle(trimmed);
    return reading.ok ? { kind: "handle", name: reading.handle } : refused("invalid handle");
  }
  const domain = readDomain(input);
  if (domain !== null) return { kind: "domain", ...domain };
  return refused(trimmed.includes(".") ? "invalid domain" : "invalid handle");
}

export type Namespace = "handle" | NameSuffix;

/** A name and who controls it on the chain (spec: name resolver, Resolution record). */
export interface Resolution {
  readonly name: string;
  readonly namespace: Namespace;
  readonly owner: Address;
  /** False when no key can sign for the owner, as with names that were made into tokens. */
  readonly ownerOnCurve: boolean;
}

export type NameOutcome =
  | { readonly kind: "resolved"; readonly resolution: Resolution }
  | { readonly kind: "refused"; readonly error: ShapeError }
  /** It is not registered. `programMissing`: the chain carries no program that could hold it. */
  | { readonly kind: "absent"; readonly of: "handle" | "domain"; readonly programMissing: boolean }
  | { readonly kind: "failed"; readonly error: "malformed account" | "rpc unreachable" };
