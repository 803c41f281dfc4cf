import { isHost } from "../../http/index.ts";

/**
 * A request with an absolute URL; null when its Host field names no host. The runtime refuses HTTP/1.1 without the
 * field and lets any content of it through; without a host, as HTTP/1.0 allows, the URL that it gives is a path.
 */
export function withHost(request: Request): Request | null {
  const host = request.headers.get("host");
  if (!isHost(host)) return null;
  return host === null || host === "" ? new Request(`http://localhost${request.url}`, request) : request;
}
