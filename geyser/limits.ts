/** What a stream's filters may be. Source of the defaults: yellowstone-grpc, config.rs; no bound is Infinity. */
export interface FilterLimits {
  readonly nameBytesMax: number;
  readonly accounts: {
    readonly max: number;
    /** Whether a filter may match every account. */
    readonly any: boolean;
    readonly accountMax: number;
    readonly accountReject: readonly string[];
    readonly ownerMax: number;
    readonly ownerReject: readonly string[];
    readonly dataSliceMax: number;
    /** Bytes of a cuckoo filter. */
    readonly cuckooBytesMax: number;
  };
  readonly slots: { readonly max: number };
  /** Of each of the two kinds. */
  readonly transactions: {
    readonly max: number;
    readonly any: boolean;
    readonly includeMax: number;
    readonly includeReject: readonly string[];
    readonly excludeMax: number;
    readonly requiredMax: number;
    readonly cuckooBytesMax: number;
  };
  readonly blocks: {
    readonly max: number;
    readonly includeMax: number;
    readonly includeAny: boolean;
    readonly includeReject: readonly string[];
    readonly includeTransactions: boolean;
    readonly includeAccounts: boolean;
    readonly includeEntries: boolean;
    readonly cuckooBytesMax: number;
  };
  readonly blocksMeta: { readonly max: number };
  readonly entries: { readonly max: number };
}

/** What a server allows that is not told otherwise. */
export const defaultFilterLimits: FilterLimits = {
  nameBytesMax: 128,
  accounts: {
    max: Infinity,
    any: true,
    accountMax: Infinity,
    accountReject: [],
    ownerMax: Infinity,
    ownerReject: [],
    dataSliceMax: Infinity,
    cuckooBytesMax: Infinity,
  },
  slots: { max: Infinity },
  transactions: {
    max: Infinity,
    any: true,
    includeMax: Infinity,
    includeReject: [],
    excludeMax: Infinity,
    requiredMax: Infinity,
    cuckooBytesMax: Infinity,
  },
  blocks: {
    max: Infinity,
    includeMax: Infinity,
    includeAny: true,
    includeReject: [],
    includeTransactions: true,
    includeAccounts: true,
    includeEntries: true,
    cuckooBytesMax: Infinity,
  },
  blocksMeta: { max: Infinity },
  entries: { max: Infinity },
};
