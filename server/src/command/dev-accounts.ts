import { createHash } from "node:crypto";
import {
  oracleTiers,
  oracleV2Tiers,
  type Permission,
  type PlatformTier,
  permissions,
  platformTiers,
} from "@sluice/contract/tiers";
import type { Clock, Random } from "@sluice/lib";
import { issueKey } from "../admin/index.ts";
import type { AccountRecord, State } from "../state/index.ts";

export type DevKeys = Readonly<Record<PlatformTier, string>>;

const everyDay: Permission[] = ["read", "transactions:write", "bundles:write", "webhooks:write", "keys:write"];

/**
 * One development account for each platform tier, the oracle's tiers going along in the same order, and a key for each.
 * Keys that were handed out before and still open their account are kept, so that a restart breaks no client.
 */
export async function ensureDevAccounts(
  known: Partial<DevKeys>,
  dependencies: { state: State; clock: Clock; random: Random },
): Promise<{ keys: DevKeys; consoleAccountId: string }> {
  const { state } = dependencies;
  const present = await devAccounts(state);
  const keys: [PlatformTier, string][] = [];
  let consoleAccountId = "";
  for (const [index, tier] of platformTiers.entries()) {
    const kept = known[tier];
    const opened = kept === undefined ? null : await accountOf(state, kept, tier);
    if (kept !== undefined && opened !== null) {
      keys.push([tier, kept]);
      // The last tier's account is the one whose key is shown first.
      consoleAccountId = opened;
      continue;
    }
    const account =
      present.get(accountName(tier)) ??
      (await state.accounts.create({
        name: accountName(tier),
        tiers: {
          platform: tier,
          oracle: oracleTiers[index] ?? "community",
          "oracle-v2": oracleV2Tiers[Math.min(index, oracleV2Tiers.length - 1)] ?? "community",
        },
      }));
    const { key, record } = issueKey(
      {
        accountId: account.id,
        name: "development",
        environment: "dev",
        restrictions: { networks: [], domains: [], ipRanges: [] },
        permissions: tier === "enterprise" ? [...permissions] : everyDay,
        methods: [],
        enhanced: true,
        enhancedRequestsPerSecond: null,
        requestsPerSecond: null,
        expiresAt: null,
      },
      dependencies,
    );
    await state.keys.insert(record);
    keys.push([tier, key]);
    consoleAccountId = account.id;
  }
  return { keys: Object.fromEntries(keys) as DevKeys, consoleAccountId };
}

const accountName = (tier: PlatformTier): string => `Development (${tier})`;

/** The account that a key handed out before opens, or null when it no longer does. */
async function accountOf(state: State, key: string, tier: PlatformTier): Promise<string | null> {
  const found = await state.keys.findByHash(createHash("sha256").update(key).digest("hex"));
  const isGood = found !== null && found.key.status === "active" && found.account.name === accountName(tier);
  return isGood ? found.account.id : null;
}

/** The development accounts are the first that a directory holds, so one page has them. */
async function devAccounts(state: State): Promise<Map<string, AccountRecord>> {
  const page = await state.accounts.list({ limit: 1_000 });
  return new Map(page.items.map((account) => [account.name, account]));
}
