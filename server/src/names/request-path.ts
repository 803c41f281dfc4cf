/** What a request's path asks for. */
export type Route =
  | { readonly kind: "health" }
  | { readonly kind: "version" }
  | { readonly kind: "resolve"; readonly input: string }
  /** The segment cannot be decoded; it is given as it came. */
  | { readonly kind: "undecodable"; readonly segment: string }
  | { readonly kind: "unknown" };

const resolvePrefix = "/resolve/";

/**
 * Reads the path of a request's URL. The name is one segment, decoded once: a slash, an empty name or a slash behind it
 * is another route. Dot segments are gone before this point, since the server's URL parser resolves them as clients' do;
 * an encoded slash is part of the name.
 */
export function readRoute(url: string): Route {
  const authority = url.indexOf("//");
  const start = authority < 0 ? 0 : url.indexOf("/", authority + 2);
  if (start < 0) return { kind: "unknown" };
  const end = url.slice(start).search(/[?#]/);
  const path = end < 0 ? url.slice(start) : url.slice(start, start + end);
  if (path === "/health") return { kind: "health" };
  if (path === "/version") return { kind: "version" };
  if (!path.startsWith(resolvePrefix)) return { kind: "unknown" };
  const segment = path.slice(resolvePrefix.length);
  if (segment === "" || segment.includes("/")) return { kind: "unknown" };
  try {
    return { kind: "resolve", input: decodeURIComponent(segment) };
  } catch {
    return { kind: "undecodable", segment };
  }
}
