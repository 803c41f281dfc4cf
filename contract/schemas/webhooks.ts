import { z } from "zod";
import { limits } from "../limits.ts";
import { networks } from "../tiers.ts";
import {
  accountDataEncodings,
  webhookFilterTexts as of,
  retryPolicyDefault,
  testEventName,
  webhookEventNames,
  webhookLimits,
  webhookSecretPrefix,
} from "../webhooks.ts";
import { webhookEventData } from "./events.ts";
import { count, identifier, moment, networkName, timestamp } from "./primitives.ts";

/** More wrong items than these of one list are not told. */
const faultsOfList = 20;

const addressText = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/;
const isAddressText = (value: unknown): boolean => typeof value === "string" && addressText.test(value);
const notAnAddress = "must be an address in base58, of 32 bytes";

/**
 * A list of texts that is checked up to its first wrong items: lists have up to 100,000 items, and a schema for each of
 * them would make an issue for each.
 */
function textList(
  {
    most,
    item,
    isItem,
    notItem,
  }: {
    readonly most: number;
    readonly item: Readonly<Record<string, unknown>>;
    readonly isItem: (value: unknown) => boolean;
    readonly notItem: string;
  },
  description: string,
) {
  return z
    .custom<readonly string[]>()
    .superRefine((value: unknown, context) => {
      const fault = (path: PropertyKey[], message: string): void => context.addIssue({ code: "custom", path, message });
      if (!Array.isArray(value)) return fault([], "must be a list");
      if (value.length === 0 || value.length > most)
        return fault([], `must be a list of 1 to ${most} items, not ${value.length}`);
      let found = 0;
      for (let index = 0; index < value.length && found < faultsOfList; index += 1) {
        if (isItem(value[index])) continue;
        found += 1;
        fault([index], notItem);
      }
    })
    .meta({
      description,
      override: { type: "array", items: { type: "string", ...item }, minItems: 1, maxItems: most },
    });
}

const addresses = (description: string) =>
  textList(
    { most: webhookLimits.addresses, item: {}, isItem: isAddressText, notItem: notAnAddress },
    `${description}. At most ${webhookLimits.addresses} addresses in all filters of a webhook`,
  );
const address = (description: string) => z.string().regex(addressText, { error: notAnAddress }).meta({ description });

const u64Max = 2n ** 64n - 1n;
const isAmount = (value: unknown): boolean => {
  if (typeof value === "number") return Number.isSafeInteger(value) && value >= 0;
  return typeof value === "string" && /^(0|[1-9][0-9]{0,19})$/.test(value) && BigInt(value) <= u64Max;
};

/** A u64: a number as far as JSON readers hold it exactly, else its digits. */
const amount = (description: string) =>
  z
    .custom<number | string>(isAmount, {
      error: `must be a whole number from 0 to ${u64Max}: a number up to ${Number.MAX_SAFE_INTEGER}, or text`,
    })
    .meta({
      description: `${description}. A number, or its digits as text where it passes 2^53`,
      override: { type: ["integer", "string"], minimum: 0 },
    });

const flag = (description: string) => z.boolean().meta({ description });

/** The `source` of the enhanced API: the program that a transaction used, as `magic_eden_v2`; any letter case. */
const sources = (description: string) =>
  textList(
    {
      most: webhookLimits.filterNames,
      item: { pattern: "^[A-Za-z][A-Za-z0-9_]{0,63}$" },
      isItem: (value) => typeof value === "string" && /^[A-Za-z][A-Za-z0-9_]{0,63}$/.test(value),
      notItem: "must be the name of a source, such as magic_eden_v2",
    },
    description,
  );

const tokenTransferFilter = z
  .union([
    z.boolean(),
    z.strictObject({
      mint: address("Of this token alone").optional(),
      min_amount: amount("In the token's smallest units").optional(),
      from: address("The owner who sends").optional(),
      to: address("The owner who receives").optional(),
    }),
  ])
  .meta({ description: of.token_transfers });

const nftFilter = z.strictObject({
  marketplaces: sources("Any of these marketplaces, by the names that the enhanced API gives as `source`").optional(),
  collection: address("Of this collection").optional(),
  event_types: z
    .array(z.enum(["sale", "listing", "bid"]))
    .min(1)
    .max(3)
    .optional(),
});

