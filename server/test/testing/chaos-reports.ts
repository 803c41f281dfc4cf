/** Compares what streams and the ledger report about bundles with how the engine says that they stand in the end. */
import type { ReportedStories } from "./chaos-streams.ts";
import type { BundleStory } from "./chaos-verdict.ts";
import type { LedgerOutcome } from "./ledger-outcomes.ts";

export interface ReportVerdict {
  readonly faults: readonly string[];
  /** Bundles that streams reported to be in a block and that were lost with it. */
  readonly lostWithForks: number;
}

/** Everything false that streams reported. */
export function verifyReports(
  stories: ReadonlyMap<string, BundleStory>,
  reported: readonly ReportedStories[],
): ReportVerdict {
  const faults = reported.flatMap((each) => each.faults);
  for (const { id, fault } of reported.flatMap((each) => each.suspects)) {
    if ((stories.get(id)?.handed ?? 0) <= 1) faults.push(fault);
  }
  for (const [id, end] of reported.flatMap(({ ends }) => [...ends])) {
    const found = stories.get(id)?.state;
    if (found?.status !== end.split(" ")[0]) faults.push(`${id} was reported to end as ${end} and is ${found?.status}`);
  }
  const lost = new Set<string>();
  for (const [id] of reported.flatMap(({ included }) => [...included])) {
    const found = stories.get(id)?.state;
    if (found?.status === "included") continue;
    lost.add(id);
    const isRight = found?.status === "dropped" && found.reason === "fork";
    if (!isRight) faults.push(`${id} was reported to be in a block and is ${found?.status}, ${found?.reason}`);
  }
  return { faults, lostWithForks: lost.size };
}

/** Everything that the ledger lacks, has twice, or has otherwise than the engine says. */
export function verifyOutcomes(
  stories: ReadonlyMap<string, BundleStory>,
  outcomes: readonly LedgerOutcome[],
): readonly string[] {
  const faults: string[] = [];
  const seen = new Set<string>();
  for (const { id, state, reason, slot } of outcomes) {
    if (seen.has(id)) faults.push(`${id} is in the ledger twice`);
    seen.add(id);
    const found = stories.get(id)?.state ?? null;
    const said = found?.status === "included" ? "finalized" : found?.status;
    const isRight = said === state && (found?.reason ?? "") === reason && (found?.slot ?? null) === slot;
    if (!isRight) {
      const shown = `${said}, ${found?.reason}, slot ${found?.slot}`;
      faults.push(`${id} is ${state}, ${reason}, slot ${slot} in the ledger and ${shown}`);
    }
  }
  for (const { id, isAccepted } of stories.values()) {
    if (isAccepted && !seen.has(id)) faults.push(`${id} was accepted and is not in the ledger`);
  }
  return faults;
}
