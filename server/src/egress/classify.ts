import type { EgressFailure } from "./outcome.ts";

/** What the guarded look-up ends with when the policy does not allow an address. */
export class AddressRefused extends Error {}

/** A failure by the code that node:net, node:tls, the resolver or the parser gave it. */
export function classify(error: Error & { code?: unknown }, protocol: string): [EgressFailure, string] {
  const code = typeof error.code === "string" ? error.code : "";
  if (error instanceof AddressRefused) return ["address_not_allowed", "The URL leads to an address that is not public"];
  if (code === "HPE_HEADER_OVERFLOW") return ["headers_too_large", "The headers of the answer are too large"];
  if (code.startsWith("HPE_")) return ["malformed_answer", "The answer is not valid HTTP"];
  if (code.startsWith("ERR_INVALID_") || code === "ERR_UNESCAPED_CHARACTERS") {
    return ["invalid_request", "The request has a header that HTTP does not allow"];
  }
  if (
    /^(ENOTFOUND|EAI_|ENODATA|ESERVFAIL|EBADNAME|DNS_)/.test(code) ||
    /has no address|look-up failed/.test(error.message)
  ) {
    return ["dns_failed", "The host name could not be resolved"];
  }
  if (/^(ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|EADDRNOTAVAIL|ConnectionRefused)/.test(code)) {
    return ["connect_failed", "The host did not accept the connection"];
  }
  const isTls = /CERT|TLS|SSL|SIGNED|ISSUER|SIGNATURE|CRL/.test(code) || /certificate|TLS|SSL/i.test(error.message);
  if (protocol === "https:" && isTls)
    return ["tls_failed", "The TLS connection could not be made or its certificate is not valid"];
  return ["connection_lost", "The connection was closed before the answer was complete"];
}
