/**
 * egress: the only way out to URLs that users gave. Public unicast addresses only, judged at connect time, no redirects,
 * one deadline over the whole exchange, bounded headers and body. Fed by webhooks, feeds (as plain outcome values) what
 * records the attempts.
 */
export { type AddressPolicy, createAddressPolicy } from "./address-policy.ts";
export { createGuardedFetch } from "./guarded-fetch.ts";
export type {
  EgressAnswer,
  EgressDependencies,
  EgressFailure,
  EgressOptions,
  EgressOutcome,
  EgressRefusal,
  EgressRequest,
  GuardedFetch,
  ResolvedAddress,
} from "./outcome.ts";
export { checkTargetUrl } from "./target-url.ts";
