import { compileAddressSet } from "@sluice/lib";
import ipaddr from "ipaddr.js";

/**
 * Addresses that answer with secrets of the machine or the cloud it runs in. They stay refused when an operator allows a
 * private range around them; Azure's would even pass as public.
 */
const neverAllowed = compileAddressSet([
  "169.254.0.0/16", // Link-local, and with it the metadata service of nearly every cloud.
  "fe80::/10",
  "fd00:ec2::/32", // Amazon's services over IPv6.
  "fd20:ce::/64", // Google's metadata over IPv6.
  "100.100.100.200", // Alibaba.
  "168.63.129.16", // Azure's wire server.
  "192.0.0.192", // Oracle's older metadata service.
  "0.0.0.0/8",
  "::",
]);

/** The part of IPv6 that is given out as global unicast, and what in it is not for the public all the same. */
const globalUnicast6 = compileAddressSet(["2000::/3"]);
const documentation6 = compileAddressSet(["3fff::/20"]);

export interface AddressPolicy {
  /** True when a connection to this address (text of v4 or v6) may be opened. */
  allows(address: string): boolean;
}

/**
 * Which addresses a URL given by a user may lead to: public unicast ones, and the private ranges that the operator
 * listed. Link-local and metadata addresses never, whatever is listed (decisions: Platform, Targets).
 */
export function createAddressPolicy(allowedPrivateRanges: readonly string[]): AddressPolicy {
  const allowedPrivate = compileAddressSet(allowedPrivateRanges);
  return {
    allows(address: string): boolean {
      if (address.includes("%") || !ipaddr.isValid(address)) return false;
      if (neverAllowed.contains(address)) return false;
      if (allowedPrivate.contains(address)) return true;
      const parsed = ipaddr.process(address);
      if (parsed.range() !== "unicast") return false;
      // ipaddr.js calls unicast whatever it has no other name for; the old IPv4-compatible ::/96 is among it.
      if (parsed instanceof ipaddr.IPv6) return globalUnicast6.contains(address) && !documentation6.contains(address);
      return true;
    },
  };
}
