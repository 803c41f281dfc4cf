/** Smallest and largest number of credits that are leased ahead of need. */
export interface LeaseBounds {
  readonly blockMin: number;
  /** Also the most that a crash of this process can over-charge an account, beside what is being waited for. */
  readonly blockMax: number;
}

/** A lease that is spent faster than this is followed by a larger one. */
const spentQuicklyMs = 2_000;
/** A lease that lasted longer than this is followed by a smaller one. */
const spentSlowlyMs = 15_000;
/** At most one part in this many of what is left is leased ahead, so that the last credits are left for all processes. */
const remainingParts = 8n;

/** The next block by how long the last one lasted: doubled while it is gone at once, halved while it lies about. */
export function nextBlock(block: number, lastedMs: number, bounds: LeaseBounds): number {
  if (lastedMs < spentQuicklyMs) return Math.min(block * 2, bounds.blockMax);
  if (lastedMs > spentSlowlyMs) return Math.max(Math.floor(block / 2), bounds.blockMin);
  return block;
}

/**
 * How many credits to ask the store for: the block, or less where little is left of the allowance, and never less than
 * what is being waited for. Near the end leases shrink to single credits, so that none is stranded in one process while
 * another refuses.
 */
export function leaseSize(block: number, needed: number, remaining: bigint): { want: number; isScarce: boolean } {
  const share = Number(remaining / remainingParts);
  const ahead = Math.min(block, Math.max(1, share));
  return { want: Math.max(needed, ahead), isScarce: share < block };
}
