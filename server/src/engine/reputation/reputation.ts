import type { BundleReason } from "@sluice/contract/engine";
import { type SearcherTier, searcherTierScores, searcherTiers } from "@sluice/contract/engine";
import { parseU64 } from "@sluice/wire/identifiers";
import type { BundleRecord } from "../model/bundle.ts";
import type { ReputationFigures } from "../model/service.ts";

/** An outcome that a searcher's reputation counts. */
export type ReputationOutcome =
  /** A bundle came in, whatever became of it. */
  | { readonly kind: "submitted" }
  /** A bundle was simulated for the first time. */
  | { readonly kind: "simulated"; readonly ok: boolean }
  /** A bundle is in the finalized chain; `medianTip` is the median of tips that landed about then. Lamports. */
  | { readonly kind: "landed"; readonly tip: bigint; readonly medianTip: bigint }
  /** A bundle was delivered to a leader and can no longer land. */
  | { readonly kind: "missed" }
  /** A bundle ended without a fault of the bundle: others paid more, or the chain or we prevented it. */
  | { readonly kind: "outbid" }
  /** A bundle that is never sent in good faith. */
  | { readonly kind: "abuse" };

/**
 * Reasons that no sound client runs into: forged or spoilt bytes, a tip that is claimed and not paid, front running.
 */
const abuses: ReadonlySet<BundleReason> = new Set([
  "malformed_transaction",
  "non_canonical_transaction",
  "bad_base64",
  "signature_invalid",
  "tip_not_paid",
  "decryption_failed",
  "front_run_protected",
]);

/**
 * What a refusal reports about its searcher; null for those that report nothing, such as a floor that rose or a full
 * bucket.
 */
export function outcomeOfRejection(reason: BundleReason): ReputationOutcome | null {
  if (abuses.has(reason)) return { kind: "abuse" };
  return reason === "simulation_failed" ? { kind: "simulated", ok: false } : null;
}

/** Ends of bundles that a leader had and did not land. */
const missed: ReadonlySet<BundleReason> = new Set(["blockhash_expired", "target_slot_past", "not_landed"]);

/**
 * What a bundle's last state reports; null while it can still change. `medianTip` is the median of landed tips,
 * lamports.
 */
export function outcomeOfEnd(record: BundleRecord, medianTip: bigint): ReputationOutcome | null {
  if (record.state === "accepted" || record.state === "included") return null;
  if (record.state === "finalized") return { kind: "landed", tip: record.tipSeen ?? record.tip, medianTip };
  const { reason, forwarded } = record;
  const rejection = reason === null ? null : outcomeOfRejection(reason);
  if (rejection !== null) return rejection;
  return forwarded !== null && reason !== null && missed.has(reason) ? { kind: "missed" } : { kind: "outbid" };
}

/** The standard normal distribution has 5% of its mass above this. */
const z = 1.644_853_626_951_472_2;

/**
 * The one-sided 5% lower bound of a probability by Wilson's score interval: given `successes` of `trials`, a lower
 * probability would have shown itself so well in only one case of twenty. 0 without trials. Both may be fractions,
 * since old outcomes weigh less; a success raises the bound and a failure lowers it, whatever was before. Source: E. B.
 * Wilson, JASA 22 (1927).
 */
export function lowerBound(successes: number, trials: number): number {
  if (!(trials > 0)) return 0;
  const share = Math.min(1, Math.max(0, successes / trials));
  const spread = z * Math.sqrt((share * (1 - share) + (z * z) / (4 * trials)) / trials);
  return Math.max(0, (share + (z * z) / (2 * trials) - spread) / (1 + (z * z) / trials));
}

/** An outcome weighs half as much after this time. Milliseconds. */
const halfLifeMs = 24 * 3_600_000;
/** With so many landed bundles in weight a searcher has half of the score that its shares deserve. */
const landedForHalf = 50;
/** Shares of the four parts; they add up to 1. */
const parts = { landed: 0.4, simulated: 0.3, tips: 0.2, clean: 0.1 } as const;

/**
 * Sums of outcomes, each multiplied by one half for every day since. `forwarded` and `landed` count bundles whose end
 * is known, `simulated` and `simulatedOk` first simulations. `tips` sums, over landed bundles, the tip as a share of
 * the median that landed about then, 1 at most: how much of what a slot is worth the searcher pays. `abuse` counts
 * abuses.
 */
export interface ReputationWeights {
  readonly forwarded: number;
  readonly landed: number;
  readonly simulated: number;
  readonly simulatedOk: number;
  readonly tips: number;
  readonly abuse: number;
}

