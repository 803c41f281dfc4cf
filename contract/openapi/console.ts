import type { ZodOpenApiOperationObject, ZodOpenApiPathsObject, ZodOpenApiResponseObject } from "zod-openapi";
import type { ErrorCode } from "../errors.ts";
import * as schemas from "../schemas/index.ts";
import type { KeyedPathsOptions } from "./keyed-paths.ts";
import { sqlPaths } from "./sql.ts";
import { webhookPaths } from "./webhooks.ts";

/** The console's own REST, for people who are signed in at a browser. */

type Problems = (...codes: ErrorCode[]) => Record<`${4 | 5}${string}`, ZodOpenApiResponseObject>;

const text = (description: string) => ({ description, schema: { type: "string" as const } });
const requestIdHeader = { "X-Request-Id": text("Names this request in the server's log") };
const sessionCookie = [{ consoleSession: [] }];
/** The session's key, what it may do, and its rate. */
const refusals = [
  "INVALID_API_KEY",
  "NETWORK_NOT_ALLOWED",
  "DOMAIN_NOT_ALLOWED",
  "IP_NOT_ALLOWED",
  "PERMISSION_DENIED",
  "RATE_LIMIT_EXCEEDED",
] as const;

const overview = (problems: Problems): ZodOpenApiOperationObject => ({
  operationId: "consoleOverview",
  tags: ["Console"],
  summary: "What the console's first page shows",
  security: sessionCookie,
  responses: {
    "200": {
      description: "The present state",
      headers: requestIdHeader,
      content: { "application/json": { schema: schemas.consoleOverview } },
    },
    ...problems(...refusals, "METHOD_NOT_ALLOWED", "INTERNAL_ERROR"),
  },
});

const live = (problems: Problems): ZodOpenApiOperationObject => ({
  operationId: "consoleLive",
  tags: ["Console"],
  summary: "The same, about once a second, as server-sent events",
  description:
    "Each message's data is a ConsoleOverview as JSON. A reader that falls behind gets the present, no backlog.",
  security: sessionCookie,
  responses: {
    "200": {
      description: "A stream that lasts until the reader leaves",
      headers: requestIdHeader,
      content: { "text/event-stream": { schema: { type: "string" } } },
    },
    ...problems(...refusals, "METHOD_NOT_ALLOWED", "INTERNAL_ERROR"),
  },
});

const signIn = (problems: Problems): ZodOpenApiOperationObject => ({
  operationId: "consoleSignIn",
  tags: ["Console"],
  summary: "Sign in with an API key",
  description: "From the console's own origin only. Sets a cookie that scripts cannot read.",
  security: [],
  requestBody: { required: true, content: { "application/json": { schema: schemas.consoleSessionCreate } } },
  responses: {
    "200": {
      description: "Signed in",
      headers: { ...requestIdHeader, "Set-Cookie": text("The session") },
      content: { "application/json": { schema: schemas.consoleSession } },
    },
    ...problems(
      "INVALID_INPUT",
      ...refusals,
      "KEY_INACTIVE",
      "BODY_TOO_LARGE",
      "UNSUPPORTED_MEDIA_TYPE",
      "INTERNAL_ERROR",
    ),
  },
});

const signOut = (problems: Problems): ZodOpenApiOperationObject => ({
  operationId: "consoleSignOut",
  tags: ["Console"],
  summary: "Sign out",
  security: sessionCookie,
  responses: {
    "204": { description: "Signed out", headers: { ...requestIdHeader, "Set-Cookie": text("An expired session") } },
    ...problems("PERMISSION_DENIED", "INTERNAL_ERROR"),
  },
});

const events = (problems: Problems, operationId: string, summary: string): ZodOpenApiOperationObject => ({
  operationId,
  tags: ["Console"],
  summary,
  security: sessionCookie,
  responses: {
    "200": {
      description: "A stream that lasts until the reader leaves",
      headers: requestIdHeader,
      content: { "text/event-stream": { schema: { type: "string" } } },
    },
    ...problems("INVALID_API_KEY", "NOT_FOUND", "METHOD_NOT_ALLOWED", "INTERNAL_ERROR"),
  },
});

type Shown =
  | typeof schemas.consoleBundles
  | typeof schemas.consoleBundleStory
  | typeof schemas.consolePrices
  | typeof schemas.consolePool
  | typeof schemas.explanationRecord
  | typeof schemas.consoleName
  | typeof schemas.enhancedTransactionsAnswer
  | typeof schemas.tokenMetadataAnswer
  | typeof schemas.nftMetadataAnswer
  | typeof schemas.walletBalancesAnswer
  | typeof schemas.walletHistoryAnswer;