const defiFilter = z.strictObject({
  protocols: sources("Any of these protocols, by the names that the enhanced API gives as `source`").optional(),
  event_types: z
    .array(z.enum(["swap", "add_liquidity", "remove_liquidity"]))
    .min(1)
    .max(3)
    .optional(),
  min_usd_value: z.number().nonnegative().optional(),
});

/** What a webhook is told of its events. Each member narrows the events that know it; several hold together. */
export const webhookFilters = z
  .strictObject({
    account_include: addresses(of.account_include).optional(),
    account_exclude: addresses(of.account_exclude).optional(),
    program_id: address(of.program_id).optional(),
    commitment: z.enum(["confirmed", "finalized"]).optional().meta({ description: of.commitment }),
    success: flag(of.success).optional(),
    vote_transactions: flag(of.vote_transactions).optional(),
    min_amount: amount(of.min_amount).optional(),
    max_amount: amount(of.max_amount).optional(),
    include_token_transfers: flag(of.include_token_transfers).optional(),
    include_logs: flag(of.include_logs).optional(),
    token_transfers: tokenTransferFilter.optional(),
    nft: nftFilter.optional().meta({ description: of.nft }),
    defi: defiFilter.optional().meta({ description: of.defi }),
    error_types: textList(
      {
        most: webhookLimits.filterNames,
        item: {},
        isItem: (value) => typeof value === "string" && /^[A-Z][A-Za-z]{0,63}$/.test(value),
        notItem: "must be the name of an error of the chain, such as InstructionError",
      },
      of.error_types,
    ).optional(),
    accounts: addresses(of.accounts).optional(),
    owner: address(of.owner).optional(),
    min_balance_change: amount(of.min_balance_change).optional(),
    include_data: flag(of.include_data).optional(),
    data_encoding: z.enum(accountDataEncodings).optional().meta({ description: of.data_encoding }),
    creator: address(of.creator).optional(),
    min_balance: amount(of.min_balance).optional(),
    reclaimed_by: address(of.reclaimed_by).optional(),
    min_transaction_count: z.int().nonnegative().optional().meta({ description: of.min_transaction_count }),
    include_transactions: flag(of.include_transactions).optional(),
    include_rewards: flag(of.include_rewards).optional(),
  })
  .meta({ id: "WebhookFilters", description: "What a webhook is told of its events" });

const maxAttempts = z.int().min(webhookLimits.maxAttempts.least).max(webhookLimits.maxAttempts.most);
const backoffMultiplier = z
  .number()
  .min(webhookLimits.backoffMultiplier.least)
  .max(webhookLimits.backoffMultiplier.most)
  .meta({ description: "The first delay is 5 s, each further one so many times the one before, at most 4 h" });

export const webhookRetryPolicy = z
  .strictObject({
    max_attempts: maxAttempts.default(retryPolicyDefault.max_attempts),
    backoff_multiplier: backoffMultiplier.default(retryPolicyDefault.backoff_multiplier),
  })
  .meta({ id: "WebhookRetryPolicy", description: "When deliveries that failed are tried again" });

const retryPolicyUpdate = z
  .strictObject({ max_attempts: maxAttempts.optional(), backoff_multiplier: backoffMultiplier.optional() })
  .meta({ id: "WebhookRetryPolicyUpdate", description: "What is absent stays as it is" });

const url = z
  .string()
  .min(1)
  .max(webhookLimits.urlLength)
  .meta({ description: "Where events are sent: https, and a public address", example: "https://example.com/events" });
const eventName = z.enum(webhookEventNames);
const events = z
  .array(eventName)
  .min(1)
  .max(webhookEventNames.length)
  .meta({ description: "Names of events, each once", example: ["transaction.confirmed"] });
const description = z
  .string()
  .max(webhookLimits.descriptionLength)
  .refine((text) => text.isWellFormed() && !text.includes("\0"), { error: "must be well-formed text without U+0000" });
const fifo = z
  .boolean()
  .meta({ description: "true: a delivery waits until the one before it has succeeded or was given up" });

export const webhookCreate = z
  .strictObject({
    url,
    events,
    filters: webhookFilters.default({}),
    description: description.default(""),
    retry_policy: webhookRetryPolicy.default({ ...retryPolicyDefault }),
    network: z.enum(networks).optional().meta({ description: "As X-Network, which stands behind it" }),
    fifo: fifo.default(false),
  })
  .meta({ id: "WebhookCreate", description: "A new webhook" });

