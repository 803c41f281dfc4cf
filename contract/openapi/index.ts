import { z } from "zod";
import {
  createDocument,
  type ZodOpenApiObject,
  type ZodOpenApiOperationObject,
  type ZodOpenApiPathsObject,
  type ZodOpenApiResponseObject,
} from "zod-openapi";
import { type ErrorCode, errorTable } from "../errors.ts";
import type { OpenApiName } from "../openapi-names.ts";
import {
  healthRecord,
  jsonRpcBatchRequest,
  jsonRpcBatchResponse,
  jsonRpcFailure,
  jsonRpcRequest,
  jsonRpcResponse,
  problemDetails,
  readyRecord,
} from "../schemas/index.ts";
import { networks } from "../tiers.ts";
import { administrationPaths } from "./admin.ts";
import { consolePaths } from "./console.ts";
import { enginePaths } from "./engine.ts";
import { enhancedPaths } from "./enhanced.ts";
import { historyPaths } from "./history.ts";
import { oraclePaths } from "./oracle.ts";
import { withPathParameters } from "./path-parameters.ts";
import { poolPaths } from "./pool.ts";
import { resolverPaths } from "./resolver.ts";
import { sqlByKey, sqlPaths } from "./sql.ts";
import { walletPaths } from "./wallet.ts";
import { webhookEventPaths } from "./webhook-events.ts";
import { webhookPaths, webhooksByKey } from "./webhooks.ts";

/**
 * The OpenAPI 3.1 descriptions of the endpoints, one for each port, and of the JSON-RPC envelope, made from the schemas
 * and error tables.
 */

const text = (description: string) => ({ description, schema: { type: "string" as const } });
const whole = (description: string) => ({ description, schema: { type: "integer" as const } });

const requestIdHeader = {
  "X-Request-Id": text("Names this request: GET /api/v1/requests/{id} tells what is known of it"),
};
const limitHeaders = {
  "X-RateLimit-Limit": whole("Requests a second that the key may make"),
  "X-RateLimit-Remaining": whole("Requests left before the next is refused"),
  "X-RateLimit-Reset": whole("When the whole limit is there again, in Unix seconds"),
  "X-RateLimit-Burst": whole("Requests that may come at once"),
};
const errorHeaders = {
  ...requestIdHeader,
  "X-Error-Code": text("The code of the error table"),
  "Retry-After": whole("Seconds to wait; with 429 and 503"),
};
const rpcHeaders = {
  ...requestIdHeader,
  ...limitHeaders,
  "X-Cache-Status": text("HIT or MISS"),
  "X-RPC-Endpoint": text("The label of the node that gave the answer"),
  "X-RPC-Latency-Ms": text("Milliseconds that the answer took"),
};

/** One response for each HTTP status among `codes`, with what each code of that status means. */
function failures(
  codes: readonly ErrorCode[],
  mediaType: string,
  schema: typeof problemDetails | typeof jsonRpcFailure,
): Record<`${4 | 5}${string}`, ZodOpenApiResponseObject> {
  const byStatus: Record<string, string[]> = {};
  for (const code of codes) {
    const { status, text: meaning } = errorTable[code];
    byStatus[String(status)] = [...(byStatus[String(status)] ?? []), `${code}: ${meaning}.`];
  }
  return Object.fromEntries(
    Object.entries(byStatus).map(([status, lines]) => [
      status,
      { description: lines.join(" "), headers: errorHeaders, content: { [mediaType]: { schema } } },
    ]),
  );
}

const problems = (...codes: ErrorCode[]) => failures(codes, "application/problem+json", problemDetails);

const keyParameters = [{ apiKeyHeader: [] }, { bearer: [] }, { apiKeyQuery: [] }];
const networkNames = { type: "string" as const, enum: [...networks] };

