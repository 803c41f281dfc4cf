/**
 * reputation: a searcher's reputation and the limits that it earns. Fed by submissions, simulations and ends of
 * bundles; feeds the rate of submissions (by tier) and the endpoints that show it.
 */
export { ReputationTracker } from "./reputation-tracker.ts";
export { SearcherLimits } from "./searcher-limits.ts";
