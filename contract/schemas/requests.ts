import { z } from "zod";
import { limits } from "../limits.ts";
import { networks } from "../tiers.ts";
import { count, identifier, timestamp } from "./primitives.ts";

/** An id as `X-Request-Id` carries it; a client that sends its own is not believed, so it is short. */
export const requestIdentifier = z.string().min(1).max(128);

const moment = z.iso.datetime({ offset: true });

/** The query of the list of requests. */
export const requestsQuery = z
  .object({
    key: identifier.optional().meta({ description: "The id of a key" }),
    status: z.coerce
      .number()
      .int()
      .min(100)
      .max(4_999)
      .optional()
      .meta({ description: "The HTTP status, or the close code of a connection; 101 is a connection that goes on" }),
    code: z
      .string()
      .regex(/^(?:-?[0-9]{1,9}|[A-Za-z][A-Za-z_]{1,40})$/, {
        error: "must be a JSON-RPC code or a code of the reference of errors",
      })
      .optional()
      .meta({
        description: "A JSON-RPC code, a code of an error table, or the reason of a bundle",
        example: "RATE_LIMIT_EXCEEDED",
      }),
    method: z.string().min(1).max(128).optional().meta({ description: "A JSON-RPC method, or the path of a resource" }),
    network: z.enum(networks).optional(),
    since: moment.optional().meta({ description: "The first moment; a day before `until` when absent" }),
    until: moment.optional().meta({ description: "The first moment that no longer counts; now when absent" }),
    account_id: identifier.optional().meta({ description: "One owner account among all; for operators" }),
    limit: z.coerce.number().int().min(1).max(limits.pageMax).default(limits.pageDefault),
    cursor: z.string().min(1).max(512).optional(),
  })
  .meta({ id: "RequestsQuery", description: "Which requests are listed" });

export const requestRecord = z
  .object({
    request_id: z.string(),
    at: timestamp.meta({ description: "When it arrived; of a connection, when this part of it was recorded" }),
    account_id: identifier,
    key_id: identifier,
    network: z.string().nullable(),
    endpoint: z.enum(["rpc", "rest", "ws", "pubsub", "yellowstone", "engine"]),
    method: z.string().meta({ description: "Empty for a request that was refused before its call was read" }),
    status: count.meta({ description: "The HTTP status, or the close code of a connection" }),
    code: z.int().nullable().meta({ description: "The JSON-RPC code of its error" }),
    error: z
      .string()
      .nullable()
      .meta({ description: "The public code of a refusal, or the name of the JSON-RPC code" }),
    latency_ms: z.number(),
    bytes_in: count,
    bytes_out: count,
    credits: count,
    cache: z.enum(["HIT", "MISS"]).nullable(),
    upstream: z.string().nullable().meta({ description: "The label of the node, for operators" }),
  })
  .meta({ id: "RequestRecord", description: "What is known of a request that was answered" });

export const requestFound = z
  .object({
    request_id: z.string(),
    items: z.array(requestRecord).meta({
      description: "One, or one for each call of a batch or part of a connection; at most 1,000, oldest first",
    }),
  })
  .meta({ id: "RequestFound", description: "What is known of one request" });

export type RequestRecordBody = z.infer<typeof requestRecord>;
export type RequestFoundBody = z.infer<typeof requestFound>;
