import { z } from "zod";
import { keyEnvironments } from "../api-key.ts";
import { networks, oracleTiers, oracleV2Tiers, platformTiers } from "../tiers.ts";
import { accountCreate, accountLimits, accountStatuses } from "./account.ts";
import { keyCreate, keyCreated, keyRestrictions, methodList, permissionList } from "./key.ts";
import { count, displayName, identifier, moment, storedCount, timestamp } from "./primitives.ts";

/** Management bodies refuse members they do not know. An absent member stays as it is. */
const hasMember = (body: object): boolean => Object.values(body).some((value) => value !== undefined);
const nothingToChange = { error: "must name at least one member to change" };

export const adminAccountCreate = accountCreate
  .extend(accountLimits.shape)
  .meta({ id: "AdminAccountCreate", description: "A new account, with overrides of its tier" });

export const accountChange = z
  .strictObject({
    name: displayName.optional(),
    status: z.enum(accountStatuses).optional(),
    tiers: z
      .strictObject({
        platform: z.enum(platformTiers).optional(),
        oracle: z.enum(oracleTiers).optional(),
        "oracle-v2": z.enum(oracleV2Tiers).optional(),
      })
      .optional(),
    requests_per_second: z.int().min(1).max(1_000_000).nullable().optional(),
    credits_monthly: storedCount.nullable().optional(),
  })
  .refine(hasMember, nothingToChange)
  .meta({ id: "AccountChange", description: "A change of an account. An absent member stays as it is" });

export const adminKeyCreate = keyCreate
  .extend({
    account_id: identifier.optional().meta({ description: "The account of the key that asks when absent" }),
    environment: z.enum(keyEnvironments).optional().meta({ description: "That of the key that asks when absent" }),
    restrictions: keyRestrictions
      .optional()
      .meta({ description: "For owners, when absent, the restrictions of the key that asks; for operators none" }),
    permissions: permissionList.optional().meta({
      description:
        "`read` and `transactions:write` when absent, as far as the key that asks holds them; 403 where it holds neither",
    }),
    methods: methodList
      .optional()
      .meta({ description: "For owners, when absent, the methods of the key that asks; for operators all" }),
  })
  .meta({ id: "AdminKeyCreate", description: "A new key" });

const rate = z.int().min(1).max(1_000_000).nullable().optional();

export const keyChange = z
  .strictObject({
    name: displayName.optional(),
    status: z.enum(["active", "disabled"]).optional(),
    restrictions: keyRestrictions
      .optional()
      .meta({ description: "All of them: a list that is absent restricts nothing" }),
    permissions: permissionList.optional(),
    methods: methodList.optional(),
    enhanced: z.boolean().optional(),
    enhanced_requests_per_second: rate,
    requests_per_second: rate,
    expires_at: moment.nullable().optional(),
  })
  .refine(hasMember, nothingToChange)
  .meta({ id: "KeyChange", description: "A change of a key. An absent member stays as it is" });

const overlapSecondsMax = 30 * 86_400;

export const keyRotate = z
  .strictObject({
    overlap_seconds: z
      .int()
      .min(0)
      .max(overlapSecondsMax)
      .default(86_400)
      .meta({ description: "How long the old key still works; never longer than it would have" }),
  })
  .meta({ id: "KeyRotate", description: "How a key is replaced by a new one" });

export const keyRotated = keyCreated
  .extend({ replaces: z.object({ id: identifier, expires_at: timestamp }) })
  .meta({ id: "KeyRotated", description: "The new key, and until when the old one works" });

export const auditEntry = z
  .object({
    id: identifier,
    at: timestamp,
    actor: z.string().meta({ description: "The id of a key, or `operator` for the command line" }),
    action: z.string().meta({ example: "key.change" }),
    subject: z.string().meta({ description: "The id of what was changed" }),
    detail: z.record(z.string(), z.unknown()).meta({ description: "What it was before and after; never a secret" }),
  })
  .meta({ id: "AuditEntry", description: "One administrative change" });

const groups = z
  .array(z.enum(["read", "archive", "send"]))
  .min(1)
  .max(3);

const headerNames = (issue: { readonly code?: string }): string | undefined =>
  issue.code === "invalid_key" ? "must be the name of a header such as X-Token" : undefined;

