/** reputation: what a searcher's bundles have earned it. Fed by outcomes; feeds limits (the tier) and who asks. */
export { outcomeOfEnd, outcomeOfRejection, type ReputationOutcome } from "./outcome.ts";
export { afterOutcome, figuresOf, newReputation, type Reputation } from "./reputation.ts";
export {
  type ReputationStore,
  Reputations,
  type ReputationsEvents,
  type ReputationsOptions,
  type StoredReputation,
} from "./reputations.ts";
export { readReputation, reputationVersion, writeReputation } from "./serialise.ts";
