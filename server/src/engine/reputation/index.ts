/** reputation: what a searcher's bundles have earned it. Fed by outcomes; feeds limits (the tier) and who asks. */

export {
  afterOutcome,
  figuresOf,
  newReputation,
  type Reputation,
  readReputation,
  reputationVersion,
  writeReputation,
} from "./reputation.ts";
export {
  outcomeOfEnd,
  outcomeOfRejection,
  type ReputationOutcome,
  type ReputationStore,
  Reputations,
  type ReputationsEvents,
  type ReputationsOptions,
  type StoredReputation,
} from "./reputation-tracker.ts";