export const webhookUpdate = z
  .strictObject({
    url: url.optional(),
    events: events.optional(),
    filters: webhookFilters.optional(),
    description: description.optional(),
    retry_policy: retryPolicyUpdate.optional(),
    fifo: fifo.optional(),
  })
  .refine((changes) => Object.values(changes).some((value) => value !== undefined), { error: "must change something" })
  .meta({
    id: "WebhookUpdate",
    description: "Changes of a webhook: what is absent stays. `filters` replaces all filters",
  });

const webhookNotice = z
  .object({
    code: z.string().meta({ example: "disabled" }),
    at: timestamp,
    message: z.string(),
  })
  .meta({ id: "WebhookNotice", description: "Something that the owner of a webhook should know" });

const secret = z.string().meta({
  description: `Shown once: \`${webhookSecretPrefix}\` and base64 of 32 bytes`,
  example: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw0123456789A=",
});

export const webhookRecord = z
  .object({
    webhook_id: identifier,
    url: z.string(),
    status: z.enum(["active", "paused", "disabled"]).meta({
      description: "paused by its owner; disabled by this server, until it is resumed",
    }),
    status_reason: z.string().nullable().meta({ description: "Why it is disabled; null otherwise" }),
    network: networkName,
    events: z.array(z.string()),
    filters: webhookFilters,
    description: z.string(),
    retry_policy: webhookRetryPolicy,
    fifo: z.boolean(),
    created_at: timestamp,
    updated_at: timestamp,
    last_success_at: timestamp.nullable(),
    failing_since: timestamp.nullable().meta({ description: "Since when every attempt has failed" }),
    waiting: count.meta({ description: "Deliveries that wait" }),
    parked_since: timestamp.nullable().meta({ description: "Since when it waits for credits" }),
    behind_since: timestamp.nullable().meta({ description: "Since when it lags behind the chain" }),
    secret_overlap_ends_at: timestamp
      .nullable()
      .meta({ description: "Until when the last secret before the newest signs along" }),
    notices: z.array(webhookNotice),
  })
  .meta({ id: "Webhook", description: "A webhook, without its secret" });

export const webhookCreated = webhookRecord
  .extend({ secret })
  .meta({ id: "WebhookCreated", description: "A new webhook, with its secret" });

export const webhookSecret = z
  .object({
    webhook_id: identifier,
    secret,
    overlap_ends_at: timestamp.meta({ description: "Until then the old secret signs along" }),
  })
  .meta({ id: "WebhookSecret", description: "The new secret of a webhook" });

export const webhookList = z
  .object({ webhooks: z.array(webhookRecord), next_cursor: z.string().nullable() })
  .meta({ id: "WebhookList", description: "Webhooks, the oldest first" });

export const webhookTest = z
  .strictObject({
    event: z.enum([...webhookEventNames, testEventName]).default(testEventName),
    test_data: z
      .record(z.string(), z.unknown())
      .refine((data) => new TextEncoder().encode(JSON.stringify(data)).length <= webhookLimits.testDataBytes, {
        error: `must be at most ${webhookLimits.testDataBytes} bytes as JSON`,
      })
      .default({})
      .meta({
        description: "Members of `data`, such as signature, slot and success, in place of those of the example",
        example: { signature: "5h3x", slot: 1, success: true },
      }),
  })
  .meta({ id: "WebhookTest", description: "A test delivery" });

export const webhookAccepted = z
  .object({ delivery_id: z.string(), event_id: z.string() })
  .meta({ id: "WebhookAccepted", description: "A delivery that is attempted next" });

export const webhookRecover = z
  .strictObject({ since: moment.meta({ description: "At most 14 days ago: what was given up from then on" }) })
  .meta({ id: "WebhookRecover", description: "From when on deliveries that were given up are sent again" });

export const webhookRecovered = z
  .object({ recovered: count.meta({ description: "Deliveries that wait again" }) })
  .meta({ id: "WebhookRecovered", description: "How many deliveries are sent again" });

