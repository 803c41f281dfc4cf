import type { ZodOpenApiOperationObject, ZodOpenApiPathsObject, ZodOpenApiResponseObject } from "zod-openapi";
import type { ErrorCode } from "../errors.ts";
import * as schemas from "../schemas/index.ts";

type Schema = typeof schemas.usageReport | typeof schemas.problemDetails;
interface Route {
  readonly summary: string;
  readonly status?: number;
  readonly query?: ZodOpenApiOperationObject["requestParams"];
  readonly body?: unknown;
  readonly answer?: unknown;
}

type Problems = (...codes: ErrorCode[]) => Record<string, ZodOpenApiResponseObject>;

/** Makes operations of routes, with the failures that all of them share. */
function operations(problems: Problems) {
  const json = (schema: unknown) => ({ "application/json": { schema: schema as Schema } });
  return ({ summary, status = 200, query, body, answer }: Route): ZodOpenApiOperationObject => ({
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
}

const { accountRecord, keyRecord, upstreamRecord, pageOf } = schemas;
const root = "/api/v1/admin";
const page = { query: schemas.pageQuery };

/** Usage and administration as OpenAPI paths. */
export function administrationPaths(problems: Problems): ZodOpenApiPathsObject {
  const operation = operations(problems);
  return { ...ownersPaths(operation), ...operatorsPaths(operation), ...engineAdministration(operation) };
}

type Operation = ReturnType<typeof operations>;

function ownersPaths(operation: Operation): ZodOpenApiPathsObject {
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
      get: operation({ summary: "Owner accounts", query: page, answer: pageOf(accountRecord) }),
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
      get: operation({ summary: "Keys", query: page, answer: pageOf(keyRecord) }),
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
  };
}

function operatorsPaths(operation: Operation): ZodOpenApiPathsObject {
  const order = (summary: string) => ({ post: operation({ summary, answer: upstreamRecord }) });
  const node = `${root}/upstreams/{network}/{label}`;
  return {
    [`${root}/audit`]: {
      get: operation({
        summary: "The trail of changes, newest first",
        query: page,
        answer: pageOf(schemas.auditEntry),
      }),
    },
    [`${root}/upstreams`]: {
      get: operation({ summary: "Nodes and how they are", answer: schemas.upstreamList }),
      post: operation({
        summary: "A node that every gateway of this state has from now on",
        status: 201,
        body: schemas.upstreamCreate,
        answer: upstreamRecord,
      }),
    },
    [node]: {
      delete: operation({
        summary: "The node is removed: everywhere when it was added, else from this process and drained elsewhere",
        status: 204,
      }),
    },
    [`${node}/cordon`]: order("The node, which gets no calls"),
    [`${node}/uncordon`]: order("The node, which gets calls again"),
    [`${node}/drain`]: order("The node, which is on its way out"),
    [`${root}/reload`]: {
      post: operation({ summary: "What changed in the configuration", answer: schemas.reloadOutcome }),
    },
  };
}

function engineAdministration(operation: Operation): ZodOpenApiPathsObject {
  const { engineAdmin, searcherLink, searcherLimit } = schemas;
  const turn = (summary: string) => ({
    put: operation({ summary, body: schemas.engineSwitchChange, answer: engineAdmin }),
  });
  return {
    [`${root}/engine`]: {
      get: operation({ summary: "The block engine's switches, and what it does", answer: engineAdmin }),
    },
    [`${root}/engine/maintenance`]: turn("Submissions are refused or taken again"),
    [`${root}/engine/halted`]: turn("Bundles are handed to leaders no more, or again"),
    [`${root}/searchers`]: {
      get: operation({ summary: "Public keys that count for accounts", query: page, answer: pageOf(searcherLink) }),
      post: operation({
        summary: "The linked key",
        status: 201,
        body: schemas.searcherLinkCreate,
        answer: searcherLink,
      }),
    },
    [`${root}/searchers/{pubkey}`]: { delete: operation({ summary: "The key stands for itself again", status: 204 }) },
    [`${root}/searchers/limits`]: {
      get: operation({ summary: "Limits in place of a tier's", query: page, answer: pageOf(searcherLimit) }),
    },
    [`${root}/searchers/limits/{searcher}`]: {
      put: operation({ summary: "The limit that was set", body: schemas.searcherLimitChange, answer: searcherLimit }),
      delete: operation({ summary: "The tier's limit holds again", status: 204 }),
    },
  };
}
