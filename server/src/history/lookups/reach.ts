import { SluiceError } from "@sluice/contract/errors";
import { historyDays, type Network, type PlatformTier } from "@sluice/contract/tiers";
import type { Clock } from "@sluice/lib";
import type { ChainReads, SlotWindow } from "../../ledger/index.ts";

/** The range of a list as its caller states it; slots and moments are both allowed, and all must hold. */
export interface StatedRange {
  readonly fromSlot: bigint | null;
  readonly toSlot: bigint | null;
  /** Unix milliseconds; `untilMs` is the first moment that no longer counts. */
  readonly sinceMs: number | null;
  readonly untilMs: number | null;
}

export interface ReachDependencies {
  readonly chain: Pick<ChainReads, "firstSlotSince">;
  readonly clock: Pick<Clock, "now">;
  /** The moment from which the ledger keeps all transactions, Unix milliseconds; null where that is for ever. */
  readonly keptSince: () => number | null;
}

const dayMs = 86_400_000;
const slotMax = 2n ** 64n - 1n;
/** The clocks of a caller, of a chain and of this server may differ by so much. */
const slackMs = 60_000;

/** The window of a list, and the moment from which its caller sees the history where the range begins before it. */
export interface Reach {
  /** Null where nothing is in it. */
  readonly window: SlotWindow | null;
  /** Unix milliseconds; null where the caller sees all of the range. */
  readonly dataSinceMs: number | null;
}

/** The moment from which a tier sees the history, Unix milliseconds; null for all of it. */
export function seenSinceMs(tier: PlatformTier, nowMs: number): number | null {
  const days = historyDays[tier];
  return days === null ? null : nowMs - days * dayMs;
}

/** @throws {SluiceError} TIER_REQUIRED, always */
export function refuseTier(tier: PlatformTier): never {
  const days = historyDays[tier];
  throw new SluiceError("TIER_REQUIRED", {
    message: `The history of the last ${days} days is included in the tier ${tier}; every paid tier sees all of it`,
    details: { history_days: days },
  });
}

/**
 * The slots of a range that a tier sees. A range that begins openly begins where the tier's history does.
 *
 * @throws {SluiceError} TIER_REQUIRED where the caller names what is older
 */
export async function reachOf(
  { network, tier, range }: { readonly network: Network; readonly tier: PlatformTier; readonly range: StatedRange },
  { chain, clock, keptSince }: ReachDependencies,
): Promise<Reach> {
  const nowMs = clock.now();
  const seenMs = seenSinceMs(tier, nowMs);
  const { fromSlot, toSlot, sinceMs, untilMs } = range;
  const isBefore = (moment: number | null): boolean => moment !== null && seenMs !== null && moment < seenMs - slackMs;
  if (isBefore(sinceMs) || isBefore(untilMs)) refuseTier(tier);
  const firstAt = (ms: number): Promise<bigint | null> =>
    chain.firstSlotSince(network, BigInt(Math.max(0, Math.ceil(ms / 1_000))));
  const seenFrom = seenMs === null ? 0n : await firstAt(seenMs);
  // Where nothing of the tier's time is held, every slot that is named is older or not there yet.
  const isOlder = (slot: bigint | null): boolean => slot !== null && seenFrom !== null && slot < seenFrom;
  if (isOlder(fromSlot) || isOlder(toSlot)) refuseTier(tier);
  const since = sinceMs === null ? 0n : await firstAt(sinceMs);
  const until = untilMs === null ? null : await firstAt(untilMs);
  const beginsOpen = fromSlot === null && sinceMs === null;
  const bounds = [beginsOpen ? seenMs : null, fromSlot === null ? keptBefore(keptSince(), sinceMs) : null];
  const dataSinceMs = bounds.reduce(
    (one, other) => (one === null || (other !== null && other > one) ? other : one),
    null,
  );
  if (seenFrom === null || since === null) return { window: null, dataSinceMs };
  const from = [fromSlot ?? 0n, seenFrom, since].reduce(greatest);
  const to = [toSlot ?? slotMax, until === null ? slotMax : until - 1n].reduce(least);
  return { window: from > to ? null : { from, to }, dataSinceMs };
}

/** The moment from which rows are kept, where a range that begins at `sinceMs` reaches back before it. */
const keptBefore = (keptMs: number | null, sinceMs: number | null): number | null =>
  keptMs !== null && (sinceMs === null || sinceMs < keptMs) ? keptMs : null;

const greatest = (one: bigint, other: bigint): bigint => (one > other ? one : other);
const least = (one: bigint, other: bigint): bigint => (one < other ? one : other);
