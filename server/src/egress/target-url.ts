import { type AddressPolicy, createAddressPolicy } from "./address-policy.ts";
import type { EgressFailure, EgressOptions } from "./outcome.ts";

const urlLengthMax = 2_048;

/** What of a URL can be judged before any look-up: form, scheme, user info, literal address. */
export function checkTargetUrl(
  url: string,
  options: Pick<EgressOptions, "allowHttp" | "allowedPrivateRanges">,
): { ok: true; url: URL } | { ok: false; failure: EgressFailure; detail: string } {
  return judgeUrl(url, options.allowHttp, createAddressPolicy(options.allowedPrivateRanges));
}

/** `checkTargetUrl` under a policy that is compiled already. */
export function judgeUrl(
  text: string,
  allowHttp: boolean,
  policy: AddressPolicy,
): { ok: true; url: URL } | { ok: false; failure: EgressFailure; detail: string } {
  if (text.length > urlLengthMax || !URL.canParse(text)) {
    return { ok: false, failure: "invalid_url", detail: "The address is not a valid URL" };
  }
  const url = new URL(text);
  if (url.protocol !== "https:" && !(allowHttp && url.protocol === "http:")) {
    return { ok: false, failure: "scheme_not_allowed", detail: "The URL must begin with https://" };
  }
  if (url.username !== "" || url.password !== "") {
    return { ok: false, failure: "credentials_in_url", detail: "The URL must not hold a user name or password" };
  }
  // URL parsing has turned decimal, octal, hexadecimal and short IPv4 forms into dotted decimals.
  const literal = literalAddress(url.hostname);
  if (literal !== null && !policy.allows(literal)) {
    return { ok: false, failure: "address_not_allowed", detail: "The URL leads to an address that is not public" };
  }
  return { ok: true, url };
}

/** The address that a URL's host is, or null when it is a name. */
export function literalAddress(hostname: string): string | null {
  if (hostname.startsWith("[")) return hostname.slice(1, -1);
  return /^\d+\.\d+\.\d+\.\d+$/.test(hostname) ? hostname : null;
}
