import { z } from "zod";
import { keyEnvironments } from "../api-key.ts";
import { keyMethodsMax, methodPattern } from "../permissions.ts";
import { networks, permissions, permissionsDefault } from "../tiers.ts";
import { count, displayName, identifier, moment, timestamp } from "./primitives.ts";

const restrictionEntriesMax = 100;

/** A host, or `*.` and a host for its sub-domains; no scheme, port or path. */
const domain = z
  .string()
  .toLowerCase()
  .max(253)
  .regex(/^(\*\.)?([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$/, {
    error: "must be a host such as example.com, or *.example.com for its sub-domains, without scheme, port and path",
  })
  .meta({ example: "*.example.com" });

const ipRange = z
  .union([z.cidrv4(), z.cidrv6(), z.ipv4(), z.ipv6()], {
    error: "must be an address such as 203.0.113.7, or a range such as 203.0.113.0/24 or 2001:db8::/32",
  })
  .meta({ example: "203.0.113.0/24" });

export const keyRestrictions = z
  .strictObject({
    networks: z.array(z.enum(networks)).max(networks.length).default([]),
    domains: z.array(domain).max(restrictionEntriesMax).default([]),
    ipRanges: z.array(ipRange).max(restrictionEntriesMax).default([]),
  })
  .meta({ id: "KeyRestrictions", description: "An empty list restricts nothing" });

/** What a key may do: at least one thing, or nobody could use it. */
export const permissionList = z
  .array(z.enum(permissions, { error: `must be one of ${permissions.join(", ")}` }))
  .min(1, { error: "must name at least one permission: a key without any can do nothing" })
  .max(permissions.length);

/** The JSON-RPC methods that a key may call. */
export const methodList = z
  .array(
    z.string().regex(methodPattern, {
      error: "must be a method such as getBalance, or the beginning of several such as getToken*",
    }),
  )
  .max(keyMethodsMax)
  .meta({
    description: "The JSON-RPC methods that the key may call, or beginnings of them with a final `*`; [] allows all",
    example: ["getBalance", "getToken*"],
  });

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
    methods: methodList,
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
    permissions: permissionList.default([...permissionsDefault]),
    methods: methodList.default([]),
    enhanced: z.boolean().default(true),
    enhanced_requests_per_second: rate,
    requests_per_second: rate,
    expires_at: moment.nullable().default(null),
  })
  .meta({ id: "KeyCreate", description: "A new key" });

/** The only answer that ever holds the key itself. */
export const keyCreated = keyRecord
  .extend({ key: z.string().meta({ description: "The key, shown this once" }) })
  .meta({ id: "KeyCreated", description: "A new key, with the key itself: the only answer that holds it" });

export type KeyBody = z.infer<typeof keyRecord>;
export type KeyCreated = z.infer<typeof keyCreated>;
