import type { EpochSchedule } from "./leader-schedule.ts";

/** The schedule of a Solana genesis: 8% falling by 15% a year to 1.5%. Source: solana-inflation, Inflation::default. */
export const inflationSchedule = {
  initial: 0.08,
  terminal: 0.015,
  taper: 0.15,
  foundation: 0.05,
  foundationTerm: 7.0,
} as const;

const secondsPerYear = 31_556_926;

/** Years that a number of slots takes. */
export function slotYears(slots: bigint, slotMs: number): number {
  return (Number(slots) * slotMs) / 1_000 / secondsPerYear;
}

/** Yearly rates `years` after genesis. */
export function inflationRate(years: number): { total: number; validator: number; foundation: number } {
  const tapered = inflationSchedule.initial * (1 - inflationSchedule.taper) ** years;
  const total = Math.max(tapered, inflationSchedule.terminal);
  const foundation = years < inflationSchedule.foundationTerm ? total * inflationSchedule.foundation : 0;
  return { total, validator: total - foundation, foundation };
}

/** A chain whose clock stands still pays as one of this pace. */
const nominalSlotMs = 400;

/** Lamports that inflation pays to validators and their stake for an epoch. */
export function epochInflation(
  ended: { readonly epoch: bigint; readonly capitalization: bigint },
  epochs: EpochSchedule,
  slotMs: number,
): bigint {
  const pace = slotMs === 0 ? nominalSlotMs : slotMs;
  const { validator } = inflationRate(slotYears(epochs.firstSlot(ended.epoch), pace));
  // In doubles, as the runtime has it.
  return BigInt(Math.floor(validator * Number(ended.capitalization) * slotYears(epochs.slotsPerEpoch, pace)));
}