/** A searcher's reputation after its last outcome; immutable. */
export interface Reputation {
  /** Unix milliseconds of the last outcome, to which the weights belong. */
  readonly at: number;
  readonly weights: ReputationWeights;
  /** The tier at `at`. What it is later follows from it and from the score, which only falls while nothing happens. */
  readonly tier: SearcherTier;
  /** Bundles ever, without weights. */
  readonly submitted: bigint;
  readonly landed: bigint;
}

export const newReputation = (at: number): Reputation => ({
  at,
  weights: { forwarded: 0, landed: 0, simulated: 0, simulatedOk: 0, tips: 0, abuse: 0 },
  tier: "bronze",
  submitted: 0n,
  landed: 0n,
});

/** A clock that went back ages nothing. */
function weightsAt({ at, weights }: Reputation, now: number): ReputationWeights {
  const factor = 0.5 ** (Math.max(0, now - at) / halfLifeMs);
  return {
    forwarded: weights.forwarded * factor,
    landed: weights.landed * factor,
    simulated: weights.simulated * factor,
    simulatedOk: weights.simulatedOk * factor,
    tips: weights.tips * factor,
    abuse: weights.abuse * factor,
  };
}

/**
 * 100 · n/(n+50) · (0.40 landed + 0.30 simulated + 0.20 tips + 0.10 clean), each part the 5% lower bound of its
 * probability. n is the weight of landed bundles, so that only what has landed lends a score weight: no failure can
 * raise it, and a new name starts at nothing. Clean is the share of sound simulations among these and abuses together.
 */
function scoreOf({ forwarded, landed, simulated, simulatedOk, tips, abuse }: ReputationWeights): number {
  const earned =
    parts.landed * lowerBound(landed, forwarded) +
    parts.simulated * lowerBound(simulatedOk, simulated) +
    parts.tips * lowerBound(tips, landed) +
    parts.clean * lowerBound(simulatedOk, simulatedOk + abuse);
  return ((100 * landed) / (landed + landedForHalf)) * earned;
}

const begins = (tier: SearcherTier): number => (tier === "bronze" ? 0 : searcherTierScores[tier]);

/** The highest tier that the score reaches, or that it had and has not fallen enough below to lose. */
function tierOf(before: SearcherTier, score: number): SearcherTier {
  const held = searcherTiers.indexOf(before);
  const kept = searcherTiers.findLast((tier, rank) => {
    return score >= begins(tier) - (rank <= held ? searcherTierScores.hysteresis : 0);
  });
  return kept ?? "bronze";
}

function addOutcome(weights: ReputationWeights, outcome: ReputationOutcome): ReputationWeights {
  switch (outcome.kind) {
    case "submitted":
    case "outbid":
      return weights;
    case "abuse":
      return { ...weights, abuse: weights.abuse + 1 };
    case "missed":
      return { ...weights, forwarded: weights.forwarded + 1 };
    case "simulated": {
      const simulatedOk = weights.simulatedOk + (outcome.ok ? 1 : 0);
      return { ...weights, simulated: weights.simulated + 1, simulatedOk };
    }
    case "landed":
      return {
        ...weights,
        forwarded: weights.forwarded + 1,
        landed: weights.landed + 1,
        tips: weights.tips + tipEfficiency(outcome.tip, outcome.medianTip),
      };
  }
}

/** The quotient needs no more digits than a double has; the lamports themselves may. */
function tipEfficiency(tip: bigint, medianTip: bigint): number {
  return tip >= medianTip ? 1 : Number(tip < 0n ? 0n : tip) / Number(medianTip);
}

/** The reputation after one more outcome. Gives the same figures whenever the same outcomes come at the same times. */
export function afterOutcome(reputation: Reputation, outcome: ReputationOutcome, now: number): Reputation {
  const aged = weightsAt(reputation, now);
  const weights = addOutcome(aged, outcome);
  return {
    at: Math.max(reputation.at, now),
    weights,
    // The tier of the moment before counts as held: what was lost by ageing is to be earned again.
    tier: tierOf(tierOf(reputation.tier, scoreOf(aged)), scoreOf(weights)),
    submitted: reputation.submitted + (outcome.kind === "submitted" ? 1n : 0n),
    landed: reputation.landed + (outcome.kind === "landed" ? 1n : 0n),
  };
}

const shareOf = (some: number, all: number): number => (all > 0 ? Math.min(1, some / all) : 0);

/** What the searcher is shown at a time. Asking changes nothing. */
export function figuresOf(reputation: Reputation, now: number): ReputationFigures {
  const weights = weightsAt(reputation, now);
  const score = scoreOf(weights);
  return {
    score,
    tier: tierOf(reputation.tier, score),
    landingRate: shareOf(weights.landed, weights.forwarded),
    simSuccess: shareOf(weights.simulatedOk, weights.simulated),
    submitted: reputation.submitted,
    landed: reputation.landed,
  };
}

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

/** The reputation that was written; null for what is damaged or of another version. */
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
