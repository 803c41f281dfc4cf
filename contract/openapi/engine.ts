import type { ZodOpenApiOperationObject, ZodOpenApiPathsObject, ZodOpenApiResponseObject } from "zod-openapi";
import {
  type BundleReason,
  bundleReasonStatus,
  bundleReasons,
  bundleReasonTexts,
  type EngineErrorCode,
  endingReasons,
  engineErrorTable,
} from "../engine.ts";
import * as schemas from "../schemas/index.ts";

/** The block engine's REST endpoint, which listens on a port of its own. */

const text = (description: string) => ({ description, schema: { type: "string" as const } });
const whole = (description: string) => ({ description, schema: { type: "integer" as const } });

const errorHeaders = {
  "X-Request-Id": text("Names this request in the server's log"),
  "X-Error-Code": text("The code, or the bundle's reason"),
  "Retry-After": whole("Seconds to wait; with 429 and 503"),
};
/** How a request carries its key. */
export const engineKeys = [
  { apiKeyHeader: [] },
  { bearer: [] },
  { jitoAuth: [] },
  { apiKeyQuery: [] },
  { jitoUuid: [] },
];
const tag = ["Block engine"];

/** Reasons that no REST submission is answered with: INVALID_INPUT, UNAVAILABLE and 429 stand in place of some. */
const unsaid: ReadonlySet<BundleReason> = new Set([
  ...endingReasons,
  "rate_limited",
  "invalid_field",
  "engine_overloaded",
]);

/** One response for each status, with what each of its codes means. */
export function failures(codes: readonly EngineErrorCode[], reasons: readonly BundleReason[] = []) {
  const byStatus = new Map<number, string[]>();
  const add = (status: number, line: string): void => {
    byStatus.set(status, [...(byStatus.get(status) ?? []), line]);
  };
  for (const code of codes) add(engineErrorTable[code].status, `${code}: ${engineErrorTable[code].text}.`);
  for (const reason of reasons) add(bundleReasonStatus(reason), `${reason}: ${bundleReasonTexts[reason]}.`);
  const answers: Record<`${4 | 5}${string}`, ZodOpenApiResponseObject> = {};
  for (const [status, lines] of [...byStatus].sort(([one], [other]) => one - other)) {
    answers[`${status}` as `4${string}`] = {
      description: lines.join(" "),
      headers: errorHeaders,
      content: { "application/problem+json": { schema: schemas.problemDetails } },
    };
  }
  return answers;
}

type Schema = typeof schemas.engineStatus | typeof schemas.encryptionKeys | typeof schemas.bundleStatus;

interface Reading {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly answer: Schema | typeof schemas.tipFloor;
  readonly codes?: readonly EngineErrorCode[];
}

const reading = ({ operationId, summary, description, answer, codes = [] }: Reading): ZodOpenApiOperationObject => ({
  operationId,
  tags: tag,
  summary,
  ...(description === undefined ? {} : { description }),
  security: engineKeys,
  responses: {
    "200": { description: summary, content: { "application/json": { schema: answer } } },
    ...failures(["MISSING_API_KEY", "INVALID_API_KEY", "PERMISSION_DENIED", ...codes]),
    ...failures(["METHOD_NOT_ALLOWED", "RATE_LIMIT_EXCEEDED", "INTERNAL_ERROR", "UNAVAILABLE"]),
  },
});

const status: ZodOpenApiOperationObject = {
  operationId: "engineStatus",
  tags: tag,
  summary: "Whether the block engine takes bundles",
  security: [],
  responses: {
    "200": {
      description: "`degraded` while the chain cannot be followed",
      content: { "application/json": { schema: schemas.engineStatus } },
    },
    ...failures(["METHOD_NOT_ALLOWED", "RATE_LIMIT_EXCEEDED", "INTERNAL_ERROR"]),
  },
};

