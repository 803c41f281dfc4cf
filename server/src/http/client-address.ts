import { type AddressSet, normaliseAddress } from "@sluice/lib";

/** Entries of X-Forwarded-For that are read; a chain of proxies is short, an attack is long. */
const forwardedEntriesMax = 32;

/**
 * The address that IP restrictions and per-address limits are about: the socket's, unless that is a trusted proxy; then
 * the right-most entry of X-Forwarded-For that is not itself a trusted proxy. An entry that is no address ends the walk
 * at the proxy that handed it on, since what stands left of it was not written by a trusted proxy.
 * IPv4-mapped IPv6 becomes IPv4. `socketAddress` that is no address (a Unix socket) is returned as it is.
 */
export function clientAddress(socketAddress: string, forwardedFor: string | null, trustedProxies: AddressSet): string {
  const socket = spelledOnce(socketAddress);
  if (trustedProxies.isEmpty || forwardedFor === null || !trustedProxies.contains(socket)) return socket;
  let address = socket;
  let end = forwardedFor.length;
  for (let seen = 0; end >= 0 && seen < forwardedEntriesMax; seen += 1) {
    const comma = end === 0 ? -1 : forwardedFor.lastIndexOf(",", end - 1);
    const entry = withoutPort(forwardedFor.slice(comma + 1, end).trim());
    const next = normaliseAddress(entry);
    if (next === null) return address;
    address = next;
    if (!trustedProxies.contains(next)) return next;
    end = comma;
  }
  return address;
}

/** Sockets give addresses that are already canonical, but for the IPv4-mapped form and zones: only those are parsed. */
function spelledOnce(address: string): string {
  if (!address.startsWith("::ffff:") && !address.includes("%")) return address;
  return normaliseAddress(address) ?? address;
}

/** Some proxies write "1.2.3.4:5678" or "[2001:db8::1]:5678"; the port does not identify the client. */
function withoutPort(entry: string): string {
  if (entry.startsWith("[")) {
    const close = entry.indexOf("]");
    return close < 0 ? entry : entry.slice(1, close);
  }
  const colon = entry.indexOf(":");
  return colon >= 0 && colon === entry.lastIndexOf(":") ? entry.slice(0, colon) : entry;
}
