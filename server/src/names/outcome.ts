import type { Address } from "@sluice/wire/identifiers";
import type { NameSuffix } from "@sluice/wire/name-services";
import type { ShapeError } from "./name-shape.ts";

export type Namespace = "handle" | NameSuffix;

/** A name and who controls it on the chain (spec: name resolver, Resolution record). */
export interface Resolution {
  readonly name: string;
  readonly namespace: Namespace;
  readonly owner: Address;
  /** False when nobody can sign for the owner, as with names that were made into tokens. */
  readonly ownerOnCurve: boolean;
}

export type NameOutcome =
  | { readonly kind: "resolved"; readonly resolution: Resolution }
  | { readonly kind: "refused"; readonly error: ShapeError }
  /** Nobody has registered it. `programMissing`: the chain carries no program that could hold it. */
  | { readonly kind: "absent"; readonly of: "handle" | "domain"; readonly programMissing: boolean }
  | { readonly kind: "failed"; readonly error: "malformed account" | "rpc unreachable" };
