import { coversMethod } from "@sluice/contract/permissions";
import { compileAddressSet } from "@sluice/lib";
import type { KeyRecord } from "../state/index.ts";

/** What a key can do, and with whom. */
export type KeyPowers = Pick<
  KeyRecord,
  | "environment"
  | "restrictions"
  | "permissions"
  | "methods"
  | "enhanced"
  | "enhancedRequestsPerSecond"
  | "requestsPerSecond"
  | "expiresAt"
>;

/**
 * The member by which `requested` goes beyond what `granting` has, or null: no key grants more than it has. An
 * operator's key (`admin`) grants everything but another operator's key that is wider than itself, so that one that is
 * bound to an address cannot make itself one that is not.
 */
export function excessOf(granting: KeyPowers, requested: KeyPowers): keyof KeyPowers | null {
  if (granting.permissions.includes("admin")) {
    if (!requested.permissions.includes("admin")) return null;
  } else if (requested.permissions.some((permission) => !granting.permissions.includes(permission)))
    return "permissions";
  if (granting.environment === "dev" && requested.environment !== "dev") return "environment";
  if (!isWithinRestrictions(granting.restrictions, requested.restrictions)) return "restrictions";
  if (!isCovered(granting.methods, requested.methods, coversMethod)) return "methods";
  if (!isWithin(granting.expiresAt, requested.expiresAt)) return "expiresAt";
  if (!isWithin(granting.requestsPerSecond, requested.requestsPerSecond)) return "requestsPerSecond";
  if (!requested.enhanced) return null;
  if (!granting.enhanced) return "enhanced";
  return isWithin(granting.enhancedRequestsPerSecond, requested.enhancedRequestsPerSecond)
    ? null
    : "enhancedRequestsPerSecond";
}

/** Null is no bound. */
function isWithin(bound: number | null, requested: number | null): boolean {
  return bound === null || (requested !== null && requested <= bound);
}

function isWithinRestrictions(bound: KeyPowers["restrictions"], requested: KeyPowers["restrictions"]): boolean {
  return (
    isCovered(bound.networks, requested.networks, (one, other) => one === other) &&
    isCovered(bound.domains, requested.domains, coversDomain) &&
    isCovered(bound.ipRanges, requested.ipRanges, coversRange)
  );
}

/** An empty list restricts nothing, so within one that restricts there must be some, each inside one of the bound's. */
function isCovered(
  bound: readonly string[],
  requested: readonly string[],
  covers: (one: string, other: string) => boolean,
): boolean {
  if (bound.length === 0) return true;
  return requested.length > 0 && requested.every((entry) => bound.some((wider) => covers(wider, entry)));
}

function coversDomain(wider: string, entry: string): boolean {
  if (wider === entry) return true;
  if (!wider.startsWith("*.")) return false;
  const bare = entry.startsWith("*.") ? entry.slice(2) : entry;
  return bare.length > wider.length - 1 && bare.endsWith(wider.slice(1));
}

/**
 * Ranges of different spelling (IPv4 and mapped IPv6) are never taken to cover each other: strict, and never too wide.
 */
function coversRange(wider: string, entry: string): boolean {
  const isSix = wider.includes(":");
  if (isSix !== entry.includes(":")) return false;
  const bits = (range: string): number => Number(range.split("/")[1] ?? (isSix ? 128 : 32));
  const [address = ""] = entry.split("/");
  return bits(entry) >= bits(wider) && compileAddressSet([wider]).contains(address);
}
