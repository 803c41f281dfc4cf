import type { ZodOpenApiOperationObject, ZodOpenApiPathsObject, ZodOpenApiResponseObject } from "zod-openapi";
import type { ErrorCode } from "../errors.ts";
import * as schemas from "../schemas/index.ts";
import { networks } from "../tiers.ts";
import type { KeyedPathsOptions } from "./keyed-paths.ts";

/** SQL over the ledger, on the gateway's port. */

type Problems = (...codes: ErrorCode[]) => Record<`${4 | 5}${string}`, ZodOpenApiResponseObject>;

const text = (description: string) => ({ description, schema: { type: "string" as const } });
const requestIdHeader = { "X-Request-Id": text("Names this request") };
const key = [{ apiKeyHeader: [] }, { bearer: [] }, { apiKeyQuery: [] }];
const network = { type: "string" as const, enum: [...networks] };
const ofNetwork: NonNullable<ZodOpenApiOperationObject["parameters"]> = [
  { name: "X-Network", in: "header", schema: network },
  { name: "network", in: "query", schema: network },
];

const admission = [
  "INVALID_API_KEY",
  "KEY_INACTIVE",
  "NETWORK_NOT_ALLOWED",
  "DOMAIN_NOT_ALLOWED",
  "IP_NOT_ALLOWED",
  "PERMISSION_DENIED",
  "RATE_LIMIT_EXCEEDED",
  "OVERLOADED",
  "STORE_UNAVAILABLE",
  "INTERNAL_ERROR",
] as const;
const body = ["INVALID_INPUT", "PARSE_ERROR", "BODY_TOO_LARGE", "UNSUPPORTED_MEDIA_TYPE", "TIER_REQUIRED"] as const;

const figureHeaders = {
  ...requestIdHeader,
  "X-Sql-Rows-Read": text("Rows that the query has read"),
  "X-Sql-Bytes-Read": text("Bytes that it has read, uncompressed"),
  "X-Sql-Elapsed-Ms": text("Milliseconds that it took"),
  "X-Credits-Charged": text("What it cost"),
};

const run = (problems: Problems, { operation, tag, security }: KeyedPathsOptions): ZodOpenApiOperationObject => ({
  operationId: operation("runSql"),
  tags: [tag],
  summary: "Run a query of SQL",
  description:
    "One SELECT over the views of the schema. The tier Business and those above have SQL. A query costs 50 credits, and " +
    "1 more for each started 100 MB that it reads; one that is refused costs nothing. Closing the connection stops it.",
  ...(security === undefined ? {} : { security }),
  parameters: ofNetwork,
  requestBody: { required: true, content: { "application/json": { schema: schemas.sqlQuery } } },
  responses: {
    "200": {
      description: "The result, in the form that was asked for",
      headers: figureHeaders,
      content: {
        "application/json": { schema: schemas.sqlResult },
        "text/csv": { schema: { type: "string" as const } },
        "application/vnd.apache.arrow.stream": { schema: { type: "string" as const, format: "binary" } },
      },
    },
    ...problems(
      ...admission,
      ...body,
      "INSUFFICIENT_CREDITS",
      "SQL_SYNTAX",
      "SQL_NOT_ALLOWED",
      "SQL_INVALID",
      "SQL_TIMEOUT",
      "SQL_READ_LIMIT",
      "SQL_MEMORY_LIMIT",
      "SQL_ROWS_LIMIT",
      "SQL_RESULT_LIMIT",
      "SQL_ACCOUNT_BUSY",
      "SQL_BUSY",
    ),
  },
});

type Answer = typeof schemas.sqlSchema | typeof schemas.savedQueries | typeof schemas.savedQuery;
type Body = typeof schemas.savedQueryCreate | typeof schemas.savedQueryUpdate;

interface Route {
  readonly name: string;
  readonly summary: string;
  readonly answer?: Answer;
  readonly body?: Body;
  readonly status?: 200 | 201 | 204;
  readonly codes?: readonly ErrorCode[];
}

/** The paths of SQL under `root`. */
export function sqlPaths(problems: Problems, options: KeyedPathsOptions): ZodOpenApiPathsObject {
  const { root, operation, tag, security } = options;
  const route = ({
    name,
    summary,
    answer,
    body: sent,
    status = 200,
    codes = [],
  }: Route): ZodOpenApiOperationObject => ({
    operationId: operation(name),
    tags: [tag],
    summary,
    ...(security === undefined ? {} : { security }),
    ...(sent === undefined
      ? {}
      : { requestBody: { required: true, content: { "application/json": { schema: sent } } } }),
    responses: {
      [`${status}` as "200"]: {
        description: summary,
        headers: requestIdHeader,
        ...(answer === undefined ? {} : { content: { "application/json": { schema: answer } } }),
      },
      ...problems(...admission, ...codes),
    },
  });
  const { sqlSchema, savedQuery, savedQueries, savedQueryCreate, savedQueryUpdate } = schemas;
  return {
    [root]: { post: run(problems, options) },
    [`${root}/schema`]: {
      get: route({ name: "readSqlSchema", summary: "What SQL may read and call", answer: sqlSchema }),
    },
    [`${root}/queries`]: {
      get: route({ name: "listSavedQueries", summary: "The queries that the account keeps", answer: savedQueries }),
      post: route({
        name: "createSavedQuery",
        summary: "Keep a query under a name",
        body: savedQueryCreate,
        answer: savedQuery,
        status: 201,
        codes: [...body, "CONFLICT"],
      }),
    },
    [`${root}/queries/{id}`]: {
      get: route({
        name: "readSavedQuery",
        summary: "A query that the account keeps",
        answer: savedQuery,
        codes: ["NOT_FOUND"],
      }),
      patch: route({
        name: "updateSavedQuery",
        summary: "Change a query that the account keeps",
        body: savedQueryUpdate,
        answer: savedQuery,
        codes: [...body, "CONFLICT", "NOT_FOUND"],
      }),
      delete: route({
        name: "deleteSavedQuery",
        summary: "Delete a query that the account keeps",
        status: 204,
        codes: ["NOT_FOUND"],
      }),
    },
  };
}

/** SQL by API key. */
export const sqlByKey: KeyedPathsOptions = {
  root: "/api/v1/sql",
  operation: (name) => name,
  tag: "SQL",
  security: key,
};
