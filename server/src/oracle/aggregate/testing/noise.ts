import type { Random } from "@sluice/lib";

/** Draws of mean 0, each by its own law. */
export type Noise = (random: Random) => number;

/** Standard deviation 1 (Box and Muller). */
export const normal: Noise = (random) =>
  Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next());

/** Mean absolute deviation 1: tails that fall as e^-x. */
export const laplace: Noise = (random) => {
  const share = random.next() - 0.5;
  return -Math.sign(share) * Math.log(1 - 2 * Math.abs(share));
};

/** Student's t with five degrees of freedom: a draw beyond five deviations in two hundred. */
export const student: Noise = (random) => {
  let squares = 0;
  for (let index = 0; index < 5; index += 1) squares += normal(random) ** 2;
  return normal(random) / Math.sqrt(squares / 5);
};

/** One draw in ten is five times as wide. */
export const contaminated: Noise = (random) => normal(random) * (random.next() < 0.1 ? 5 : 1);
