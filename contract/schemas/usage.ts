import { z } from "zod";
import { limits } from "../limits.ts";
import { networks } from "../tiers.ts";
import { bigCount, count, identifier, timestamp } from "./primitives.ts";

/** What a usage report can be grouped by. */
const usageGroups = ["day", "method", "key"] as const;

const day = z.iso.date().meta({ description: "A day in UTC", example: "2026-11-20" });

export const usageQuery = z
  .object({
    from: day.optional().meta({ description: "The first day; the first of the present month when absent" }),
    to: day.optional().meta({ description: "The last day, included; today when absent" }),
    group_by: z.enum(usageGroups).default("day"),
    network: z.enum(networks).optional(),
    account_id: identifier.optional().meta({ description: "Another owner account than the key's; for operators" }),
    limit: z.coerce.number().int().min(1).max(limits.pageMax).default(limits.pageDefault),
    // A group may be a method that a caller made up, so its cursor is longer than those of other lists.
    cursor: z.string().min(1).max(2_048).optional(),
  })
  .meta({ id: "UsageQuery", description: "The query of a usage report" });

const usageFigures = z.object({
  requests: count,
  errors: count.meta({ description: "Answered with a status of 400 or more, or with a JSON-RPC error" }),
  credits: bigCount,
  bytes_in: bigCount,
  bytes_out: bigCount,
  cache_hits: count,
  cache_misses: count,
  latency_ms: z
    .object({ p50: z.number(), p95: z.number(), p99: z.number() })
    .nullable()
    .meta({ description: "Quantiles, estimated to within about one percent; null without requests" }),
});

const usageItem = usageFigures
  .extend({
    group: z.string().meta({ description: "The day, the method, or the id of the key" }),
    final: z.boolean().meta({ description: "Whether these figures will not change any more" }),
  })
  .meta({ id: "UsageItem", description: "The usage of one group" });

const usageMonth = z
  .object({
    month: z.string().meta({ description: "The calendar month in UTC", example: "2026-11" }),
    used: bigCount.meta({ description: "Credits, to the credit" }),
    allowance: bigCount.nullable().meta({ description: "null is unlimited" }),
    remaining: bigCount.nullable(),
    resets_at: timestamp.meta({ description: "When the next month begins and the whole allowance is there again" }),
  })
  .meta({ id: "UsageMonth", description: "The credits of the current month" });

const usageMissing = z
  .object({
    month: z.string().meta({ description: "The calendar month in UTC, the whole of it", example: "2026-11" }),
    requests: count.meta({ description: "On all networks; their credits are in the month's `used`" }),
  })
  .meta({ id: "UsageMissing", description: "Requests of a month without a record" });

export const usageReport = z
  .object({
    account_id: identifier,
    from: day,
    to: day,
    group_by: z.enum(usageGroups),
    items: z.array(usageItem),
    next_cursor: z.string().nullable(),
    total: usageFigures.meta({ description: "Of the whole range, whatever page this is" }),
    missing: z.array(usageMissing).meta({
      description:
        "For each month that the range touches: requests that were served and have no record, so that no item counts " +
        "them. A record that a killed process had not written yet is lost; one that the store of records could not " +
        "take yet comes later. Empty when every request is recorded.",
    }),
    month: usageMonth,
  })
  .meta({ id: "UsageReport", description: "The usage of an account over a range of days" });

/** The query of the list of sent transactions. */
export const sentTransactionsQuery = z.object({
  limit: z.coerce.number().int().min(1).max(limits.pageMax).default(limits.pageDefault),
  cursor: z.string().min(1).max(512).optional(),
  key_id: identifier.optional().meta({ description: "Another key of the same account than the one that asks" }),
});

export const sentTransaction = z
  .object({
    signature: z.string(),
    network: z.enum(networks),
    key_id: identifier,
    sent_at: timestamp,
    state: z.enum(["sent", "confirmed", "finalized", "failed", "expired"]),
    slot: count.nullable().meta({ description: "The slot of its block; null until it is in one" }),
    resends: count.meta({ description: "How often the gateway sent it again at its sender's request" }),
  })
  .meta({ id: "SentTransaction", description: "A transaction that was sent through the gateway" });

/** Requests, credits, bytes and latencies of a group. */
export type UsageFigures = z.infer<typeof usageFigures>;
export type UsageReport = z.infer<typeof usageReport>;
export type SentTransactionBody = z.infer<typeof sentTransaction>;
