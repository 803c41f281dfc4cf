import { lookup as resolveByDns } from "node:dns/promises";
import type { LookupFunction } from "node:net";
import { type AddressPolicy, createAddressPolicy } from "./address-policy.ts";
import { AddressRefused } from "./classify.ts";
import { exchange } from "./exchange.ts";
import type { EgressDependencies, EgressOptions, GuardedFetch, ResolvedAddress } from "./outcome.ts";
import { judgeUrl } from "./target-url.ts";

/**
 * A fetch for URLs that users gave. It opens a connection only to addresses that the policy allows, judged on the very
 * addresses that the connection uses, so that a name that changes its address between check and use gains nothing;
 * follows no redirect, reads a bounded answer, and is over by its deadline. Never throws: every outcome is a value.
 */
export function createGuardedFetch(options: EgressOptions, dependencies: EgressDependencies): GuardedFetch {
  const policy = createAddressPolicy(options.allowedPrivateRanges);
  const resolve = dependencies.resolve ?? ((hostname: string) => resolveByDns(hostname, { all: true }));
  const { clock } = dependencies;
  return async (text, request) => {
    const startedMs = clock.monotonic();
    const judged = judgeUrl(text, options.allowHttp, policy);
    if (!judged.ok) return { ...judged, elapsedMs: 0 };
    const outcome = await exchange(judged.url, request, { policy, options, lookup: guardedLookup(resolve, policy) });
    return { ...outcome, elapsedMs: Math.max(0, clock.monotonic() - startedMs) };
  };
}

/**
 * The look-up that node:http makes to connect. All addresses of a name must be allowed: a name that has a public and a
 * private one is refused rather than left to chance.
 */
function guardedLookup(
  resolve: (hostname: string) => Promise<readonly ResolvedAddress[]>,
  policy: AddressPolicy,
): LookupFunction {
  return (hostname, lookupOptions, callback) => {
    const answer = (error: Error | null, addresses: readonly ResolvedAddress[]): void => {
      const [first] = addresses;
      if (error !== null || first === undefined) {
        callback(error ?? new Error("The name has no address"), "", 0);
      } else if (lookupOptions.all === true) {
        callback(null, [...addresses]);
      } else {
        callback(null, first.address, first.family);
      }
    };
    resolve(hostname).then(
      (addresses) => {
        const allowed = addresses.every((resolved) => policy.allows(resolved.address));
        answer(allowed ? null : new AddressRefused("refused"), addresses);
      },
      (error: unknown) => answer(error instanceof Error ? error : new Error("look-up failed"), []),
    );
  };
}
