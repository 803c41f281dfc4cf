import type { ZodOpenApiOperationObject, ZodOpenApiPathsObject, ZodOpenApiResponseObject } from "zod-openapi";
import { serviceCredits } from "../credits.ts";
import type { ErrorCode } from "../errors.ts";
import * as schemas from "../schemas/index.ts";
import { networks } from "../tiers.ts";

type Problems = (...codes: ErrorCode[]) => Record<string, ZodOpenApiResponseObject>;
type Schema = typeof schemas.historyBlock | typeof schemas.historySearchBody;

interface Route {
  /** The name of the function that generated clients call. */
  readonly operationId: string;
  readonly summary: string;
  readonly credits: number;
  readonly query?: ZodOpenApiOperationObject["requestParams"];
  readonly body?: unknown;
  readonly answer: unknown;
  /** The code where the one thing that it names is not there. */
  readonly absent?: ErrorCode;
}

const answerHeaders = {
  "X-Request-Id": { description: "Names this request", schema: { type: "string" as const } },
  "X-Data-Since": {
    description: "The moment from which the caller sees the history, where the range begins before it",
    schema: { type: "string" as const, format: "date-time" },
  },
};

/** Makes operations of routes, with the failures that all of them share. */
function operations(problems: Problems) {
  const json = (schema: unknown) => ({ "application/json": { schema: schema as Schema } });
  return ({ operationId, summary, credits, query, body, answer, absent }: Route): ZodOpenApiOperationObject => ({
    operationId,
    tags: ["History"],
    summary,
    description: `${credits} credits. Free keys see the last three days.`,
    security: [{ apiKeyHeader: [] }, { bearer: [] }, { apiKeyQuery: [] }],
    parameters: [{ name: "X-Network", in: "header", schema: { type: "string", enum: [...networks] } }],
    ...(query === undefined ? {} : { requestParams: query }),
    ...(body === undefined ? {} : { requestBody: { required: true, content: json(body) } }),
    responses: {
      "200": { description: summary, headers: answerHeaders, content: json(answer) },
      ...problems(
        "INVALID_INPUT",
        ...(body === undefined ? [] : (["PARSE_ERROR", "BODY_TOO_LARGE", "UNSUPPORTED_MEDIA_TYPE"] as const)),
        "INVALID_API_KEY",
        "KEY_INACTIVE",
        "INSUFFICIENT_CREDITS",
        "NETWORK_NOT_ALLOWED",
        "DOMAIN_NOT_ALLOWED",
        "IP_NOT_ALLOWED",
        "PERMISSION_DENIED",
        "TIER_REQUIRED",
        ...(absent === undefined ? [] : [absent]),
        "RATE_LIMIT_EXCEEDED",
        "STORE_UNAVAILABLE",
        "OVERLOADED",
        "INTERNAL_ERROR",
      ),
    },
  });
}

const root = "/api/v1/history";

/** Look-ups, lists and the search of indexed history as OpenAPI paths. */
export function historyPaths(problems: Problems): ZodOpenApiPathsObject {
  const operation = operations(problems);
  const { historyLookup, historyList, historySearch } = serviceCredits;
  return {
    [`${root}/transactions/{signature}`]: {
      get: operation({
        operationId: "historyTransaction",
        summary: "A transaction, by its signature",
        credits: historyLookup,
        query: { query: schemas.historyTransactionQuery },
        answer: schemas.historyTransactionAnswer,
        absent: "TRANSACTION_NOT_FOUND",
      }),
    },
    [`${root}/blocks/{slot}`]: {
      get: operation({
        operationId: "historyBlock",
        summary: "A block, by its slot",
        credits: historyLookup,
        query: { query: schemas.historyBlockQuery },
        answer: schemas.historyBlock,
        absent: "BLOCK_NOT_FOUND",
      }),
    },
    [`${root}/transactions`]: {
      get: operation({
        operationId: "historyTransactions",
        summary: "Transactions of an account, of a program, or of a range of slots or time",
        credits: historyList,
        query: { query: schemas.historyTransactionsQuery },
        answer: schemas.historyTransactionPage,
      }),
    },
    [`${root}/blocks`]: {
      get: operation({
        operationId: "historyBlocks",
        summary: "Blocks of a range of slots or time, or those with transactions of an account or program",
        credits: historyList,
        query: { query: schemas.historyBlocksQuery },
        answer: schemas.historyBlockPage,
      }),
    },
    [`${root}/search`]: {
      post: operation({
        operationId: "historySearch",
        summary: "Transactions for which several conditions hold",
        credits: historySearch,
        body: schemas.historySearchBody,
        answer: schemas.historyTransactionPage,
      }),
    },
  };
}