export const webhookDelivery = z
  .object({
    id: z.string(),
    event_id: z.string(),
    event: z.string(),
    status: z.enum(["success", "failed", "pending", "parked"]),
    status_code: z.int().nullable().meta({ description: "Of the last attempt; null where there was no answer" }),
    attempts: count,
    created_at: timestamp,
    delivered_at: timestamp.optional().meta({ description: "Of a success" }),
    last_attempt_at: timestamp.optional().meta({ description: "Where the last attempt failed" }),
    error: z
      .string()
      .optional()
      .meta({
        description:
          "Why it failed: HTTP_ and the status, TIMEOUT, CONNECTION_FAILED, CONNECTION_CLOSED, MALFORMED_ANSWER, " +
          "URL_NOT_ALLOWED, ADDRESS_NOT_ALLOWED; DATA_UNAVAILABLE and CREDITS_EXHAUSTED where nothing was sent",
        example: "HTTP_500",
      }),
    next_attempt_at: timestamp.optional().meta({ description: "Of a delivery that waits after an attempt" }),
  })
  .meta({ id: "WebhookDelivery", description: "One event for one webhook" });

/** The query of a list of deliveries. */
export const webhookDeliveryQuery = z.object({
  limit: z.coerce.number().int().min(1).max(limits.pageMax).default(limits.pageDefault),
  cursor: z.string().min(1).max(512).optional().meta({ description: "`next_cursor` of the page before" }),
  include: z.enum(["pending"]).optional().meta({ description: "`pending` adds deliveries that wait, or are parked" }),
  status: z.enum(["success", "failed"]).optional().meta({ description: "Only these of the finished ones" }),
});

export const webhookDeliveries = z
  .object({
    deliveries: z.array(webhookDelivery).meta({ description: "Those that wait first, then the newest first" }),
    next_cursor: z.string().nullable(),
  })
  .meta({ id: "WebhookDeliveries", description: "Deliveries of a webhook" });

const webhookAttempt = z
  .object({
    attempt: count.meta({ description: "Counted from 1; 0 where it was given up before anything was sent" }),
    at: timestamp,
    status_code: z.int().nullable(),
    error: z.string().nullable().meta({ description: "As of the delivery" }),
    latency_ms: z.number(),
    request_headers: z.record(z.string(), z.string()),
    answer: z.string().meta({ description: "The first 16 KiB of the answer's body, as text" }),
  })
  .meta({ id: "WebhookAttempt", description: "One try of a delivery" });

export const webhookDeliveryDetail = webhookDelivery
  .extend({
    webhook_id: z.string(),
    attempt_log: z.array(webhookAttempt).meta({ description: "The oldest first; the last 100 where there are more" }),
  })
  .meta({ id: "WebhookDeliveryDetail", description: "A delivery with its attempts" });

/** What every delivery carries as its body. */
export const webhookEnvelope = z
  .object({
    event_id: z.string().meta({ description: "Equal for the same event, whatever is sent again" }),
    event: z.string(),
    timestamp: timestamp.meta({ description: "Of the block; of an event without one, when it was made" }),
    network: z.string(),
    data: z.record(z.string(), z.unknown()),
  })
  .meta({ id: "WebhookEvent", description: "The body of a delivery" });

/** The body of a delivery of one event. */
export const webhookEventOf = (name: keyof typeof webhookEventData) =>
  webhookEnvelope.extend({ event: z.literal(name), data: webhookEventData[name] });

export type WebhookFilters = z.infer<typeof webhookFilters>;
export type WebhookCreate = z.infer<typeof webhookCreate>;
export type WebhookUpdate = z.infer<typeof webhookUpdate>;
export type Webhook = z.infer<typeof webhookRecord>;
export type WebhookCreated = z.infer<typeof webhookCreated>;
export type WebhookSecret = z.infer<typeof webhookSecret>;
export type WebhookList = z.infer<typeof webhookList>;
export type WebhookTest = z.infer<typeof webhookTest>;
export type WebhookAccepted = z.infer<typeof webhookAccepted>;
export type WebhookRecovered = z.infer<typeof webhookRecovered>;
export type WebhookDelivery = z.infer<typeof webhookDelivery>;
/** The query of a list of deliveries, with what it is by default. */
export type WebhookDeliveryQuery = z.infer<typeof webhookDeliveryQuery>;
export type WebhookDeliveries = z.infer<typeof webhookDeliveries>;
export type WebhookDeliveryDetail = z.infer<typeof webhookDeliveryDetail>;
