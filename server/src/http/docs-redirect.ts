import { errorDocsPage } from "@sluice/contract/errors";
import { pathOf, targetOf } from "./request-head.ts";

/**
 * The page that explains codes stands on the gateway's port alone, and problems of other endpoints name it by a path: a
 * client that follows that path at such an endpoint is redirected, to the gateway of the host that was asked; clients
 * keep the code's fragment. Null for any other request.
 */
export function docsRedirect(request: Request, gatewayPort: number): Response | null {
  if (request.method !== "GET" && request.method !== "HEAD") return null;
  if (pathOf(targetOf(request.url)) !== errorDocsPage) return null;
  const url = new URL(request.url);
  const location = new URL(errorDocsPage, url);
  location.port = String(gatewayPort);
  return new Response(null, { status: 307, headers: { Location: location.href, "Cache-Control": "no-store" } });
}
