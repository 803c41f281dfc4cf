import ipaddr from "ipaddr.js";

/** A set of IP ranges, compiled once and asked often. */
export interface AddressSet {
  readonly isEmpty: boolean;
  /**
   * True when `address` (v4, v6 or IPv4-mapped v6 in text) lies in one of the ranges; text that is no address never
   * does.
   */
  contains(address: string): boolean;
}

interface Range4 {
  readonly network: number;
  readonly mask: number;
}

interface Range6 {
  readonly address: ipaddr.IPv6;
  readonly bits: number;
}

/**
 * The 32-bit value of a dotted-decimal IPv4 address, or -1. Written by hand since it lies on the way of every request;
 * leading zeros, missing parts and anything else that other parsers read as octal or hex is refused.
 */
export function parseIpv4(text: string): number {
  let value = 0;
  let part = 0;
  let digits = 0;
  let dots = 0;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    if (unit === 46) {
      if (digits === 0 || dots === 3) return -1;
      value = value * 256 + part;
      part = 0;
      digits = 0;
      dots += 1;
      continue;
    }
    if (unit < 48 || unit > 57 || digits === 3 || (digits > 0 && part === 0)) return -1;
    part = part * 10 + (unit - 48);
    if (part > 255) return -1;
    digits += 1;
  }
  return dots === 3 && digits > 0 ? value * 256 + part : -1;
}

/**
 * The one spelling of an address under which it is counted and compared: IPv4-mapped IPv6 becomes IPv4, IPv6 is written
 * by RFC 5952 without its zone. Null when the text is no address.
 */
export function normaliseAddress(text: string): string | null {
  if (parseIpv4(text) >= 0) return text;
  if (!text.includes(":") || !ipaddr.IPv6.isValid(text)) return null;
  const parsed = ipaddr.process(text);
  if (!(parsed instanceof ipaddr.IPv6)) return parsed.toString();
  return new ipaddr.IPv6(parsed.parts).toRFC5952String();
}

/**
 * The prefix of an address range ("10.0.0.0/8", "2001:db8::/32", or one address), or null when it is none. IPv4-mapped
 * ranges of at least 96 bits are read as the IPv4 range that they hold.
 */
function parseRange(text: string): { address: ipaddr.IPv4 | ipaddr.IPv6; bits: number } | null {
  const [addressText = "", bitsText, ...rest] = text.trim().split("/");
  if (rest.length > 0 || (bitsText !== undefined && !/^\d{1,3}$/.test(bitsText))) return null;
  const isIpv4 = parseIpv4(addressText) >= 0;
  if (!isIpv4 && !(addressText.includes(":") && !addressText.includes("%") && ipaddr.IPv6.isValid(addressText)))
    return null;
  const address = ipaddr.parse(addressText);
  const bits = bitsText === undefined ? (isIpv4 ? 32 : 128) : Number(bitsText);
  if (bits > (isIpv4 ? 32 : 128)) return null;
  if (address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress() && bits >= 96) {
    return { address: address.toIPv4Address(), bits: bits - 96 };
  }
  return { address, bits };
}

/** True when `text` is one address or a CIDR range, v4 or v6. */
export function isAddressRange(text: string): boolean {
  return parseRange(text) !== null;
}

/**
 * Compiles ranges (CIDR or single addresses, v4 and v6). An entry that is no range matches nothing: validation belongs
 * to whoever accepts the list, and a set that guards something must not widen because one of its entries is broken.
 */
export function compileAddressSet(ranges: readonly string[]): AddressSet {
  const ranges4: Range4[] = [];
  const ranges6: Range6[] = [];
  for (const text of ranges) {
    const range = parseRange(text);
    if (range === null) continue;
    if (range.address instanceof ipaddr.IPv6) {
      ranges6.push({ address: range.address, bits: range.bits });
      continue;
    }
    const mask = range.bits === 0 ? 0 : (-1 << (32 - range.bits)) | 0;
    ranges4.push({ network: parseIpv4(range.address.toString()) & mask, mask });
  }
  const matches4 = (value: number): boolean => ranges4.some((range) => (value & range.mask) === range.network);
  return {
    isEmpty: ranges4.length + ranges6.length === 0,
    contains(address: string): boolean {
      const value = parseIpv4(address);
      if (value >= 0) return matches4(value);
      if (!address.includes(":") || !ipaddr.IPv6.isValid(address)) return false;
      const parsed = ipaddr.process(address);
      if (!(parsed instanceof ipaddr.IPv6)) return matches4(parseIpv4(parsed.toString()));
      return ranges6.some((range) => parsed.match(range.address, range.bits));
    },
  };
}

/** A set whose ranges are exchanged while others hold it. */
export function replaceableAddressSet(ranges: readonly string[]): AddressSet & {
  replace(ranges: readonly string[]): void;
} {
  let present = compileAddressSet(ranges);
  return {
    get isEmpty(): boolean {
      return present.isEmpty;
    },
    contains: (address) => present.contains(address),
    replace: (next) => {
      present = compileAddressSet(next);
    },
  };
}