const shown = (
  problems: Problems,
  { operationId, summary, schema }: { operationId: string; summary: string; schema: Shown },
): ZodOpenApiOperationObject => ({
  operationId,
  tags: ["Console"],
  summary,
  security: sessionCookie,
  responses: {
    "200": { description: summary, headers: requestIdHeader, content: { "application/json": { schema } } },
    ...problems("INVALID_API_KEY", "NOT_FOUND", "METHOD_NOT_ALLOWED", "INTERNAL_ERROR", "OVERLOADED"),
  },
});

/** The page of the stake pool, and how each of its figures comes about. */
const poolPages = (problems: Problems): ZodOpenApiPathsObject => ({
  "/api/v1/console/pool": {
    get: {
      ...shown(problems, {
        operationId: "consolePool",
        summary: "The figures of the stake pool and of bundles",
        schema: schemas.consolePool,
      }),
      requestParams: { query: schemas.consolePoolQuery },
    },
  },
  "/api/v1/console/pool/explain": {
    get: {
      ...shown(problems, {
        operationId: "consolePoolExplain",
        summary: "What a record of the stake pool is computed from, and how",
        schema: schemas.explanationRecord,
      }),
      requestParams: { query: schemas.explainQuery },
    },
  },
});

/** The paths of the enhanced API that the explorer asks, in its envelope. */
const explorerPaths = (problems: Problems): ZodOpenApiPathsObject => {
  const path = (rest: string): string => `/api/v1/console/enhanced/${rest}`;
  const read = (operationId: string, summary: string, schema: Shown) =>
    shown(problems, { operationId, summary, schema });
  const { enhancedTransactionsBody: asked } = schemas;
  return {
    [path("transactions")]: {
      post: {
        ...read("consoleTransactions", "What transactions were", schemas.enhancedTransactionsAnswer),
        requestBody: { required: true, content: { "application/json": { schema: asked } } },
      },
    },
    [path("token/{mint}")]: { get: read("consoleToken", "A token", schemas.tokenMetadataAnswer) },
    [path("nft/{mint}")]: { get: read("consoleNft", "An NFT", schemas.nftMetadataAnswer) },
    [path("wallet/{address}/balances")]: {
      get: {
        ...read("consoleWalletBalances", "What a wallet holds", schemas.walletBalancesAnswer),
        requestParams: { query: schemas.walletBalancesQuery },
      },
    },
    [path("wallet/{address}/history")]: {
      get: {
        ...read("consoleWalletHistory", "What an address did", schemas.walletHistoryAnswer),
        requestParams: { query: schemas.walletHistoryQuery },
      },
    },
  };
};

const ofConsole = (root: string): KeyedPathsOptions => ({
  root,
  operation: (name) => `console${name[0]?.toUpperCase()}${name.slice(1)}`,
  tag: "Console",
  security: sessionCookie,
});

/** The paths of the console. */
export function consolePaths(problems: Problems): ZodOpenApiPathsObject {
  return {
    "/api/v1/console/overview": { get: overview(problems) },
    "/api/v1/console/live": { get: live(problems) },
    "/api/v1/console/bundles": {
      get: shown(problems, {
        operationId: "consoleBundles",
        summary: "The account's bundles, and how the engine does",
        schema: schemas.consoleBundles,
      }),
    },
    "/api/v1/console/bundles/live": {
      get: events(problems, "consoleBundlesLive", "The same, about once a second, as server-sent events"),
    },
    "/api/v1/console/bundles/{id}": {
      get: shown(problems, {
        operationId: "consoleBundle",
        summary: "A bundle and what became of it",
        schema: schemas.consoleBundleStory,
      }),
    },
    "/api/v1/console/prices": {
      get: shown(problems, {
        operationId: "consolePrices",
        summary: "The prices and their sources",
        schema: schemas.consolePrices,
      }),
    },
    "/api/v1/console/prices/live": {
      get: events(problems, "consolePricesLive", "The same, about once a second, as server-sent events"),
    },
    ...poolPages(problems),
    "/api/v1/console/names": {
      get: {
        ...shown(problems, {
          operationId: "consoleName",
          summary: "The owner of a name, or a name of an address",
          schema: schemas.consoleName,
        }),
        requestParams: { query: schemas.consoleNameQuery },
      },
    },
    ...explorerPaths(problems),
    ...sqlPaths(problems, ofConsole("/api/v1/console/sql")),
    ...webhookPaths(problems, ofConsole("/api/v1/console/webhooks")),
    "/api/v1/console/session": { post: signIn(problems), delete: signOut(problems) },
  };
}
