/** Mutants that nothing can notice, each on record with its reason. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Mutant } from "./mutants.ts";

export interface Equivalent {
  readonly path: string;
  readonly change: string;
  /** The source line of the change, without white space around it. */
  readonly source: string;
  /** Which one, counted from 1, when the file has several with this change and line. */
  readonly occurrence?: number;
  readonly reason: string;
}

export function knownEquivalents(): readonly Equivalent[] {
  return JSON.parse(readFileSync(join(import.meta.dir, "equivalents.json"), "utf8"));
}

/** The mutant on record; undefined when there is none (any more), or several and the record does not say which. */
export function mutantOf(record: Equivalent, mutants: readonly Mutant[]): Mutant | undefined {
  const found = mutants.filter(
    ({ path, change, source }) => path === record.path && change === record.change && source === record.source,
  );
  if (record.occurrence === undefined) return found.length === 1 ? found[0] : undefined;
  return found[record.occurrence - 1];
}

export function withoutEquivalents(mutants: readonly Mutant[], known: readonly Equivalent[]): Mutant[] {
  const equivalent = new Set(known.map((record) => mutantOf(record, mutants)));
  return mutants.filter((mutant) => !equivalent.has(mutant));
}
