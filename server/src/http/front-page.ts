import { errorDocsPage } from "@sluice/contract/errors";
import { docsRedirect, type GatewayPlace, gatewayUrl } from "./docs-redirect.ts";
import { type PortProbes, probeResponse } from "./probes.ts";
import { pathOf, targetOf } from "./request-head.ts";

/** What an endpoint says of itself to who opens its address. */
export interface FrontPage {
  /** Such as "block engine". */
  readonly title: string;
  readonly version: string;
  readonly gateway: GatewayPlace;
  readonly probes: PortProbes;
}

const plainText = { "Content-Type": "text/plain; charset=utf-8", "X-Content-Type-Options": "nosniff" } as const;
const dayInSeconds = 86_400;

/** What browsers and crawlers ask of any address: there is no icon, and nothing to index. Null for other paths. */
export function crawlerPage(method: string, path: string): Response | null {
  if (method !== "GET" && method !== "HEAD") return null;
  const headers = { ...plainText, "Cache-Control": `public, max-age=${dayInSeconds}` };
  if (path === "/favicon.ico") return new Response(null, { status: 204, headers });
  if (path !== "/robots.txt") return null;
  return new Response(method === "HEAD" ? null : "User-agent: *\nDisallow: /\n", { headers });
}

/** The pages of an endpoint beside its application's paths; null for any other request. */
export function frontPage(request: Request, page: FrontPage, requestId: string): Response | null {
  const { method } = request;
  const target = targetOf(request.url);
  const probed = probeResponse({ method, target }, { ...page.probes, docsBase: page.gateway.url }, requestId);
  if (probed !== null) return probed;
  if (method !== "GET" && method !== "HEAD") return null;
  const path = pathOf(target);
  const headers = { ...plainText, "Cache-Control": "no-store", "X-Request-Id": requestId };
  if (path !== "/") {
    const other = crawlerPage(method, path) ?? docsRedirect(request, page.gateway);
    other?.headers.set("X-Request-Id", requestId);
    return other;
  }
  const gateway = gatewayUrl(request, page.gateway);
  const text = `Sluice ${page.version}, ${page.title}. Console: ${gateway.href} Error codes: ${new URL(errorDocsPage, gateway).href}\n`;
  return new Response(method === "HEAD" ? null : text, { headers });
}
