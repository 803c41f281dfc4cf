import type { ZodOpenApiOperationObject, ZodOpenApiPathsObject, ZodOpenApiResponseObject } from "zod-openapi";
import type { ErrorCode } from "../errors.ts";
import * as schemas from "../schemas/index.ts";
import { networks } from "../tiers.ts";
import { webhookLimits } from "../webhooks.ts";
import type { KeyedPathsOptions } from "./keyed-paths.ts";

/** The management of webhooks, on the gateway's port. */

type Problems = (...codes: ErrorCode[]) => Record<`${4 | 5}${string}`, ZodOpenApiResponseObject>;
type Schema = NonNullable<NonNullable<NonNullable<ZodOpenApiResponseObject["content"]>[string]>["schema"]>;

const text = (description: string) => ({ description, schema: { type: "string" as const } });
const requestIdHeader = { "X-Request-Id": text("Names this request") };
const key = [{ apiKeyHeader: [] }, { bearer: [] }, { apiKeyQuery: [] }];
const network = { type: "string" as const, enum: [...networks] };
const ofNetwork: NonNullable<ZodOpenApiOperationObject["parameters"]> = [
  { name: "X-Network", in: "header", schema: network },
  { name: "network", in: "query", schema: network },
];

const admission = [
  // Any request may name a network beside its path, which has to be one.
  "INVALID_INPUT",
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
const body = ["INVALID_REQUEST", "PARSE_ERROR", "BODY_TOO_LARGE", "UNSUPPORTED_MEDIA_TYPE"] as const;

interface Route {
  readonly name: string;
  readonly summary: string;
  readonly description?: string;
  readonly query?: typeof schemas.pageQuery | typeof schemas.webhookDeliveryQuery;
  readonly namesNetwork?: true;
  readonly sent?: Schema;
  readonly sentIsOptional?: true;
  readonly answer?: Schema;
  readonly status?: 200 | 201 | 202 | 204;
  readonly codes?: readonly ErrorCode[];
}

/** The paths of webhooks under `root`. */
export function webhookPaths(problems: Problems, options: KeyedPathsOptions): ZodOpenApiPathsObject {
  const route = (of: Route): ZodOpenApiOperationObject => operationOf(of, problems, options);
  const change = (name: string, summary: string, more: Partial<Route> = {}): { post: ZodOpenApiOperationObject } => ({
    post: route({ name, summary, answer: schemas.webhookRecord, codes: ["NOT_FOUND"], ...more }),
  });
  const makers = { route, change };
  return { ...recordPaths(options.root, makers), ...deliveryPaths(options.root, makers) };
}

function operationOf(
  of: Route,
  problems: Problems,
  { operation, tag, security }: KeyedPathsOptions,
): ZodOpenApiOperationObject {
  return {
    operationId: operation(of.name),
    tags: [tag],
    summary: of.summary,
    ...(of.description === undefined ? {} : { description: of.description }),
    ...(security === undefined ? {} : { security }),
    ...(of.namesNetwork === undefined ? {} : { parameters: ofNetwork }),
    ...(of.query === undefined ? {} : { requestParams: { query: of.query } }),
    ...(of.sent === undefined
      ? {}
      : {
          requestBody: { required: of.sentIsOptional !== true, content: { "application/json": { schema: of.sent } } },
        }),
    responses: {
      [`${of.status ?? 200}` as "200"]: {
        description: of.summary,
        headers: requestIdHeader,
        ...(of.answer === undefined ? {} : { content: { "application/json": { schema: of.answer } } }),
      },
      ...problems(...admission, ...(of.codes ?? [])),
    },
  };
}

interface Makers {
  readonly route: (of: Route) => ZodOpenApiOperationObject;
  readonly change: (name: string, summary: string, more?: Partial<Route>) => { post: ZodOpenApiOperationObject };
}

const recordPaths = (root: string, { route, change }: Makers): ZodOpenApiPathsObject => ({
  [root]: {
    get: route({
      name: "listWebhooks",
      summary: "The account's webhooks",
      description: "Of one network where the request names it.",
      namesNetwork: true,
      query: schemas.pageQuery,
      answer: schemas.webhookList,
    }),
    post: route({
      name: "createWebhook",
      summary: "Create a webhook",
      description:
        "The tier Business and those above have webhooks; each event says from which tier it can be had. The network is " +
        "that of the body, else of X-Network or the query, else the server's default; one without nodes is refused. The " +
        "secret is shown once.",
      namesNetwork: true,
      sent: schemas.webhookCreate,
      answer: schemas.webhookCreated,
      status: 201,
      codes: [...body, "TIER_REQUIRED", "CONFLICT"],
    }),
  },
  [`${root}/{webhook_id}`]: {
    get: route({
      name: "readWebhook",
      summary: "A webhook",
      answer: schemas.webhookRecord,
      codes: ["NOT_FOUND"],
    }),
    patch: route({
      name: "updateWebhook",
      summary: "Change a webhook",
      sent: schemas.webhookUpdate,
      answer: schemas.webhookRecord,
      codes: [...body, "TIER_REQUIRED", "NOT_FOUND"],
    }),
    delete: route({ name: "deleteWebhook", summary: "Delete a webhook", status: 204, codes: ["NOT_FOUND"] }),
  },
  [`${root}/{webhook_id}/pause`]: change("pauseWebhook", "Pause a webhook: events are not recorded for it"),
  [`${root}/{webhook_id}/resume`]: change("resumeWebhook", "Make a paused or disabled webhook active", {
    codes: ["NOT_FOUND", "TIER_REQUIRED"],
  }),
  [`${root}/{webhook_id}/rotate-secret`]: change("rotateWebhookSecret", "Give a webhook a new secret", {
    description:
      "The secret before signs along for 24 hours, and so do those that were replaced in that time, each for its own. " +
      `At most ${webhookLimits.secrets} sign at a time. The new one is shown once.`,
    answer: schemas.webhookSecret,
    codes: ["NOT_FOUND", "CONFLICT"],
  }),
  [`${root}/{webhook_id}/end-overlap`]: change("endWebhookOverlap", "Let the new secret alone sign from now on"),
});

const deliveryPaths = (root: string, { route, change }: Makers): ZodOpenApiPathsObject => ({
  [`${root}/{webhook_id}/test`]: change("testWebhook", "Send a test delivery", {
    sent: schemas.webhookTest,
    sentIsOptional: true,
    answer: schemas.webhookAccepted,
    status: 202,
    codes: [...body, "NOT_FOUND", "CONFLICT"],
  }),
  [`${root}/{webhook_id}/recover`]: change("recoverWebhook", "Send again what was given up", {
    sent: schemas.webhookRecover,
    answer: schemas.webhookRecovered,
    status: 202,
    codes: [...body, "NOT_FOUND"],
  }),
  [`${root}/{webhook_id}/deliveries`]: {
    get: route({
      name: "listWebhookDeliveries",
      summary: "The deliveries of a webhook",
      query: schemas.webhookDeliveryQuery,
      answer: schemas.webhookDeliveries,
      codes: ["NOT_FOUND"],
    }),
  },
  [`${root}/deliveries/{delivery_id}`]: {
    get: route({
      name: "readWebhookDelivery",
      summary: "A delivery with its attempts",
      answer: schemas.webhookDeliveryDetail,
      codes: ["NOT_FOUND"],
    }),
  },
  [`${root}/deliveries/{delivery_id}/retry`]: change("retryWebhookDelivery", "Attempt a delivery once more", {
    answer: schemas.webhookAccepted,
    status: 202,
  }),
});

/** Webhooks by API key. */
export const webhooksByKey: KeyedPathsOptions = {
  root: "/api/v1/webhooks",
  operation: (name) => name,
  tag: "Webhooks",
  security: key,
};
