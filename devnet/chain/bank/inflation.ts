/** The schedule of a Solana genesis: 8% falling by 15% a year to 1.5%. Source: solana-inflation, Inflation::default. */
export const INFLATION = {
  initial: 0.08,
  terminal: 0.015,
  taper: 0.15,
  foundation: 0.05,
  foundationTerm: 7.0,
} as const;

const SECONDS_PER_YEAR = 31_556_926;

/** Years that a number of slots takes. */
export function slotYears(slots: bigint, slotMs: number): number {
  return (Number(slots) * slotMs) / 1_000 / SECONDS_PER_YEAR;
}

/** Yearly rates `years` after genesis. */
export function inflationRate(years: number): { total: number; validator: number; foundation: number } {
  const tapered = INFLATION.initial * (1 - INFLATION.taper) ** years;
  const total = Math.max(tapered, INFLATION.terminal);
  const foundation = years < INFLATION.foundationTerm ? total * INFLATION.foundation : 0;
  return { total, validator: total - foundation, foundation };
}
