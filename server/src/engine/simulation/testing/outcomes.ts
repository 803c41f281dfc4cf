import type { BundleOutcome } from "../simulation.ts";

/** An outcome as one line for comparing, without its slot. */
export function describeOutcome(outcome: BundleOutcome | undefined): string {
  if (outcome === undefined) return "nothing";
  if (outcome.ok) {
    return `ok tip=${outcome.tip} units=${outcome.computeUnits} fees=${outcome.fees} writes=${[...outcome.writes].toSorted()}`;
  }
  if (outcome.reason === "unavailable") return `unavailable ${outcome.cause}`;
  return `${outcome.reason} ${outcome.index} ${outcome.error}`;
}
