/**
 * egress: the only way out to URLs that users gave. Public unicast addresses only, judged at connect time, no redirects,
 * one deadline over the whole exchange, bounded headers and body. Fed by webhooks, feeds (as plain outcome values) what
 * records the attempts.
 */
export { type AddressPolicy, createAddressPolicy } from "./address-policy.ts";
export {
  checkTargetUrl,
  createGuardedFetch,
  type EgressAnswer,
  type EgressDependencies,
  type EgressFailure,
  type EgressOptions,
  type EgressOutcome,
  type EgressRefusal,
  type EgressRequest,
  type GuardedFetch,
  type ResolvedAddress,
} from "./guarded-fetch.ts";