const rpc: ZodOpenApiOperationObject = {
  operationId: "rpc",
  tags: ["JSON-RPC"],
  summary: "Call a Solana JSON-RPC method, or a batch of them",
  description:
    "The network is chosen by the header `X-Network`, the query `network` or the path `/rpc/{network}`; else the server's default. " +
    "A well-formed call is answered with 200, also when the node refuses it; only checks of the gateway use other statuses.",
  security: keyParameters,
  parameters: [
    { name: "X-Network", in: "header", schema: networkNames },
    { name: "network", in: "query", schema: networkNames },
  ],
  requestBody: {
    required: true,
    content: { "application/json": { schema: jsonRpcRequest.or(jsonRpcBatchRequest) } },
  },
  responses: {
    "200": {
      description: "The answer, or the answers of a batch, each in the place of its call",
      headers: rpcHeaders,
      content: { "application/json": { schema: jsonRpcResponse.or(jsonRpcBatchResponse) } },
    },
    ...failures(
      [
        "PARSE_ERROR",
        "INVALID_REQUEST",
        "INVALID_API_KEY",
        "KEY_INACTIVE",
        "NETWORK_NOT_ALLOWED",
        "DOMAIN_NOT_ALLOWED",
        "IP_NOT_ALLOWED",
        "PERMISSION_DENIED",
        "METHOD_NOT_PERMITTED",
        "RATE_LIMIT_EXCEEDED",
        "BATCH_TOO_LARGE_FOR_RATE",
        "INSUFFICIENT_CREDITS",
        "METHOD_NOT_ALLOWED",
        "BODY_TOO_LARGE",
        "UNSUPPORTED_MEDIA_TYPE",
        "NETWORK_UNAVAILABLE",
        "UPSTREAM_TIMEOUT",
        "UPSTREAM_INVALID",
        "OVERLOADED",
        "STORE_UNAVAILABLE",
        "INTERNAL_ERROR",
      ],
      "application/json",
      jsonRpcFailure,
    ),
  },
};

const health: ZodOpenApiOperationObject = {
  operationId: "health",
  tags: ["Server"],
  summary: "Whether the process lives, and how its parts do",
  security: [],
  responses: {
    "200": {
      description: "It lives",
      headers: requestIdHeader,
      content: { "application/json": { schema: healthRecord } },
    },
  },
};

const ready: ZodOpenApiOperationObject = {
  operationId: "ready",
  tags: ["Server"],
  summary:
    "Whether a role of the server serves, for load balancers; on every port, with the port's own role unless one is named",
  security: [],
  requestParams: {
    query: z.object({
      role: z
        .enum(["gateway", "engine", "oracle", "resolver"])
        .optional()
        .meta({ description: "The role that is asked for" }),
    }),
  },
  responses: {
    "200": {
      description: "It does, perhaps in part",
      headers: requestIdHeader,
      content: { "application/json": { schema: readyRecord } },
    },
    "503": {
      description: "It refuses calls, or is about to end",
      headers: errorHeaders,
      content: { "application/json": { schema: readyRecord } },
    },
  },
};

const securitySchemes = {
  apiKeyHeader: { type: "apiKey", in: "header", name: "X-API-Key" },
  bearer: { type: "http", scheme: "bearer", description: "The API key" },
  apiKeyQuery: { type: "apiKey", in: "query", name: "api-key" },
  jitoAuth: { type: "apiKey", in: "header", name: "x-jito-auth" },
  jitoUuid: { type: "apiKey", in: "query", name: "uuid" },
  consoleSession: { type: "apiKey", in: "cookie", name: "sluice_session" },
} as const;
type Scheme = keyof typeof securitySchemes;
const keySchemes: readonly Scheme[] = ["apiKeyHeader", "bearer", "apiKeyQuery"];

interface Part {
  readonly title: string;
  readonly about: string;
  readonly paths: ZodOpenApiPathsObject;
  /** What it sends by itself. */
  readonly webhooks?: ZodOpenApiPathsObject;
  readonly schemes: readonly Scheme[];
  readonly tags: readonly { readonly name: string; readonly description: string }[];
}