/** What each part may hold is decided by the rules of the configuration's lists; these bounds only keep it small. */
export const upstreamCreate = z
  .strictObject({
    network: z.enum(networks),
    label: z.string().min(1).max(63),
    url: z.string().min(1).max(2_048),
    ws: z.string().min(1).max(2_048).optional(),
    grpc: z.string().min(1).max(2_048).optional().meta({ description: "Where it offers Yellowstone gRPC" }),
    grpc_token: z
      .string()
      .min(1)
      .max(4_096)
      .optional()
      .meta({ description: "Sent there as x-token; never shown again" }),
    groups: groups.optional(),
    weight: z.int().optional(),
    requests_per_second: z.int().nullable().optional(),
    headers: z
      .record(z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}$/), z.string().max(4_096), { error: headerNames })
      .optional()
      .meta({ description: "Sent with each call; their values are never shown again" }),
  })
  .meta({ id: "UpstreamCreate", description: "A node to add at run time" });

export const upstreamRecord = z
  .object({
    network: z.enum(networks),
    label: z.string(),
    url: z.string().meta({ description: "Without path, query and user, where providers put their tokens" }),
    ws: z.string(),
    grpc: z.string().nullable().meta({ description: "Where it offers Yellowstone gRPC, as `url`" }),
    groups: z.array(z.string()),
    weight: count,
    requests_per_second: count.nullable(),
    headers: z.array(z.string()).meta({ description: "The names of the headers that are sent along" }),
    origin: z.enum(["configuration", "run time"]),
    order: z.enum(["open", "cordoned", "drained"]).meta({ description: "What an operator has ordered" }),
    serving: z.boolean().meta({ description: "Whether it gets calls now" }),
    out: z
      .enum([
        "silent",
        "other-chain",
        "unverified",
        "implausible",
        "lagging",
        "failing",
        "cordoned",
        "drained",
        "on-trial",
        "limited",
        "denied",
      ])
      .nullable()
      .meta({
        description:
          "Why it gets none; `limited` and `denied`: it has refused calls for its rate, or for the credential that it is sent",
      }),
    rests_until: z.iso
      .datetime()
      .nullable()
      .meta({ description: "When a node that is limited or denied is asked again" }),
    refuses: z
      .array(z.object({ method: z.string(), until: z.iso.datetime() }))
      .meta({ description: "Methods for which it has refused the credential, and when it is asked for them again" }),
    slot: count.nullable(),
    slot_lag: count.nullable(),
    latency_ms: z.number().nullable(),
    error_rate: z.number(),
    in_flight: count,
  })
  .meta({ id: "Upstream", description: "A node and how it does" });

export const upstreamList = z
  .object({ items: z.array(upstreamRecord) })
  .meta({ id: "UpstreamList", description: "The nodes of all networks" });

export const reloadOutcome = z
  .object({
    applied: z.array(z.string()).meta({ description: "Keys of the configuration that changed and hold now" }),
    needs_restart: z.array(z.string()).meta({ description: "Keys that changed and hold after a restart" }),
  })
  .meta({ id: "ReloadOutcome", description: "What a reload of the configuration changed" });

export type UpstreamCreate = z.infer<typeof upstreamCreate>;
export type UpstreamBody = z.infer<typeof upstreamRecord>;
export type ReloadOutcome = z.infer<typeof reloadOutcome>;
export type AccountChange = z.infer<typeof accountChange>;
export type AdminKeyCreate = z.infer<typeof adminKeyCreate>;
export type KeyChange = z.infer<typeof keyChange>;
export type AuditEntry = z.infer<typeof auditEntry>;
export type KeyRotated = z.infer<typeof keyRotated>;

/** `directory` is an absolute path of the server's machine. */
export const backupCreate = z.strictObject({
  directory: z.string().min(1).max(4_096),
  passphrase: z.string().min(12).max(1_024).nullable(),
});

/** `process` null is every process that is gone. */
export const creditsSettle = z.strictObject({
  process: z.string().min(1).max(64).nullable(),
  older_than_seconds: z.int().min(0).max(1_000_000_000),
  outcome: z.enum(["used", "returned"]),
});
