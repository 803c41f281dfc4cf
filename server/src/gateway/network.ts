import { type Network, networks } from "@sluice/contract/tiers";
import { type HeaderReader, queryParameter } from "../http/index.ts";

const byName: ReadonlyMap<string, Network> = new Map(networks.map((network) => [network, network]));

/** True for the paths that JSON-RPC and PubSub are served on; a slash at the end of one changes nothing. */
export function isRpcPath(path: string): boolean {
  if (path === "/rpc" || path === "/" || path === "") return true;
  const end = path.indexOf("/", 5);
  return path.startsWith("/rpc/") && (end < 0 || end === path.length - 1);
}

/**
 * The network that a request asks for by X-Network, query `network` or path /rpc/<network>, in this order; null for a
 * name that is no network; `fallback` when it names none.
 */
export function chooseNetwork(
  request: { readonly headers: HeaderReader; readonly target: string },
  path: string,
  fallback: Network,
): Network | null {
  const header = request.headers.get("x-network");
  if (header !== null) return byName.get(header) ?? null;
  const { target } = request;
  if (target.includes("?")) {
    const query = queryParameter(target, "network");
    if (query !== null) return byName.get(query) ?? null;
  }
  if (!path.startsWith("/rpc/") || path.length === 5) return fallback;
  return byName.get(path.slice(5, path.endsWith("/") ? -1 : undefined)) ?? null;
}

/** True for the path itself and for those under it; "/" takes all. */
export function isBeneath(path: string, prefix: string): boolean {
  if (prefix === "/") return true;
  return path.startsWith(prefix) && (path.length === prefix.length || path[prefix.length] === "/");
}
