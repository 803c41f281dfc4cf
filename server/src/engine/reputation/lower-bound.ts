/** The standard normal distribution has 5% of its mass above this. */
const z = 1.644_853_626_951_472_2;

/**
 * The one-sided 5% lower bound of a probability by Wilson's score interval: given `successes` of `trials`, a lower
 * probability would have shown itself so well in only one case of twenty. 0 without trials. Both may be fractions, since
 * old outcomes weigh less; a success raises the bound and a failure lowers it, whatever was before.
 * Source: E. B. Wilson, JASA 22 (1927).
 */
export function lowerBound(successes: number, trials: number): number {
  if (!(trials > 0)) return 0;
  const share = Math.min(1, Math.max(0, successes / trials));
  const spread = z * Math.sqrt((share * (1 - share) + (z * z) / (4 * trials)) / trials);
  return Math.max(0, (share + (z * z) / (2 * trials) - spread) / (1 + (z * z) / trials));
}
