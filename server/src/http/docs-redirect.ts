import { errorDocsPage } from "@sluice/contract/errors";
import { pathOf, targetOf } from "./request-head.ts";

/** Where the gateway is, which has the console and the page that explains codes. */
export interface GatewayPlace {
  /** On the host that was asked, where nothing else is known. */
  readonly port: number;
  /** As the operator names it, without a trailing slash; null leaves it to `port`. */
  readonly url: string | null;
}

/** The gateway's first page, as the sender of this request can open it. */
export function gatewayUrl(request: Request, gateway: GatewayPlace): URL {
  if (gateway.url !== null) return new URL("/", gateway.url);
  const url = new URL("/", request.url);
  url.port = String(gateway.port);
  return url;
}

/**
 * The page that explains codes stands on the gateway's port alone, and problems of other endpoints name it by a path
 * unless the operator named the gateway: a client that follows that path at such an endpoint is redirected to the
 * gateway; clients keep the code's fragment. Null for any other request.
 */
export function docsRedirect(request: Request, gateway: GatewayPlace): Response | null {
  if (request.method !== "GET" && request.method !== "HEAD") return null;
  if (pathOf(targetOf(request.url)) !== errorDocsPage) return null;
  const { href } = new URL(errorDocsPage, gatewayUrl(request, gateway));
  return new Response(null, { status: 307, headers: { Location: href, "Cache-Control": "no-store" } });
}
