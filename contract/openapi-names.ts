/** The endpoints that have an OpenAPI description of their own, the gateway first. */
export const openApiNames = ["gateway", "engine", "oracle", "resolver"] as const;
export type OpenApiName = (typeof openApiNames)[number];

/** Where the description of an endpoint is, on the gateway's port. */
export const openApiLocation = (name: OpenApiName): string =>
  name === "gateway" ? "/openapi.json" : `/openapi/${name}.json`;

/** The page that is made of the descriptions, on the gateway's port. */
export const apiDocsPage = "/docs";
