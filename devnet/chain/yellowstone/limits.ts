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
  };
  readonly blocks: {
    readonly max: number;
    readonly includeMax: number;
    readonly includeAny: boolean;
    readonly includeReject: readonly string[];
    readonly includeTransactions: boolean;
    readonly includeAccounts: boolean;
    readonly includeEntries: boolean;
  };
  readonly blocksMeta: { readonly max: number };
  readonly entries: { readonly max: number };
}

export interface YellowstoneLimits {
  readonly filters: FilterLimits;
  /** Slots that `from_slot` may go back; 0 has no replay. */
  readonly replaySlots: number;
  /** Updates that may wait for a slow client before its stream ends. */
  readonly updatesMax: number;
  /** Streams of one subscriber. */
  readonly streamsMax: number;
}

export const defaultLimits: YellowstoneLimits = {
  filters: {
    nameBytesMax: 128,
    accounts: {
      max: Infinity,
      any: true,
      accountMax: Infinity,
      accountReject: [],
      ownerMax: Infinity,
      ownerReject: [],
      dataSliceMax: Infinity,
    },
    slots: { max: Infinity },
    transactions: {
      max: Infinity,
      any: true,
      includeMax: Infinity,
      includeReject: [],
      excludeMax: Infinity,
      requiredMax: Infinity,
    },
    blocks: {
      max: Infinity,
      includeMax: Infinity,
      includeAny: true,
      includeReject: [],
      includeTransactions: true,
      includeAccounts: true,
      includeEntries: true,
    },
    blocksMeta: { max: Infinity },
    entries: { max: Infinity },
  },
  replaySlots: 150,
  updatesMax: 250_000,
  streamsMax: 1_000,
};
