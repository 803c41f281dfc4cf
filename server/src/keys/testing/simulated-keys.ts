import type { AccountRecord, KeyRecord } from "../../state/index.ts";

/** A key of the state store, and when each of its revisions was written (monotonic). */
export interface StoredKey {
  readonly presented: string;
  readonly hash: string;
  readonly account: StoredAccount;
  revision: number;
  isActive: boolean;
  readonly writtenAtMs: number[];
}

export interface StoredAccount {
  readonly id: string;
  revision: number;
  readonly writtenAtMs: number[];
}

export type KeyRow = { readonly key: KeyRecord; readonly account: AccountRecord };

/** Later than any jump of the clock; revisions are distinguished by it. */
export const farMs = 4_000_000_000_000;

/** What state distinguishes of a key; its revisions are reported by what it grants. */
export function rowOf(key: StoredKey): KeyRow {
  return {
    key: {
      id: `key_${key.hash.slice(0, 8)}`,
      accountId: key.account.id,
      name: "simulated",
      hash: key.hash,
      hint: "",
      environment: "live",
      status: key.isActive ? "active" : "disabled",
      restrictions: { networks: [], domains: [], ipRanges: [] },
      enhanced: false,
      enhancedRequestsPerSecond: null,
      permissions: ["read"],
      methods: [],
      requestsPerSecond: null,
      expiresAt: farMs + key.revision,
      createdAt: 0,
      lastUsedAt: null,
    },
    account: {
      id: key.account.id,
      name: "simulated",
      createdAt: 0,
      tiers: { platform: "developer", oracle: "community", "oracle-v2": "community" },
      requestsPerSecond: null,
      creditsMonthly: BigInt(key.account.revision),
      disabledAt: null,
    },
  };
}
