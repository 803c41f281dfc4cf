import type { ZodOpenApiOperationObject, ZodOpenApiPathsObject, ZodOpenApiResponseObject } from "zod-openapi";
import type { ErrorCode } from "./errors.ts";
import * as schemas from "./schemas/index.ts";

type Schema = typeof schemas.usageReport | typeof schemas.problemDetails;
interface Route {
  readonly summary: string;
  readonly status?: number;
  readonly query?: ZodOpenApiOperationObject["requestParams"];
  readonly body?: unknown;
  readonly answer?: unknown;
}

/** Usage and administration, made into OpenAPI paths with the failures that all of them share. */
export function administrationPaths(
  problems: (...codes: ErrorCode[]) => Record<string, ZodOpenApiResponseObject>,
): ZodOpenApiPathsObject {
  const json = (schema: unknown) => ({ "application/json": { schema: schema as Schema } });
  const operation = ({ summary, status = 200, query, body, answer }: Route): ZodOpenApiOperationObject => ({
    tags: ["Administration"],
    summary,
    security: [{ apiKeyHeader: [] }, { bearer: [] }, { apiKeyQuery: [] }],
    ...(query === undefined ? {} : { requestParams: query }),
    ...(body === undefined ? {} : { requestBody: { required: true, content: json(body) } }),
    responses: {
      [`${status}` as "200"]: { description: summary, ...(answer === undefined ? {} : { content: json(answer) }) },
      ...problems("INVALID_INPUT", "INVALID_API_KEY", "KEY_INACTIVE", "PERMISSION_DENIED", "IP_NOT_ALLOWED"),
      ...problems("NOT_FOUND", "CONFLICT", "RATE_LIMIT_EXCEEDED", "OVERLOADED", "INTERNAL_ERROR"),
    },
  });
  const page = { query: schemas.pageQuery };
  const { accountRecord, keyRecord, upstreamRecord, pageOf } = schemas;
  const list = (summary: string, item: Parameters<typeof pageOf>[0]) =>
    operation({ summary, query: page, answer: pageOf(item) });
  const order = (summary: string) => ({ post: operation({ summary, answer: upstreamRecord }) });
  const root = "/api/v1/admin";
  const node = `${root}/upstreams/{network}/{label}`;
  return {
    "/api/v1/usage": {
      get: operation({
        summary: "What an account used",
        query: { query: schemas.usageQuery },
        answer: schemas.usageReport,
      }),
    },
    "/api/v1/sent-transactions": {
      get: operation({
        summary: "What became of what a key sent",
        query: { query: schemas.sentTransactionsQuery },
        answer: pageOf(schemas.sentTransaction),
      }),
    },
    [`${root}/accounts`]: {
      get: list("Owner accounts", accountRecord),
      post: operation({
        summary: "A new account",
        status: 201,
        body: schemas.adminAccountCreate,
        answer: accountRecord,
      }),
    },
    [`${root}/accounts/{id}`]: {
      get: operation({ summary: "An account", answer: accountRecord }),
      patch: operation({ summary: "The changed account", body: schemas.accountChange, answer: accountRecord }),
    },
    [`${root}/keys`]: {
      get: list("Keys", keyRecord),
      post: operation({
        summary: "A new key, shown once",
        status: 201,
        body: schemas.adminKeyCreate,
        answer: schemas.keyCreated,
      }),
    },
    [`${root}/keys/{id}`]: {
      get: operation({ summary: "A key", answer: keyRecord }),
      patch: operation({ summary: "The changed key", body: schemas.keyChange, answer: keyRecord }),
      delete: operation({ summary: "The key is deleted", status: 204 }),
    },
    [`${root}/keys/{id}/rotate`]: {
      post: operation({
        summary: "The new key, shown once",
        status: 201,
        body: schemas.keyRotate,
        answer: schemas.keyRotated,
      }),
    },
    [`${root}/audit`]: { get: list("The trail of changes, newest first", schemas.auditEntry) },
    [`${root}/upstreams`]: {
      get: operation({ summary: "Nodes and how they are", answer: schemas.upstreamList }),
      post: operation({
        summary: "A node of this process",
        status: 201,
        body: schemas.upstreamCreate,
        answer: upstreamRecord,
      }),
    },
    [node]: { delete: operation({ summary: "The node is removed from this process", status: 204 }) },
    [`${node}/cordon`]: order("The node, which gets no calls"),
    [`${node}/uncordon`]: order("The node, which gets calls again"),
    [`${node}/drain`]: order("The node, which is on its way out"),
    [`${root}/reload`]: {
      post: operation({ summary: "What changed in the configuration", answer: schemas.reloadOutcome }),
    },
  };
}
