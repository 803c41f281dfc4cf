import type { AccountBody, KeyBody } from "@sluice/contract/schemas";
import type { AccountRecord, KeyRecord } from "../state/index.ts";

export const isoTime = (unixMs: number): string => new Date(unixMs).toISOString();

/** The public form of an owner account (contract/schemas/account.ts). */
export function accountBody(account: AccountRecord): AccountBody {
  return {
    id: account.id,
    name: account.name,
    status: account.disabledAt === null ? "active" : "disabled",
    created_at: isoTime(account.createdAt),
    tiers: account.tiers,
    requests_per_second: account.requestsPerSecond,
    credits_monthly: account.creditsMonthly === null ? null : String(account.creditsMonthly),
  };
}

/** The public form of a key (contract/schemas/key.ts): its hash stays inside. */
export function keyBody(key: KeyRecord): KeyBody {
  return {
    id: key.id,
    account_id: key.accountId,
    name: key.name,
    hint: key.hint,
    environment: key.environment,
    status: key.status,
    restrictions: {
      networks: [...key.restrictions.networks],
      domains: [...key.restrictions.domains],
      ipRanges: [...key.restrictions.ipRanges],
    },
    permissions: [...key.permissions],
    methods: [...key.methods],
    enhanced: key.enhanced,
    enhanced_requests_per_second: key.enhancedRequestsPerSecond,
    requests_per_second: key.requestsPerSecond,
    expires_at: key.expiresAt === null ? null : isoTime(key.expiresAt),
    created_at: isoTime(key.createdAt),
    last_used_at: key.lastUsedAt === null ? null : isoTime(key.lastUsedAt),
  };
}

/**
 * The members by which two public forms of a record differ, as they were and as they are; neither form holds a secret.
 */
export function changedMembers<Body extends object>(
  before: Body,
  after: Body,
): { before: Record<string, unknown>; after: Record<string, unknown> } {
  const changes = { before: {} as Record<string, unknown>, after: {} as Record<string, unknown> };
  const earlier = new Map<string, unknown>(Object.entries(before));
  for (const [name, value] of Object.entries(after)) {
    const was = earlier.get(name);
    if (JSON.stringify(was) === JSON.stringify(value)) continue;
    changes.before[name] = was ?? null;
    changes.after[name] = value;
  }
  return changes;
}
