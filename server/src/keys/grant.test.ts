import { expect, test } from "bun:test";
import type { PlatformTier } from "@sluice/contract/tiers";
import { grantOf } from "./grant.ts";

/** The grant of a key of an account on a tier. */
function granted(tier: PlatformTier, key: { readonly enhanced?: boolean; readonly rate?: number | null } = {}) {
  return grantOf(
    {
      id: "key_1",
      accountId: "acc_1",
      permissions: ["read"],
      methods: [],
      restrictions: { networks: [], domains: [], ipRanges: [] },
      requestsPerSecond: null,
      enhanced: key.enhanced ?? true,
      enhancedRequestsPerSecond: key.rate ?? null,
      expiresAt: null,
    },
    {
      id: "acc_1",
      name: "one",
      createdAt: 0,
      tiers: { platform: tier, oracle: "community", "oracle-v2": "community" },
      requestsPerSecond: null,
      creditsMonthly: null,
      disabledAt: null,
    },
  ).enhanced;
}

test("the enhanced API has the rate of the tier, which all keys of an account share, and bursts of twice that", () => {
  const tiers: readonly PlatformTier[] = ["free", "developer", "business", "professional", "enterprise"];
  expect(tiers.map((tier) => granted(tier).buckets)).toEqual(
    [5, 10, 50, 100, 200].map((rate) => [{ bucket: "enhanced:acc_1", requestsPerSecond: rate, burst: 2 * rate }]),
  );
});

test("a key's own rate of the enhanced API counts where it is smaller, and beside the account's", () => {
  expect(granted("business", { rate: 7 }).buckets).toEqual([
    { bucket: "enhanced:key_1", requestsPerSecond: 7, burst: 14 },
    { bucket: "enhanced:acc_1", requestsPerSecond: 50, burst: 100 },
  ]);
  expect(granted("free", { rate: 7 }).buckets).toEqual([{ bucket: "enhanced:acc_1", requestsPerSecond: 5, burst: 10 }]);
});

test("access to the enhanced API is what the key was made with", () => {
  expect([granted("free").isAllowed, granted("enterprise", { enhanced: false }).isAllowed]).toEqual([true, false]);
});