const submit: ZodOpenApiOperationObject = {
  operationId: "submitBundle",
  tags: tag,
  summary: "Submit a bundle",
  description:
    "50 requests a second for each key. A body with `jsonrpc` is a call of Jito's API instead: sendBundle, getTipAccounts, " +
    "getBundleStatuses, getInflightBundleStatuses; simulateBundle is passed to a node.",
  security: engineKeys,
  requestBody: { required: true, content: { "application/json": { schema: schemas.bundleSubmit } } },
  responses: {
    "202": {
      description: "The bundle is on disk and competes until it lands or expires",
      content: { "application/json": { schema: schemas.bundleSubmitted } },
    },
    ...failures(
      [
        "INVALID_INPUT",
        "MISSING_API_KEY",
        "INVALID_API_KEY",
        "PERMISSION_DENIED",
        "BODY_TOO_LARGE",
        "UNSUPPORTED_MEDIA_TYPE",
        "RATE_LIMIT_EXCEEDED",
        "INTERNAL_ERROR",
        "UNAVAILABLE",
      ],
      bundleReasons.filter((reason) => !unsaid.has(reason)),
    ),
  },
};

const rpcFailure = (description: string): ZodOpenApiResponseObject => ({
  description,
  headers: errorHeaders,
  content: { "application/json": { schema: schemas.jsonRpcFailure } },
});

/** A path that speaks JSON-RPC alone. */
const jitoCall = (operationId: string, summary: string): ZodOpenApiOperationObject => ({
  operationId,
  tags: tag,
  summary,
  description: "Jito's JSON-RPC: one call, no batch. Each of these paths, and `/bundles`, takes each of its methods.",
  security: engineKeys,
  requestBody: { required: true, content: { "application/json": { schema: schemas.jsonRpcRequest } } },
  responses: {
    "200": {
      description: "The method's result",
      headers: { "x-bundle-id": text("The bundle, where one was accepted") },
      content: { "application/json": { schema: schemas.jsonRpcResult } },
    },
    "400": rpcFailure("The request is invalid; the reason of a refused bundle is in X-Error-Code"),
    "401": rpcFailure("No API key"),
    "402": rpcFailure("The call costs more credits than are left this month"),
    "403": rpcFailure("The key is invalid or may not be used for this"),
    "429": rpcFailure("Too many calls: code -32097"),
    "503": rpcFailure("The engine cannot answer now, or is in maintenance"),
  },
});

const tipStream: ZodOpenApiOperationObject = {
  operationId: "tipStream",
  tags: tag,
  summary: "The tip floor, pushed over a WebSocket",
  description:
    "Each message is the array that `/bundles/tip_floor` answers: at once, at each change, and every few seconds. A client " +
    "that does not read is passed over. Refusals close the socket: 4401 key, 4403 not allowed, 4429 rate, 4503 not now.",
  security: engineKeys,
  responses: { "101": { description: "Switched to WebSocket" }, ...failures(["UPGRADE_REQUIRED"]) },
};

/** The paths of the block engine's REST endpoint. */
export function enginePaths(): ZodOpenApiPathsObject {
  const root = "/api/v1";
  return {
    [`${root}/status`]: { get: status },
    [`${root}/bundles`]: { post: submit },
    [`${root}/bundles/{id}`]: {
      get: reading({
        operationId: "bundleStatus",
        summary: "Where a bundle stands",
        description:
          "Its slot and its signatures are shown once it is in the chain; its last state for 30 days. Until a block holds it " +
          "only the accounts that submitted it may read it.",
        answer: schemas.bundleStatus,
        codes: ["BUNDLE_NOT_FOUND"],
      }),
    },
    [`${root}/bundles/tip_floor`]: {
      get: reading({ operationId: "tipFloor", summary: "Tips that landed lately, in SOL", answer: schemas.tipFloor }),
    },
    [`${root}/transactions`]: {
      post: {
        ...jitoCall("jitoSendTransaction", "sendTransaction: a bundle of one where it pays a tip, and sent as it is"),
        parameters: [
          {
            name: "bundleOnly",
            in: "query",
            description: "true: it lands as a bundle or not at all",
            schema: { type: "boolean", default: false },
          },
        ],
      },
    },
    [`${root}/getTipAccounts`]: { post: jitoCall("jitoTipAccounts", "getTipAccounts") },
    [`${root}/getBundleStatuses`]: {
      post: jitoCall("jitoStatuses", "getBundleStatuses: what landed"),
    },
    [`${root}/getInflightBundleStatuses`]: {
      post: jitoCall("jitoInflightStatuses", "getInflightBundleStatuses: the last five minutes"),
    },
    [`${root}/bundles/tip_stream`]: { get: tipStream },
    [`${root}/encryption-keys`]: {
      get: reading({
        operationId: "encryptionKeys",
        summary: "Public keys that bundles may be sealed with now",
        answer: schemas.encryptionKeys,
      }),
    },
  };
}
