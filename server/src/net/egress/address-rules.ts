import { type AddressSet, compileAddressSet, normaliseAddress } from "@sluice/lib";
import ipaddr from "ipaddr.js";

/** Reachable under no setting: links, groups, what means this host, and where clouds keep the identity of a machine. */
const neverAllowed = compileAddressSet([
  "0.0.0.0/8",
  "169.254.0.0/16",
  "224.0.0.0/4",
  "255.255.255.255/32",
  "100.100.100.200/32",
  "168.63.129.16/32",
  "192.0.0.192/32",
  "::/128",
  "fe80::/10",
  "ff00::/8",
  "fd00:ec2::/32",
  "fd20:ce::254/128",
]);

/** All unicast addresses of the public Internet that are given out (RFC 4291, section 2.4). */
const globalUnicast6 = compileAddressSet(["2000::/3"]);

/** Identifiers of ISATAP (RFC 5214, section 6.1): the address of an IPv4 host follows on these, in any network. */
const isatapMarks: readonly number[] = [0x0000, 0x0200];
const isatapType = 0x5efe;

/** Which addresses may be connected to. */
export interface AddressRules {
  /**
   * The address as it is connected to, or null for one that must not be. Text that is no address in its usual form
   * (decimal, octal, with a zone) is null.
   */
  admit(address: string): string | null;
}

/**
 * Public addresses alone, and those in `allowedRanges` (CIDR). Everything that stands for an IPv4 address (mapped,
 * translated, tunnelled) is either read as that address or refused.
 */
export function createAddressRules(allowedRanges: readonly string[]): AddressRules {
  const allowed = compileAddressSet(allowedRanges);
  return { admit: (address) => admit(address, allowed) };
}

function admit(text: string, allowed: AddressSet): string | null {
  if (text.includes("%")) return null;
  const address = normaliseAddress(text);
  if (address === null || neverAllowed.contains(address)) return null;
  if (allowed.contains(address)) return address;
  const parsed = ipaddr.process(address);
  if (parsed.range() !== "unicast") return null;
  if (parsed instanceof ipaddr.IPv6 && !(globalUnicast6.contains(address) && !isIsatap(parsed))) return null;
  return address;
}

function isIsatap({ parts }: ipaddr.IPv6): boolean {
  return isatapMarks.includes(parts[4] ?? 0) && parts[5] === isatapType;
}
