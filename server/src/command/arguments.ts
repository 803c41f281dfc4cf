import { InvalidArgumentError } from "commander";

/**
 * Reads a whole number that an operator typed. What is none is refused by the option's name: `Number` would make NaN of
 * it, which JSON writes as null, and null means "no limit" to the server.
 */
export function wholeNumber(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError("It must be a whole number.");
  return Number(text);
}

/** A whole number, or null for the word `tier`: the limit is the tier's own. */
export function wholeNumberOrTier(text: string): number | null {
  return text === "tier" ? null : wholeNumber(text);
}
