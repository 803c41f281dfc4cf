import { searcherTiers } from "@sluice/contract/engine";
import { parseU64 } from "@sluice/wire/identifiers";
import type { Reputation, ReputationWeights } from "./reputation.ts";

/** The form of what `writeReputation` gives; another is read as none. */
export const reputationVersion = 1;

/** A value for JSON: doubles keep all their digits there, whole numbers are texts. */
export function writeReputation({ at, weights, tier, submitted, landed }: Reputation) {
  return { at, weights: { ...weights }, tier, submitted: submitted.toString(), landed: landed.toString() };
}

const member = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null ? Object.entries(value).find(([key]) => key === name)?.[1] : undefined;

const amount = (value: unknown): number | null =>
  typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : null;

function readWeights(value: unknown): ReputationWeights | null {
  const of = (name: keyof ReputationWeights): number | null => amount(member(value, name));
  const [forwarded, landed, simulated] = [of("forwarded"), of("landed"), of("simulated")];
  const [simulatedOk, tips, abuse] = [of("simulatedOk"), of("tips"), of("abuse")];
  if (forwarded === null || landed === null || simulated === null) return null;
  if (simulatedOk === null || tips === null || abuse === null) return null;
  return { forwarded, landed, simulated, simulatedOk, tips, abuse };
}

/** The standing that was written; null for what is damaged or of another version. */
export function readReputation(version: number, value: unknown): Reputation | null {
  if (version !== reputationVersion) return null;
  const at = amount(member(value, "at"));
  const weights = readWeights(member(value, "weights"));
  const tier = searcherTiers.find((each) => each === member(value, "tier"));
  const submitted = parseU64(member(value, "submitted"));
  const landed = parseU64(member(value, "landed"));
  if (at === null || weights === null || tier === undefined || submitted === null || landed === null) return null;
  return { at, weights, tier, submitted, landed };
}
