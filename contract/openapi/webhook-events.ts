import type { ZodOpenApiOperationObject, ZodOpenApiPathsObject } from "zod-openapi";
import * as schemas from "../schemas/index.ts";
import { testEventName, webhookEventNames, webhookEventSpec } from "../webhooks.ts";

/** What receivers of webhooks are sent. */

const field = (name: string, description: string, isAlways = true) => ({
  name,
  in: "header" as const,
  required: isAlways,
  description,
  schema: { type: "string" as const },
});

/** Source: specification, node platform, Delivery rules 1; Standard Webhooks. */
const fields: NonNullable<ZodOpenApiOperationObject["parameters"]> = [
  field("X-Service-Signature", "`sha256=` and the hex HMAC-SHA256 of the body, keyed with the whole secret"),
  field(
    "X-Service-Signature-Next",
    "The same of each newer secret, with commas between, while a rotation lasts",
    false,
  ),
  field("X-Service-Event", "The name of the event"),
  field("X-Service-Event-ID", "The id of the event, equal whatever is sent again"),
  field("X-Service-Timestamp", "The time of the attempt, in Unix seconds"),
  field("X-Service-Delivery-ID", "The id of the delivery"),
  field("X-Service-Attempt", "The number of the attempt, from 1"),
  field("webhook-id", "As X-Service-Event-ID (Standard Webhooks)"),
  field("webhook-timestamp", "As X-Service-Timestamp"),
  field("webhook-signature", "`v1,` and the base64 HMAC-SHA256 of id, timestamp and body, for each secret that signs"),
];

const responses = {
  "2XX": { description: "It is delivered. The whole answer is there within 5 seconds; 16 KiB of it are kept" },
  "410": { description: "The receiver is gone: the delivery is given up and the webhook disabled" },
  "429": { description: "As default, but not before the time that Retry-After says, up to an hour" },
  "503": { description: "As 429" },
  default: { description: "It is sent again, as the retry policy says; so are redirects, which are not followed" },
} as const;

const names = [...webhookEventNames, testEventName] as const;

const operationOf = (name: (typeof names)[number]): ZodOpenApiOperationObject => ({
  summary: name === testEventName ? "A test delivery" : webhookEventSpec(name).description,
  parameters: fields,
  requestBody: {
    required: true,
    content: { "application/json": { schema: schemas.webhookEventOf(name) } },
  },
  responses,
});

/** Every event as OpenAPI describes what a server calls by itself. */
export const webhookEventPaths: ZodOpenApiPathsObject = Object.fromEntries(
  names.map((name) => [name, { post: operationOf(name) }]),
);
