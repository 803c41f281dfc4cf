/** What is needed of a request's headers; Headers and Hono's requests have it, gRPC metadata can be wrapped in it. */
export interface HeaderReader {
  get(name: string): string | null;
}

/** The query parameter that may carry a key; everything that logs an address takes its value out. */
const keyParameter = "api-key";

/**
 * The value of the first query parameter `name` of an absolute URL or a path, or null. Reads the text in place:
 * building a URL object costs more than the rest of the gateway's checks together. Malformed percent-encoding is left
 * as it is.
 */
export function queryParameter(url: string, name: string): string | null {
  const queryStart = url.indexOf("?");
  if (queryStart < 0) return null;
  const fragmentStart = url.indexOf("#", queryStart);
  const end = fragmentStart < 0 ? url.length : fragmentStart;
  let position = queryStart + 1;
  while (position < end) {
    const next = url.indexOf("&", position);
    const pairEnd = next < 0 || next > end ? end : next;
    const equals = url.indexOf("=", position);
    const nameEnd = equals < 0 || equals > pairEnd ? pairEnd : equals;
    if (decodeComponent(url.slice(position, nameEnd)) === name) {
      return nameEnd === pairEnd ? "" : decodeComponent(url.slice(nameEnd + 1, pairEnd));
    }
    position = pairEnd + 1;
  }
  return null;
}

/** Decodes one form-encoded component; text that does not decode stays as it was sent. */
export function decodeComponent(text: string): string {
  if (!text.includes("%") && !text.includes("+")) return text;
  const spaced = text.replaceAll("+", " ");
  try {
    return decodeURIComponent(spaced);
  } catch {
    return spaced;
  }
}

/**
 * The API key that a request presents, in the order X-API-Key, Authorization: Bearer, query `api-key` (spec: node
 * platform, Authentication 1); null when there is none. An empty value counts as absent. The first one found is the one
 * that is checked: a valid query does not make up for an invalid header.
 */
export function presentedKey(headers: HeaderReader, url: string): string | null {
  const own = headers.get("x-api-key");
  if (own !== null && own !== "") return own;
  const bearer = bearerToken(headers.get("authorization"));
  if (bearer !== null) return bearer;
  if (!url.includes("?")) return null;
  const query = queryParameter(url, keyParameter);
  return query === "" ? null : query;
}

/**
 * The token of an `Authorization: Bearer` header (the scheme in any letter case), or null for other schemes and without
 * one.
 */
export function bearerToken(authorization: string | null): string | null {
  if (authorization === null || authorization.length < 8) return null;
  const space = authorization.indexOf(" ");
  if (space !== 6) return null;
  const scheme = authorization.slice(0, 6);
  if (scheme !== "Bearer" && scheme.toLowerCase() !== "bearer") return null;
  const token = authorization.slice(7).trim();
  return token === "" ? null : token;
}

/** Path and query of an absolute URL, as the runtime's server gives them whatever the client wrote. */
export function targetOf(url: string): string {
  const start = url.indexOf("/", 8);
  return start < 0 ? "/" : url.slice(start);
}

/** The path of a target without its query. */
export function pathOf(target: string): string {
  const query = target.indexOf("?");
  return query < 0 ? target : target.slice(0, query);
}

export function isUpgrade(headers: HeaderReader): boolean {
  return headers.get("upgrade")?.toLowerCase() === "websocket";
}

/** True for application/json and types that end in +json, with any parameters. */
export function isJsonContentType(contentType: string | null): boolean {
  if (contentType === null) return false;
  if (contentType === "application/json") return true;
  const essence = (contentType.split(";", 1)[0] ?? "").trim().toLowerCase();
  return essence === "application/json" || /^application\/[\w.-]+\+json$/.test(essence);
}
