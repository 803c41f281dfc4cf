import type { AddressSet } from "@sluice/lib";
import type { HeaderReader } from "./request-head.ts";

/**
 * Whether a trusted proxy says that the client reached it over TLS (X-Forwarded-Proto). Of several proxies' values the
 * first is the outermost's.
 */
export function isForwardedTls(headers: HeaderReader, socketAddress: string, trustedProxies: AddressSet): boolean {
  const [outermost = ""] = (headers.get("x-forwarded-proto") ?? "").split(",", 1);
  if (outermost.trim().toLowerCase() !== "https") return false;
  return trustedProxies.contains(socketAddress);
}
