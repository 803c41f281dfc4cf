import { keyEnvironments } from "@sluice/contract/api-key";
import {
  type Network,
  networks,
  oracleTiers,
  oracleV2Tiers,
  type Permission,
  permissions,
  platformTiers,
} from "@sluice/contract/tiers";
import type { ChainRecord } from "./chain-records.ts";
import { StateError } from "./errors.ts";
import { type UpstreamNodeRecord, type UpstreamOrderRecord, upstreamOrders } from "./order-records.ts";
import {
  type AccountRecord,
  type AuditRecord,
  type KeyRecord,
  type KeyRestrictions,
  keyStatuses,
  type SessionRecord,
} from "./records.ts";
import type {
  AccountRow,
  AuditRow,
  ChainRow,
  KeyRow,
  SessionRow,
  UpstreamNodeRow,
  UpstreamOrderRow,
} from "./tables.ts";

/** Converts rows to records. A row that no version of Sluice can have written is CORRUPT. */
export function corrupt(what: string): StateError {
  return new StateError("CORRUPT", `The state database holds a value that it cannot have been given: ${what}.`);
}

/** @throws {StateError} CORRUPT for a value that is not allowed. */
export function oneOf<T extends string>(what: string, value: string, allowed: readonly T[]): T {
  const found = allowed.find((candidate) => candidate === value);
  if (found === undefined) throw corrupt(what);
  return found;
}

/** A stored integer that stays below 2^53 as a number. */
export function numberOf(value: bigint): number {
  return Number(value);
}

export function numberOrNull(value: bigint | null): number | null {
  return value === null ? null : Number(value);
}

export function parse(what: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw corrupt(what);
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function strings(what: string, value: unknown): string[] {
  if (!Array.isArray(value)) throw corrupt(what);
  return value.map((entry: unknown) => {
    if (typeof entry !== "string") throw corrupt(what);
    return entry;
  });
}

/** @throws {StateError} CORRUPT for a row that no version can have written; so do the functions below. */
export function toAccount(row: AccountRow): AccountRecord {
  return {
    id: row.id,
    name: row.name,
    createdAt: numberOf(row.created_at),
    tiers: {
      platform: oneOf("accounts.tier_platform", row.tier_platform, platformTiers),
      oracle: oneOf("accounts.tier_oracle", row.tier_oracle, oracleTiers),
      "oracle-v2": oneOf("accounts.tier_oracle_v2", row.tier_oracle_v2, oracleV2Tiers),
    },
    requestsPerSecond: numberOrNull(row.requests_per_second),
    creditsMonthly: row.credits_monthly,
    disabledAt: numberOrNull(row.disabled_at),
  };
}

function toRestrictions(text: string): KeyRestrictions {
  const what = "api_keys.restrictions";
  const value = parse(what, text);
  if (!isObject(value)) throw corrupt(what);
  return {
    networks: strings(what, value["networks"]).map((name): Network => oneOf(what, name, networks)),
    domains: strings(what, value["domains"]),
    ipRanges: strings(what, value["ipRanges"]),
  };
}

export function toKey(row: KeyRow): KeyRecord {
  const granted = strings("api_keys.permissions", parse("api_keys.permissions", row.permissions));
  return {
    id: row.id,
    accountId: row.account_id,
    name: row.name,
    hash: row.hash,
    hint: row.hint,
    environment: oneOf("api_keys.environment", row.environment, keyEnvironments),
    status: oneOf("api_keys.status", row.status, keyStatuses),
    restrictions: toRestrictions(row.restrictions),
    enhanced: row.enhanced !== 0n,
    enhancedRequestsPerSecond: numberOrNull(row.enhanced_requests_per_second),
    permissions: granted.map((name): Permission => oneOf("api_keys.permissions", name, permissions)),
    methods: row.methods === null ? [] : strings("api_keys.methods", parse("api_keys.methods", row.methods)),
    requestsPerSecond: numberOrNull(row.requests_per_second),
    expiresAt: numberOrNull(row.expires_at),
    createdAt: numberOf(row.created_at),
    lastUsedAt: numberOrNull(row.last_used_at),
  };
}

export function toSession(row: SessionRow): SessionRecord {
  return {
    hash: row.hash,
    accountId: row.account_id,
    keyId: row.key_id,
    createdAt: numberOf(row.created_at),
    expiresAt: numberOf(row.expires_at),
  };
}

export function toAudit(row: AuditRow): AuditRecord {
  const detail = parse("audit.detail", row.detail);
  if (!isObject(detail)) throw corrupt("audit.detail");
  return { id: row.id, at: numberOf(row.at), actor: row.actor, action: row.action, subject: row.subject, detail };
}

export function toUpstreamNode(row: UpstreamNodeRow): UpstreamNodeRecord {
  return {
    network: oneOf("upstream_nodes.network", row.network, networks),
    label: row.label,
    options: Uint8Array.from(row.options),
    addedAt: numberOf(row.added_at),
  };
}

export function toChain(row: ChainRow): ChainRecord {
  const { genesis, first_slot: slot, first_blockhash: blockhash } = row;
  return { genesis, first: slot === null || blockhash === null ? null : { slot, blockhash } };
}

export function toUpstreamOrder(row: UpstreamOrderRow): UpstreamOrderRecord {
  return {
    network: oneOf("upstream_orders.network", row.network, networks),
    label: row.label,
    order: oneOf("upstream_orders.standing", row.standing, upstreamOrders),
    setAt: numberOf(row.set_at),
  };
}
