import type { YellowstoneTierLimits } from "@sluice/contract/yellowstone";
import type { FilterLimits } from "@sluice/geyser";

/** What a tier's filters may be. */
export function filterLimitsOf(tier: YellowstoneTierLimits): FilterLimits {
  const { filters: max, addresses, dataSlices: dataSliceMax, cuckooFilterBytes: cuckooBytesMax, any } = tier;
  return {
    nameBytesMax: tier.nameBytes,
    accounts: {
      max,
      any,
      accountMax: addresses,
      accountReject: [],
      ownerMax: addresses,
      ownerReject: [],
      dataSliceMax,
      cuckooBytesMax,
    },
    slots: { max },
    transactions: {
      max,
      any,
      includeMax: addresses,
      includeReject: [],
      excludeMax: addresses,
      requiredMax: addresses,
      cuckooBytesMax,
    },
    blocks: {
      max,
      includeMax: addresses,
      includeAny: any,
      includeReject: [],
      includeTransactions: true,
      includeAccounts: true,
      includeEntries: true,
      cuckooBytesMax,
    },
    blocksMeta: { max },
    entries: { max },
  };
}
