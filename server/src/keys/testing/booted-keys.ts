import { createHash } from "node:crypto";
import { formatApiKey } from "@sluice/contract/api-key";
import { ManualClock, seededRandom } from "@sluice/lib";
import type { AccountRecord, KeyRecord } from "../../state/index.ts";
import type { Grant, KeyRefusal } from "../grant.ts";
import { createKeys, type KeysOptions } from "../keys.ts";

const random = seededRandom(7);
export const newKey = (environment: "live" | "dev" = "live"): string =>
  formatApiKey(environment, (length) => random.bytes(length));
export const hashOf = (key: string): string => createHash("sha256").update(key).digest("hex");

export const account = (changes: Partial<AccountRecord> = {}): AccountRecord => ({
  id: "acc_1",
  name: "Account",
  createdAt: 0,
  tiers: { platform: "developer", oracle: "community", "oracle-v2": "community" },
  requestsPerSecond: null,
  creditsMonthly: null,
  disabledAt: null,
  ...changes,
});

export const record = (presented: string, changes: Partial<KeyRecord> = {}): KeyRecord => ({
  id: `key_${presented.slice(-6)}`,
  accountId: "acc_1",
  name: "Key",
  hash: hashOf(presented),
  hint: "",
  environment: "live",
  status: "active",
  restrictions: { networks: [], domains: [], ipRanges: [] },
  enhanced: true,
  enhancedRequestsPerSecond: null,
  permissions: ["read"],
  methods: [],
  requestsPerSecond: null,
  expiresAt: null,
  createdAt: 0,
  lastUsedAt: null,
  ...changes,
});

/** Keys over a store in memory whose answers can be held back, changed or made to fail. */
export function bootKeys(options: Partial<KeysOptions> = {}, flushes: "by hand" | "by themselves" = "by hand") {
  const clock = new ManualClock(1_800_000_000_000);
  const stored = new Map<string, { key: KeyRecord; account: AccountRecord }>();
  const touched: Map<string, number>[] = [];
  const warnings: string[] = [];
  const outcomes: string[] = [];
  const store = { lookups: 0, askers: [] as boolean[], isDown: false, gate: null as Promise<void> | null };
  const keys = createKeys(
    { developmentKeys: "accept", ...(flushes === "by hand" ? { flushIntervalMs: null } : {}), ...options },
    {
      clock,
      findByHash: async (hash, { isKnown }) => {
        store.lookups += 1;
        store.askers.push(isKnown);
        const found = stored.get(hash) ?? null;
        if (store.gate !== null) await store.gate;
        if (store.isDown) throw new Error("store down");
        return found;
      },
      touch: async (times) => {
        if (store.gate !== null) await store.gate;
        if (store.isDown) throw new Error("store down");
        touched.push(times);
      },
      log: { warn: (_fields, message) => warnings.push(message) },
      events: { keyCacheOutcome: (outcome) => void outcomes.push(outcome), keyRevisionRead: () => undefined },
    },
  );
  const put = (presented: string, changes: Partial<KeyRecord> = {}): void => {
    stored.set(hashOf(presented), { key: record(presented, changes), account: account() });
  };
  return { keys, clock, stored, store, touched, warnings, outcomes, put };
}

export const codeOf = (outcome: Grant | KeyRefusal): string => (outcome.ok ? "granted" : outcome.code);
