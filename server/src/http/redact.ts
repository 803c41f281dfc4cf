import { decodeComponent } from "./request-head.ts";

const mask = "***";

/** Path segments longer than this are taken for secrets: providers put their keys there. */
const pathSegmentShownMax = 16;

/** Query parameters that carry keys at some endpoint. */
const secretParameters: ReadonlySet<string> = new Set([
  "api-key",
  "apikey",
  "api_key",
  "key",
  "token",
  "uuid",
  "x-token",
]);

/**
 * An address that Sluice calls (upstream, webhook target) as it may be shown or logged: without user info, query and
 * fragment, and with path segments over 16 characters masked. Text that is no URL shows nothing of itself.
 */
export function redactUrl(url: string): string {
  let parsed: URL;
  try {
    parsed = new URL(url);
  } catch {
    return "(not a URL)";
  }
  const path = parsed.pathname
    .split("/")
    .map((segment) => (segment.length > pathSegmentShownMax ? mask : segment))
    .join("/");
  return `${parsed.protocol}//${parsed.host}${path === "/" ? "" : path}`;
}

/**
 * A request's own path and query as they may be logged: the values of parameters that carry keys are masked, however
 * their names are written; the rest stays.
 */
export function redactQuery(pathAndQuery: string): string {
  const queryStart = pathAndQuery.indexOf("?");
  if (queryStart < 0) return pathAndQuery;
  const pairs = pathAndQuery.slice(queryStart + 1).split("&");
  const shown = pairs.map((pair) => {
    const equals = pair.indexOf("=");
    if (equals < 0) return pair;
    const name = pair.slice(0, equals);
    return secretParameters.has(decodeComponent(name).toLowerCase()) ? `${name}=${mask}` : pair;
  });
  return `${pathAndQuery.slice(0, queryStart)}?${shown.join("&")}`;
}

/** Free text (a message of another program) as it may be logged: anything in the form of one of our keys is masked. */
export function redactKeys(text: string): string {
  return text.replace(/sk_(live|dev)_[0-9A-Za-z]{4,}(_[0-9A-Za-z]+)?/g, `sk_$1_${mask}`);
}
