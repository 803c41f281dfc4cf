import { type EgressUrl, readEgressUrl } from "../../net/index.ts";

/** Where documents may be fetched. */
export interface LocationOptions {
  /** What stands before `<cid>/<path>` and before a transaction's id; URLs of the operator's choice. */
  readonly ipfsGateway: string;
  readonly arweaveGateway: string;
  readonly allowHttp: boolean;
}

/** Where a document is. `gateway` is reached at any address, since the operator has named it. */
export type DocumentLocation =
  | { readonly kind: "bytes"; readonly bytes: Uint8Array }
  | { readonly kind: "public" | "gateway"; readonly url: EgressUrl; readonly text: string };

/** Longer URIs are of no document that anybody reads. */
const uriLengthMax = 64 * 1024;

/**
 * Where a URI of the chain leads: a document inside of it, a public address, or one behind a gateway (`ipfs://`,
 * `ar://`). Anybody may write such a URI, so that it is read by the rules for addresses of strangers.
 *
 * @returns null for what leads nowhere
 */
export function locate(uri: string, options: LocationOptions): DocumentLocation | null {
  if (uri.length > uriLengthMax) return null;
  const scheme = /^([a-z]+):/i.exec(uri)?.[1]?.toLowerCase();
  if (scheme === "data") return inside(uri);
  if (scheme === "ipfs") {
    const path = /^ipfs:\/\/(?:ipfs\/)?([A-Za-z0-9]{32,128}(?:\/[^?#]*)?)$/i.exec(uri)?.[1];
    return path === undefined ? null : behind(options.ipfsGateway, path);
  }
  if (scheme === "ar") {
    const path = /^ar:\/\/([A-Za-z0-9_-]{43}(?:\/[^?#]*)?)$/i.exec(uri)?.[1];
    return path === undefined ? null : behind(options.arweaveGateway, path);
  }
  const read = readEgressUrl(uri, options);
  return read.ok ? { kind: "public", url: read.url, text: uri } : null;
}

/**
 * `..` in what a stranger wrote must not lead out of the gateway's path. Servers differ in whether an encoded separator
 * is one, so that none is taken.
 */
function behind(gateway: string, path: string): DocumentLocation | null {
  if (/(?:^|\/)(?:\.|%2e){1,2}(?:\/|$)/i.test(path) || /\\|%2f|%5c/i.test(path)) return null;
  const text = `${gateway}${gateway.endsWith("/") ? "" : "/"}${path}`;
  const read = readEgressUrl(text, { allowHttp: true });
  return read.ok ? { kind: "gateway", url: read.url, text } : null;
}

/** RFC 2397, of any media type: whether it is a document shows when it is read. */
function inside(uri: string): DocumentLocation | null {
  const [, head = "", body = ""] = /^data:([^,]*),(.*)$/is.exec(uri) ?? [];
  if (body === "") return null;
  if (/;base64$/i.test(head)) return { kind: "bytes", bytes: Buffer.from(body, "base64") };
  try {
    return { kind: "bytes", bytes: Buffer.from(decodeURIComponent(body)) };
  } catch {
    return null;
  }
}
