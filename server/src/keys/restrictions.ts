import type { Network } from "@sluice/contract/tiers";
import { type AddressSet, compileAddressSet } from "@sluice/lib";
import type { KeyRestrictions } from "../state/index.ts";

/** A key's restrictions in the form in which they are asked on every request; null where nothing is restricted. */
export interface CompiledRestrictions {
  readonly networks: ReadonlySet<Network> | null;
  readonly domains: DomainSet | null;
  readonly addresses: AddressSet | null;
}

interface DomainSet {
  readonly exact: ReadonlySet<string>;
  /** ".example.com" for "*.example.com". */
  readonly suffixes: readonly string[];
}

/** What of a request the restrictions are about. */
export interface RestrictedRequest {
  /** Null where what is asked for is of no network; a restriction to networks then has nothing to say. */
  readonly network: Network | null;
  readonly origin: string | null;
  readonly referer: string | null;
  /** The client's address as http's clientAddress spells it. */
  readonly clientAddress: string;
}

/** Which restriction of a key a request breaks. */
export type RestrictionCode = "NETWORK_NOT_ALLOWED" | "DOMAIN_NOT_ALLOWED" | "IP_NOT_ALLOWED";

/**
 * Compiles a key's restrictions once. An entry that cannot be read matches nothing, and a list of nothing but such
 * entries still restricts: a restriction never falls away because it is broken.
 */
export function compileRestrictions(restrictions: KeyRestrictions): CompiledRestrictions {
  return {
    networks: restrictions.networks.length === 0 ? null : new Set(restrictions.networks),
    domains: restrictions.domains.length === 0 ? null : compileDomains(restrictions.domains),
    addresses: restrictions.ipRanges.length === 0 ? null : compileAddressSet(restrictions.ipRanges),
  };
}

/**
 * The code of the first restriction that a request breaks, or null: network, then domain, then address (spec: node
 * platform, Authentication 3). A domain restriction is checked against the host of Origin or, without that header, of
 * Referer; a request with neither breaks it.
 */
export function brokenRestriction(
  restrictions: CompiledRestrictions,
  request: RestrictedRequest,
): RestrictionCode | null {
  const { network } = request;
  if (restrictions.networks !== null && network !== null && !restrictions.networks.has(network)) {
    return "NETWORK_NOT_ALLOWED";
  }
  if (restrictions.domains !== null) {
    const host = hostOf(request.origin ?? request.referer ?? "");
    if (host === null || !isInDomains(restrictions.domains, host)) return "DOMAIN_NOT_ALLOWED";
  }
  if (restrictions.addresses !== null && !restrictions.addresses.contains(request.clientAddress))
    return "IP_NOT_ALLOWED";
  return null;
}

/**
 * The host of an Origin or Referer in lower case, without port and trailing dot; null for "null", opaque and malformed
 * values. Only http and https pages have one, so that no other scheme can dress up as a host.
 */
export function hostOf(origin: string): string | null {
  const lowered = origin.toLowerCase();
  if (!lowered.startsWith("http://") && !lowered.startsWith("https://")) return null;
  if (!URL.canParse(lowered)) return null;
  const { hostname } = new URL(lowered);
  const host = hostname.endsWith(".") ? hostname.slice(0, -1) : hostname;
  return host === "" ? null : host;
}

function compileDomains(entries: readonly string[]): DomainSet {
  const exact = new Set<string>();
  const suffixes: string[] = [];
  for (const entry of entries) {
    const isWildcard = entry.startsWith("*.");
    const bare = isWildcard ? entry.slice(2) : entry;
    // An entry may have been written as an origin; what counts of it is the host, in the form browsers send (punycode).
    const host = hostOf(bare.includes("://") ? bare : `https://${bare}`);
    if (host === null || host.includes("*")) continue;
    if (isWildcard) suffixes.push(`.${host}`);
    else exact.add(host);
  }
  return { exact, suffixes };
}

/** A wildcard stands for one label or more, so "*.example.com" does not admit "example.com" itself. */
function isInDomains(domains: DomainSet, host: string): boolean {
  return (
    domains.exact.has(host) || domains.suffixes.some((suffix) => host.length > suffix.length && host.endsWith(suffix))
  );
}
