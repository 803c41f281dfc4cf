import { apiDocsPage, type OpenApiName, openApiLocation, openApiNames } from "@sluice/contract/openapi-names";

const contentSecurityPolicy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'";
/** Descriptions change with a release alone. */
const cacheControl = "public, max-age=300";

export interface ApiDocsOptions {
  /** Where clients reach each endpoint; null leaves its description relative to the address that it is read from. */
  readonly servers: Readonly<Record<OpenApiName, string | null>>;
}

/**
 * The OpenAPI descriptions and the page that is made of them. What writes them is loaded at the first request: a
 * quarter of a second of work that most processes never need.
 */
export class ApiDocs {
  readonly #texts = new Map<string, Promise<string>>();
  readonly #servers: ApiDocsOptions["servers"];

  constructor({ servers }: ApiDocsOptions) {
    this.#servers = servers;
  }

  /** The gateway's answer: the page, or the description of any endpoint. Null for every other path. */
  answer(request: Request): Response | Promise<Response> | null {
    const path = new URL(request.url).pathname;
    const name = openApiNames.find((each) => openApiLocation(each) === path);
    if (name === undefined && path !== apiDocsPage) return null;
    if (!isReading(request)) return new Response(null, { status: 405, headers: { Allow: "GET, HEAD" } });
    return name === undefined ? this.#page(request) : this.#description(name, request);
  }

  /** The answer of an endpoint's own `/openapi.json`. Null for every other request, without parsing its address. */
  own(name: OpenApiName, request: Request): Promise<Response> | null {
    if (!request.url.includes("/openapi.json") || !isReading(request)) return null;
    return new URL(request.url).pathname === "/openapi.json" ? this.#description(name, request) : null;
  }

  async #page(request: Request): Promise<Response> {
    const text = await this.#written(apiDocsPage, async () => {
      const { renderApiPage } = await import("@sluice/contract/openapi-page");
      return renderApiPage(this.#servers);
    });
    const headers = { "Content-Type": "text/html; charset=utf-8", "Content-Security-Policy": contentSecurityPolicy };
    return answerOf(request, text, headers);
  }

  async #description(name: OpenApiName, request: Request): Promise<Response> {
    const text = await this.#written(name, async () => {
      const { createOpenApi } = await import("@sluice/contract/openapi");
      return `${JSON.stringify(createOpenApi(name, this.#servers[name]))}\n`;
    });
    // Public, so that a generator or a viewer of another origin may read it.
    return answerOf(request, text, { "Content-Type": "application/json", "Access-Control-Allow-Origin": "*" });
  }

  #written(name: string, write: () => Promise<string>): Promise<string> {
    const text = this.#texts.get(name) ?? write();
    this.#texts.set(name, text);
    return text;
  }
}

const isReading = ({ method }: Request): boolean => method === "GET" || method === "HEAD";

function answerOf({ method }: Request, text: string, headers: Record<string, string>): Response {
  return new Response(method === "HEAD" ? null : text, {
    headers: { ...headers, "Cache-Control": cacheControl, "X-Content-Type-Options": "nosniff" },
  });
}
