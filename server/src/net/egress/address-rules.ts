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

/** Where the last 32 bits are the address of an IPv4 host: compatible, translated (RFC 4291, 6052, 7915, 8215). */
const endsInIpv4 = compileAddressSet(["::/96", "::ffff:0:0:0/96", "64:ff9b::/96", "64:ff9b:1::/48"]);

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
  const parsed = ipaddr.process(address);
  // A gateway or a tunnel leads there, so what is never allowed is not allowed in this form either.
  const host = parsed instanceof ipaddr.IPv6 ? ipv4Of(address, parsed) : null;
  if (host !== null && neverAllowed.contains(host)) return null;
  if (allowed.contains(address)) return address;
  if (parsed.range() !== "unicast") return null;
  if (parsed instanceof ipaddr.IPv6 && !(globalUnicast6.contains(address) && !isIsatap(parsed))) return null;
  return address;
}

/** The IPv4 address that an IPv6 address leads to; null for one that leads to itself. */
function ipv4Of(address: string, { parts }: Pick<ipaddr.IPv6, "parts">): string | null {
  const at = (place: number): number => parts[place] ?? 0;
  const text = (high: number, low: number): string => [high >> 8, high & 0xff, low >> 8, low & 0xff].join(".");
  if (at(0) === 0x2002) return text(at(1), at(2));
  // Teredo tells the address of its host inverted (RFC 4380, section 4).
  if (at(0) === 0x2001 && at(1) === 0) return text(at(6) ^ 0xffff, at(7) ^ 0xffff);
  const isHost = isIsatap({ parts }) || (endsInIpv4.contains(address) && address !== "::1");
  return isHost ? text(at(6), at(7)) : null;
}

function isIsatap({ parts }: Pick<ipaddr.IPv6, "parts">): boolean {
  return isatapMarks.includes(parts[4] ?? 0) && parts[5] === isatapType;
}
