import { readI64, readU64 } from "../bytes.ts";

/** The sysvars that say where a chain is in time. Each decoder gives null for anything else. */

/** The clock of a slot. Times in Unix seconds, as the chain's votes have them. Source: solana-clock, `Clock`. */
export interface ChainClock {
  readonly slot: bigint;
  readonly epochStartTimestamp: bigint;
  readonly epoch: bigint;
  readonly unixTimestamp: bigint;
}

/**
 * Decodes the clock: slot at 0, start of the epoch at 8, epoch at 16, time at 32.
 *
 * @returns null unless there are exactly 40 bytes
 */
export function decodeClock(data: Uint8Array): ChainClock | null {
  if (data.length !== 40) return null;
  return {
    slot: readU64(data, 0),
    epochStartTimestamp: readI64(data, 8),
    epoch: readU64(data, 16),
    unixTimestamp: readI64(data, 32),
  };
}

/** How slots are divided into epochs. Source: solana-epoch-schedule, `EpochSchedule`. */
export interface EpochSchedule {
  readonly slotsPerEpoch: bigint;
  /** Epochs before it have 32 slots, then twice as many each. */
  readonly firstNormalEpoch: bigint;
  readonly firstNormalSlot: bigint;
}

/**
 * Decodes the schedule: slots of an epoch at 0, first epoch of that length at 17 and its first slot at 25.
 *
 * @returns null unless there are exactly 33 bytes, or an epoch has no slot
 */
export function decodeEpochSchedule(data: Uint8Array): EpochSchedule | null {
  if (data.length !== 33 || readU64(data, 0) === 0n) return null;
  return { slotsPerEpoch: readU64(data, 0), firstNormalEpoch: readU64(data, 17), firstNormalSlot: readU64(data, 25) };
}

const firstWarmupSlots = 32n;

/** The slots of an epoch. */
export function slotsOfEpoch(schedule: EpochSchedule, epoch: bigint): bigint {
  return epoch >= schedule.firstNormalEpoch ? schedule.slotsPerEpoch : firstWarmupSlots << epoch;
}

/** The first slot of an epoch, whether or not a block is in it. */
export function firstSlotOfEpoch(schedule: EpochSchedule, epoch: bigint): bigint {
  const { slotsPerEpoch, firstNormalEpoch, firstNormalSlot } = schedule;
  if (epoch < firstNormalEpoch) return (firstWarmupSlots << epoch) - firstWarmupSlots;
  return (epoch - firstNormalEpoch) * slotsPerEpoch + firstNormalSlot;
}
