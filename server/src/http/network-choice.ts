import { SluiceError } from "@sluice/contract/errors";
import { type Network, networks } from "@sluice/contract/tiers";
import { type HeaderReader, queryParameter } from "./request-head.ts";

/** The networks by the names that callers give them, in lower case; Solana's own tools say `mainnet-beta`. */
const networkByName: ReadonlyMap<string, Network> = new Map([
  ...networks.map((network) => [network, network] as const),
  ["mainnet-beta", "mainnet"],
]);

/**
 * The network that a request names by X-Network, query `network` or path /rpc/<network>, in this order and in any
 * letter case; null where it names none, `unknown` for a name that is no network.
 */
export function networkNamed(
  head: { readonly headers: HeaderReader; readonly target: string },
  path: string,
): Network | "unknown" | null {
  const name = nameIn(head, path);
  if (name === null) return null;
  return networkByName.get(name) ?? networkByName.get(name.toLowerCase()) ?? "unknown";
}

function nameIn(
  { headers, target }: { readonly headers: HeaderReader; readonly target: string },
  path: string,
): string | null {
  const header = headers.get("x-network");
  if (header !== null) return header;
  if (target.includes("?")) {
    const query = queryParameter(target, "network");
    if (query !== null) return query;
  }
  if (!path.startsWith("/rpc/") || path.length === 5) return null;
  return path.slice(5, path.endsWith("/") ? -1 : undefined);
}

/** The network that a REST request names by header or query, null without one. @throws {SluiceError} INVALID_INPUT */
export function networkAsked({ headers, url }: Pick<Request, "headers" | "url">): Network | null {
  const named = networkNamed({ headers, target: url }, "");
  if (named !== "unknown") return named;
  const message = `must be one of ${networks.join(", ")}`;
  throw new SluiceError("INVALID_INPUT", {
    message: `network ${message}`,
    details: { errors: [{ path: "network", message }] },
  });
}
