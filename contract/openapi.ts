import {
  createDocument,
  type ZodOpenApiObject,
  type ZodOpenApiOperationObject,
  type ZodOpenApiResponseObject,
} from "zod-openapi";
import { type ErrorCode, errorTable } from "./errors.ts";
import { administrationPaths } from "./openapi-admin.ts";
import {
  consoleOverview,
  consoleSession,
  consoleSessionCreate,
  healthRecord,
  jsonRpcBatchRequest,
  jsonRpcBatchResponse,
  jsonRpcFailure,
  jsonRpcRequest,
  jsonRpcResponse,
  problemDetails,
} from "./schemas/index.ts";
import { networks } from "./tiers.ts";

/** The OpenAPI 3.1 description of the REST doors and of the JSON-RPC envelope, made from the schemas and error table. */

const text = (description: string) => ({ description, schema: { type: "string" as const } });
const whole = (description: string) => ({ description, schema: { type: "integer" as const } });

const requestIdHeader = { "X-Request-Id": text("Names this request in the server's log") };
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
    "A well-formed call is answered with 200, whoever refuses it; only the gateway's own checks use other statuses.",
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
        "RATE_LIMIT_EXCEEDED",
        "INSUFFICIENT_CREDITS",
        "METHOD_NOT_ALLOWED",
        "BODY_TOO_LARGE",
        "UNSUPPORTED_MEDIA_TYPE",
        "NETWORK_UNAVAILABLE",
        "UPSTREAM_TIMEOUT",
        "UPSTREAM_INVALID",
        "OVERLOADED",
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
  summary: "Whether the server can serve",
  security: [],
  responses: {
    "200": {
      description: "It can, perhaps in part",
      headers: requestIdHeader,
      content: { "application/json": { schema: healthRecord } },
    },
    "503": {
      description: "It cannot",
      headers: errorHeaders,
      content: { "application/json": { schema: healthRecord } },
    },
  },
};

const sessionCookie = [{ consoleSession: [] }];

const overview: ZodOpenApiOperationObject = {
  operationId: "consoleOverview",
  tags: ["Console"],
  summary: "What the console's first page shows",
  security: sessionCookie,
  responses: {
    "200": {
      description: "The present state",
      headers: requestIdHeader,
      content: { "application/json": { schema: consoleOverview } },
    },
    ...problems("INVALID_API_KEY", "METHOD_NOT_ALLOWED", "INTERNAL_ERROR"),
  },
};

const live: ZodOpenApiOperationObject = {
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
    ...problems("INVALID_API_KEY", "METHOD_NOT_ALLOWED", "INTERNAL_ERROR"),
  },
};

const signIn: ZodOpenApiOperationObject = {
  operationId: "consoleSignIn",
  tags: ["Console"],
  summary: "Sign in with an API key",
  description: "From the console's own origin only. Sets a cookie that scripts cannot read.",
  security: [],
  requestBody: { required: true, content: { "application/json": { schema: consoleSessionCreate } } },
  responses: {
    "200": {
      description: "Signed in",
      headers: { ...requestIdHeader, "Set-Cookie": text("The session") },
      content: { "application/json": { schema: consoleSession } },
    },
    ...problems(
      "INVALID_INPUT",
      "INVALID_API_KEY",
      "KEY_INACTIVE",
      "DOMAIN_NOT_ALLOWED",
      "BODY_TOO_LARGE",
      "UNSUPPORTED_MEDIA_TYPE",
      "INTERNAL_ERROR",
    ),
  },
};

const signOut: ZodOpenApiOperationObject = {
  operationId: "consoleSignOut",
  tags: ["Console"],
  summary: "Sign out",
  security: sessionCookie,
  responses: {
    "204": { description: "Signed out", headers: { ...requestIdHeader, "Set-Cookie": text("An expired session") } },
    ...problems("DOMAIN_NOT_ALLOWED", "INTERNAL_ERROR"),
  },
};

const description: ZodOpenApiObject = {
  openapi: "3.1.0",
  info: {
    title: "Sluice",
    version: "0.1.0",
    description: "Generated by `npm run generate` from the schemas in contract/. Do not edit.",
    license: { name: "Apache-2.0", identifier: "Apache-2.0" },
  },
  servers: [{ url: "/" }],
  tags: [{ name: "JSON-RPC" }, { name: "Server" }, { name: "Console" }, { name: "Administration" }],
  paths: {
    "/rpc": { post: rpc },
    "/health": { get: health },
    "/api/v1/console/overview": { get: overview },
    "/api/v1/console/live": { get: live },
    "/api/v1/console/session": { post: signIn, delete: signOut },
    ...administrationPaths(problems),
  },
  components: {
    securitySchemes: {
      apiKeyHeader: { type: "apiKey", in: "header", name: "X-API-Key" },
      bearer: { type: "http", scheme: "bearer", description: "The API key" },
      apiKeyQuery: { type: "apiKey", in: "query", name: "api-key" },
      consoleSession: { type: "apiKey", in: "cookie", name: "sluice_session" },
    },
  },
};

/** docs/reference/openapi.json as a value. */
export function createOpenApi() {
  return createDocument(description, {
    // A later version may answer with more members, so no response says that there are none.
    override: ({ jsonSchema, io }) => {
      if (io === "output" && jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
    },
  });
}
