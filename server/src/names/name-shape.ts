import { type DomainName, readDomain, suffixOf } from "./domain.ts";
import { readHandle, trimWhiteSpace } from "./handle.ts";

/** Error values of the resolver that depend on a name's shape alone (spec: name resolver, Errors). */
export type ShapeError = "invalid handle" | "invalid domain" | "ambiguous: both a handle and a domain shape";

export type NameShape =
  | { readonly kind: "handle"; readonly name: string }
  | ({ readonly kind: "domain" } & DomainName)
  | { readonly kind: "refused"; readonly error: ShapeError };

const refused = (error: ShapeError): NameShape => ({ kind: "refused", error });

/**
 * What a text is the name of, judged by its shape and before any look-up. What begins with `@` and ends in a known
 * suffix is never resolved, whichever of the two its writer meant.
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
