import { type Network, networks } from "@sluice/contract";
import { queryParameter } from "../http/index.ts";

const byName: ReadonlyMap<string, Network> = new Map(networks.map((network) => [network, network]));

/** Where the path of an absolute URL begins; the runtime gives absolute URLs whatever the client wrote. */
export function pathStartOf(url: string): number {
  const start = url.indexOf("/", 8);
  return start < 0 ? url.length : start;
}

/** The path of an absolute URL without its query. */
export function pathOf(url: string): string {
  const start = pathStartOf(url);
  const query = url.indexOf("?", start);
  return query < 0 ? url.slice(start) : url.slice(start, query);
}

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
export function chooseNetwork(request: Request, path: string, fallback: Network): Network | null {
  const header = request.headers.get("x-network");
  if (header !== null) return byName.get(header) ?? null;
  const url = request.url;
  if (url.includes("?")) {
    const query = queryParameter(url, "network");
    if (query !== null) return byName.get(query) ?? null;
  }
  if (!path.startsWith("/rpc/") || path.length === 5) return fallback;
  return byName.get(path.slice(5, path.endsWith("/") ? -1 : undefined)) ?? null;
}
