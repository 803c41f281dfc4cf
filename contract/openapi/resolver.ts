import type { ZodOpenApiOperationObject, ZodOpenApiPathsObject, ZodOpenApiResponseObject } from "zod-openapi";

/** The name resolver, which listens on a port of its own, takes no key and answers any web page. */

const text = { type: "string" } as const;
const refusal = (description: string): ZodOpenApiResponseObject => ({
  description,
  headers: { "X-Request-Id": { description: "Names this request in the server's log", schema: text } },
  content: {
    "application/json": {
      schema: { type: "object", properties: { error: text, input: text }, required: ["error"] },
    },
  },
});
const tag = ["Names"];
const unavailable = (kind: string) => ({
  description: `unavailable: the chain has no program for ${kind}`,
  schema: text,
});

const resolve: ZodOpenApiOperationObject = {
  operationId: "resolveName",
  tags: tag,
  summary: "The owner of a handle or of a domain",
  description: "Check `namespace` together with `owner`: one label may have different owners in different namespaces.",
  security: [],
  responses: {
    "200": {
      description: "The owner, as the chain has it",
      headers: {
        "X-Owner-Warning": { description: "not-a-wallet: no key for the owner can exist", schema: text },
      },
      content: {
        "application/json": {
          schema: {
            type: "object",
            properties: {
              input: { ...text, description: "As it was asked for, decoded once" },
              name: { ...text, description: "The canonical name" },
              namespace: { type: "string", enum: ["handle", "x1", "xnt", "xen"] },
              owner: { ...text, description: "An address in base58" },
              verification: { type: "string", const: "owner" },
              owner_on_curve: { type: "boolean", const: false, description: "Only where no key for the owner exists" },
            },
            required: ["input", "name", "namespace", "owner", "verification"],
          },
        },
      },
    },
    "400": refusal("invalid handle, invalid domain"),
    "404": {
      ...refusal("handle not registered, domain not registered"),
      headers: { "X-Handles": unavailable("handles"), "X-Domains": unavailable("domains") },
    },
    "405": refusal("method not allowed"),
    "409": refusal("ambiguous: both a handle and a domain shape"),
    "502": refusal("rpc unreachable, malformed account. It does not mean that the name is free"),
  },
};

const version: ZodOpenApiOperationObject = {
  operationId: "resolverVersion",
  tags: tag,
  summary: "The node that is read",
  security: [],
  responses: {
    "200": {
      description: "Its version, and its address without user, query and long path segments",
      content: {
        "application/json": {
          schema: { type: "object", properties: { chain_core: text, rpc: text }, required: ["chain_core", "rpc"] },
        },
      },
    },
    "405": refusal("method not allowed"),
    "502": refusal("rpc unreachable"),
  },
};

const health: ZodOpenApiOperationObject = {
  operationId: "resolverHealth",
  tags: tag,
  summary: "Whether the resolver answers; without a call to the chain",
  security: [],
  responses: {
    "200": {
      description: "It does",
      content: {
        "application/json": {
          schema: { type: "object", properties: { ok: { type: "boolean", const: true } }, required: ["ok"] },
        },
      },
    },
    "405": refusal("method not allowed"),
  },
};

/** The paths of the resolver's endpoint. */
export function resolverPaths(): ZodOpenApiPathsObject {
  return { "/resolve/{name}": { get: resolve }, "/version": { get: version }, "/health": { get: health } };
}
