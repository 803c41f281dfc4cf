/** reputation: what a searcher's bundles have earned it. Fed by outcomes; feeds limits (the tier) and who asks. */
export { outcomeOfEnd, outcomeOfRejection, type ReputationOutcome } from "./outcome.ts";
export { afterOutcome, figuresOf, newReputation, type Reputation } from "./reputation.ts";
export {
  ReputationBook,
  type ReputationBookEvents,
  type ReputationBookOptions,
  type ReputationStore,
  type StoredReputation,
} from "./reputation-book.ts";
export { readReputation, reputationVersion, writeReputation } from "./serialise.ts";
