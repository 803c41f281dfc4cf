import { normaliseAddress } from "@sluice/lib";

/** A URL that somebody outside has given, in the parts that a call to it needs. */
export interface EgressUrl {
  /** Name, or address as it is written in text; without brackets and without a dot at its end. */
  readonly hostname: string;
  /** Whether `hostname` is an address. */
  readonly isAddress: boolean;
  readonly port: number;
  readonly isTls: boolean;
  /** For the field Host. */
  readonly host: string;
  /** Path and query. */
  readonly path: string;
}

/** Why a URL is not called. */
export type EgressUrlFault = "malformed" | "scheme" | "credentials" | "port" | "host";

export type ReadEgressUrl =
  | { readonly ok: true; readonly url: EgressUrl }
  | { readonly ok: false; readonly fault: EgressUrlFault };

const urlLengthMax = 2_048;
const nameLengthMax = 253;
const namePattern = /^(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?)(?:\.[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?)*$/;

/**
 * Reads a URL by the standard of browsers (WHATWG), which turns numbers in decimal, octal and hexadecimal, and letters
 * of other scripts, into the address or name that they stand for; so nothing is left that another reader could take for
 * something else. What has a user part is refused, since it is there to deceive or is a secret in the wrong place.
 */
export function readEgressUrl(text: string, options: { readonly allowHttp: boolean }): ReadEgressUrl {
  if (text.length > urlLengthMax || !/^[\x21-\x7e\x80-\u{10ffff}]+$/u.test(text)) return refused("malformed");
  const parsed = URL.parse(text);
  if (parsed === null) return refused("malformed");
  const isTls = parsed.protocol === "https:";
  if (!isTls && !(options.allowHttp && parsed.protocol === "http:")) return refused("scheme");
  if (parsed.username !== "" || parsed.password !== "" || hasUserPart(text)) return refused("credentials");
  const port = parsed.port === "" ? (isTls ? 443 : 80) : Number(parsed.port);
  if (port === 0) return refused("port");
  const bare = parsed.hostname.replace(/^\[(.*)\]$/, "$1");
  if (bare.includes(":") || normaliseAddress(bare) !== null) {
    if (normaliseAddress(bare) === null) return refused("host");
    return accepted(parsed, { hostname: bare, isAddress: true, port, isTls });
  }
  const hostname = bare.endsWith(".") ? bare.slice(0, -1) : bare;
  if (hostname.length > nameLengthMax || !namePattern.test(hostname)) return refused("host");
  // With its dot it was no address to the parser of URLs; to a resolver it may be one.
  if (/^(?:0x[0-9a-f]*|[0-9]+)$/.test(hostname.slice(hostname.lastIndexOf(".") + 1))) return refused("host");
  return accepted(parsed, { hostname, isAddress: false, port, isTls });
}

/** An empty user part (`https://@host`) leaves no trace in what is parsed. */
function hasUserPart(text: string): boolean {
  const authority = /^[a-z]+:[\\/]*([^\\/?#]*)/i.exec(text)?.[1] ?? "";
  return authority.includes("@");
}

function accepted(parsed: URL, place: Omit<EgressUrl, "host" | "path">): ReadEgressUrl {
  const name = place.hostname.includes(":") ? `[${place.hostname}]` : place.hostname;
  const host = parsed.port === "" ? name : `${name}:${parsed.port}`;
  return { ok: true, url: { ...place, host, path: `${parsed.pathname}${parsed.search}` } };
}

const refused = (fault: EgressUrlFault): ReadEgressUrl => ({ ok: false, fault });
