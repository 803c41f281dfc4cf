/** Tiers with this update frequency, or a finer one, get the newest price. */
const newestSeconds = 1;

export const isNewest = (frequencySeconds: number): boolean => frequencySeconds <= newestSeconds;

/**
 * Unix milliseconds before which a price or a part of a history was agreed that a tier of this update frequency is
 * served at `nowMs`: the beginning of the present window, from the full minute on; the next millisecond for tiers that
 * get the newest. Every endpoint obeys it, since the newest point of a history is a price as well.
 */
export function visibleEndMs(nowMs: number, frequencySeconds: number): number {
  if (isNewest(frequencySeconds)) return Math.floor(nowMs) + 1;
  const windowMs = frequencySeconds * 1_000;
  return Math.floor(nowMs / windowMs) * windowMs;
}