const tagOf = (name: string, about: string) => ({ name, description: about });

const gateway: Part = {
  title: "Sluice gateway",
  about: "JSON-RPC, indexed history, the enhanced API, administration and the console's REST, on port 8899.",
  schemes: [...keySchemes, "consoleSession"],
  tags: [
    tagOf("JSON-RPC", "Calls of Solana's methods"),
    tagOf("Server", "The server itself"),
    tagOf("History", "Transactions and blocks that the ledger holds"),
    tagOf("Enhanced", "What transactions were, and tokens"),
    tagOf("Wallets", "What wallets hold, moved and did"),
    tagOf("Console", "For people who are signed in at a browser"),
    tagOf("SQL", "Queries over the ledger"),
    tagOf("Webhooks", "Events of the chains, sent to addresses of the account"),
    tagOf("Administration", "Usage, accounts, keys, nodes and the block engine"),
  ],
  paths: {
    "/rpc": { post: rpc },
    "/rpc/{network}": { post: { ...rpc, operationId: "rpcOfNetwork" } },
    "/health": { get: health },
    "/ready": { get: ready },
    ...historyPaths(problems),
    ...enhancedPaths(problems),
    ...walletPaths(problems),
    ...consolePaths(problems),
    ...sqlPaths(problems, sqlByKey),
    ...webhookPaths(problems, webhooksByKey),
    ...administrationPaths(problems),
  },
  webhooks: webhookEventPaths,
};

const parts: Readonly<Record<OpenApiName, Part>> = {
  gateway,
  engine: {
    title: "Sluice block engine",
    about: "Bundles, Jito's JSON-RPC and the figures of the stake pool, on port 7435.",
    schemes: [...keySchemes, "jitoAuth", "jitoUuid"],
    tags: [
      tagOf("Block engine", "Bundles: submission, status, tips and keys"),
      tagOf("Stake pool", "The stake pool, its validators, and what bundles brought"),
    ],
    paths: { ...enginePaths(), ...poolPaths() },
  },
  oracle: {
    title: "Sluice price oracle",
    about: "Prices in both variants, on port 7450.",
    schemes: keySchemes,
    tags: [
      tagOf("Prices", "The first variant, and its resources"),
      tagOf("Prices, variant 2", "The second variant, by pairs"),
    ],
    paths: oraclePaths(),
  },
  resolver: {
    title: "Sluice name resolver",
    about: "Owners of handles and domains, on port 8691, without a key.",
    schemes: [],
    tags: [tagOf("Names", "Owners of names, from the chain")],
    paths: resolverPaths(),
  },
};

/**
 * The OpenAPI 3.1 description of one endpoint, as a value. Without a server its paths are relative to the address that
 * it was read from.
 */
export function createOpenApi(name: OpenApiName, server: string | null = null) {
  const { title, about, schemes, tags, paths, webhooks } = parts[name];
  const document: ZodOpenApiObject = {
    openapi: "3.1.0",
    info: {
      title,
      version: "0.1.0",
      description: `${about} Generated by \`npm run generate\` from the schemas in contract/. Do not edit.`,
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: server ?? "/" }],
    tags: tags.map((tag) => ({ ...tag })),
    paths: withPathParameters(paths),
    ...(webhooks === undefined ? {} : { webhooks }),
    ...(schemes.length === 0
      ? {}
      : {
          components: {
            securitySchemes: Object.fromEntries(schemes.map((scheme) => [scheme, { ...securitySchemes[scheme] }])),
          },
        }),
  };
  return createDocument(document, {
    // What checks a list as a whole says its form in its metadata, which the schemas below it have not.
    allowEmptySchema: { custom: true },
    // A later version may answer with more members, so no response says that there are none.
    override: ({ jsonSchema, io }) => {
      if (io === "output" && jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
    },
  });
}
