/** Compares what streams and the ledger tell of bundles with how the engine says that they stand in the end. */
import type { ToldStories } from "./chaos-streams.ts";
import type { BundleStory } from "./chaos-verdict.ts";
import type { LedgerOutcome } from "./ledger-outcomes.ts";

export interface ToldVerdict {
  readonly faults: readonly string[];
  /** Bundles that streams told to be in a block and that were lost with it. */
  readonly lostWithForks: number;
}

/** Everything that streams told and that is not so. */
export function judgeTold(stories: ReadonlyMap<string, BundleStory>, told: readonly ToldStories[]): ToldVerdict {
  const faults = told.flatMap((each) => each.faults);
  for (const { id, fault } of told.flatMap((each) => each.suspects)) {
    if ((stories.get(id)?.handed ?? 0) <= 1) faults.push(fault);
  }
  for (const [id, end] of told.flatMap(({ ends }) => [...ends])) {
    const standing = stories.get(id)?.standing;
    if (standing?.status !== end.split(" ")[0])
      faults.push(`${id} was told to end as ${end} and is ${standing?.status}`);
  }
  const lost = new Set<string>();
  for (const [id] of told.flatMap(({ included }) => [...included])) {
    const standing = stories.get(id)?.standing;
    if (standing?.status === "included") continue;
    lost.add(id);
    const isRight = standing?.status === "dropped" && standing.reason === "fork";
    if (!isRight) faults.push(`${id} was told to be in a block and is ${standing?.status}, ${standing?.reason}`);
  }
  return { faults, lostWithForks: lost.size };
}

/** Everything that the ledger lacks, has twice, or has otherwise than the engine says. */
export function judgeOutcomes(
  stories: ReadonlyMap<string, BundleStory>,
  outcomes: readonly LedgerOutcome[],
): readonly string[] {
  const faults: string[] = [];
  const seen = new Set<string>();
  for (const { id, state, reason, slot } of outcomes) {
    if (seen.has(id)) faults.push(`${id} is in the ledger twice`);
    seen.add(id);
    const standing = stories.get(id)?.standing ?? null;
    const said = standing?.status === "included" ? "finalized" : standing?.status;
    const isRight = said === state && (standing?.reason ?? "") === reason && (standing?.slot ?? null) === slot;
    if (!isRight) {
      const shown = `${said}, ${standing?.reason}, slot ${standing?.slot}`;
      faults.push(`${id} is ${state}, ${reason}, slot ${slot} in the ledger and ${shown}`);
    }
  }
  for (const { id, isAccepted } of stories.values()) {
    if (isAccepted && !seen.has(id)) faults.push(`${id} was accepted and is not in the ledger`);
  }
  return faults;
}
