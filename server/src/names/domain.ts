import { type NameSuffix, nameSuffixes } from "@sluice/wire/name-services";

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
 * What no label may hold: white space, control characters, `@` and `/` (decisions), U+FFFD, which is what a lossy
 * decoder leaves of bytes that were no UTF-8, and a percent-escape, which was encoded twice.
 */
const forbiddenInLabel = /[\p{White_Space}\p{Cc}@/\ufffd]|%[0-9a-f]{2}/iu;

const suffixAtEnd = /\.(x1|xnt|xen)$/i;

/** The suffix that a text ends in, in lower case; null when it ends in none that is known. */
export function suffixOf(text: string): NameSuffix | null {
  const found = suffixAtEnd.exec(text)?.[1]?.toLowerCase();
  return nameSuffixes.find((suffix) => suffix === found) ?? null;
}

/**
 * The canonical form of a domain: lower case, NFC, nothing else, since names that exist on chain must resolve. Null when
 * it is none. What is canonical stays as it is.
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
