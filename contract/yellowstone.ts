import type { PlatformTier } from "./tiers.ts";

/** What the filters of a Yellowstone stream may be in a tier. */
export interface YellowstoneTierLimits {
  /** Filters of each kind (accounts, slots, transactions, transactions_status, blocks, blocks_meta, entry). */
  readonly filters: number;
  /** Addresses of each list of a filter. */
  readonly addresses: number;
  readonly dataSlices: number;
  /** Bytes of a filter's name. */
  readonly nameBytes: number;
  readonly cuckooFilterBytes: number;
  /** Whether a filter may match everything. */
  readonly any: boolean;
}

const nameBytes = 128;
const mebibyte = 1024 ** 2;

/** The lowest tier that has Yellowstone gRPC. Source: specification, node platform. */
export const yellowstoneTierMin: PlatformTier = "professional";

/** By tier; those below `yellowstoneTierMin` are refused before their filters are read. */
export const yellowstoneLimits: Readonly<Record<PlatformTier, YellowstoneTierLimits>> = {
  free: limits(0, 0, 0),
  developer: limits(0, 0, 0),
  business: limits(0, 0, 0),
  professional: limits(50, 10_000, 8),
  enterprise: limits(200, 100_000, 32),
};

function limits(filters: number, addresses: number, dataSlices: number): YellowstoneTierLimits {
  return { filters, addresses, dataSlices, nameBytes, cuckooFilterBytes: 4 * mebibyte, any: true };
}

/** Bounds that every client can meet; sizes in bytes, times in milliseconds. */
export const yellowstoneBounds = {
  /** One request. */
  requestBytes: 4 * mebibyte,
  /** Of one stream. */
  requestsPerSecond: 50,
  /** What may wait for a client when the next slot comes. */
  waitingBytes: mebibyte,
  /** A stream of which nothing is taken for so long ends. */
  stalledMs: 60_000,
  /** A client that has not taken the end of its stream by then is cut off. */
  endMs: 5_000,
  pingMs: 10_000,
} as const;
