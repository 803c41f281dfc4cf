import { z } from "zod";
import { oracleTiers, oracleV2Tiers, platformTiers } from "../tiers.ts";
import { bigCount, count, displayName, identifier, storedCount, timestamp } from "./primitives.ts";

const subscriptionTiers = z
  .strictObject({
    platform: z.enum(platformTiers),
    oracle: z.enum(oracleTiers),
    "oracle-v2": z.enum(oracleV2Tiers),
  })
  .meta({ id: "SubscriptionTiers", description: "The subscription to each product" });

/** Whether the keys of an account work. */
export const accountStatuses = ["active", "disabled"] as const;

export const accountRecord = z
  .object({
    id: identifier,
    name: z.string(),
    status: z.enum(accountStatuses).meta({ description: "While it is disabled none of its keys opens anything" }),
    created_at: timestamp,
    tiers: subscriptionTiers,
    requests_per_second: count.nullable().meta({ description: "In place of the tier's rate; null is the tier's" }),
    credits_monthly: bigCount.nullable().meta({ description: "In place of the tier's credits; null is the tier's" }),
  })
  .meta({ id: "Account", description: "An owner account" });

/** Management bodies refuse members they do not know. Tiers that are not named are the lowest of their product. */
export const accountCreate = z.strictObject({ name: displayName, tiers: subscriptionTiers.partial().optional() }).meta({
  id: "AccountCreate",
  description: "A new account. Tiers that are not named are the lowest of their product",
});

/** An absent member stays as it is; null takes the override away, so that the tier's own limit holds again. */
export const accountLimits = z
  .strictObject({
    requests_per_second: z.int().min(1).max(1_000_000).nullable().optional(),
    credits_monthly: storedCount.nullable().optional(),
  })
  .meta({
    id: "AccountLimits",
    description: "Overrides of the tier. An absent member stays as it is; null removes the override",
  });

const accountCredits = z
  .object({
    month: z.string().meta({ description: "The calendar month in UTC", example: "2026-11" }),
    used: bigCount,
    held: bigCount.meta({
      description: "Leased by processes that are gone and did not say what they spent; the next start settles them",
    }),
    monthly: bigCount.nullable().meta({ description: "null is unlimited" }),
  })
  .meta({ id: "AccountCredits", description: "The credits of the current month" });

export type AccountCredits = z.infer<typeof accountCredits>;
export type AccountBody = z.infer<typeof accountRecord>;
