import { z } from "zod";
import { keyEnvironments } from "../api-key.ts";
import { networks, permissions } from "../tiers.ts";
import { count, displayName, identifier, timestamp } from "./primitives.ts";

const restrictionEntriesMax = 100;

/** A host, or `*.` and a host for its sub-domains; no scheme, port or path. */
const domain = z
  .string()
  .toLowerCase()
  .max(253)
  .regex(/^(\*\.)?([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$/)
  .meta({ example: "*.example.com" });

const ipRange = z.union([z.cidrv4(), z.cidrv6(), z.ipv4(), z.ipv6()]).meta({ example: "203.0.113.0/24" });

export const keyRestrictions = z
  .strictObject({
    networks: z.array(z.enum(networks)).max(networks.length).default([]),
    domains: z.array(domain).max(restrictionEntriesMax).default([]),
    ipRanges: z.array(ipRange).max(restrictionEntriesMax).default([]),
  })
  .meta({ id: "KeyRestrictions", description: "An empty list restricts nothing" });

/** Whether a key works. `revoked` is final. */
export const keyStatuses = ["active", "disabled", "revoked"] as const;

export const keyRecord = z
  .object({
    id: identifier,
    account_id: identifier,
    name: z.string(),
    hint: z.string().meta({ description: "What may be shown of the key", example: "sk_dev_AbC…xyz" }),
    environment: z.enum(keyEnvironments),
    status: z.enum(keyStatuses),
    restrictions: keyRestrictions,
    permissions: z.array(z.enum(permissions)),
    enhanced: z.boolean().meta({ description: "Whether the enhanced API may be used" }),
    enhanced_requests_per_second: count.nullable(),
    requests_per_second: count.nullable().meta({ description: "Below the account's rate; null is the account's" }),
    expires_at: timestamp.nullable(),
    created_at: timestamp,
    last_used_at: timestamp.nullable(),
  })
  .meta({ id: "Key", description: "An API key, without the key itself" });

const rate = z.int().min(1).max(1_000_000).nullable().default(null);

export const keyCreate = z
  .strictObject({
    account_id: identifier,
    name: displayName,
    environment: z.enum(keyEnvironments),
    restrictions: keyRestrictions.prefault({}),
    permissions: z.array(z.enum(permissions)).max(permissions.length).default(["read"]),
    enhanced: z.boolean().default(true),
    enhanced_requests_per_second: rate,
    requests_per_second: rate,
    expires_at: timestamp.nullable().default(null),
  })
  .meta({ id: "KeyCreate", description: "A new key" });

/** The only answer that ever holds the key itself. */
export const keyCreated = keyRecord
  .extend({ key: z.string().meta({ description: "The key, shown this once" }) })
  .meta({ id: "KeyCreated", description: "A new key, with the key itself: the only answer that holds it" });

export const keyStatusChange = z
  .strictObject({ status: z.enum(keyStatuses) })
  .meta({ id: "KeyStatusChange", description: "The new status of a key" });

export type KeyBody = z.infer<typeof keyRecord>;
export type KeyCreated = z.infer<typeof keyCreated>;
