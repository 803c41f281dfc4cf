import type { Random } from "./random.ts";

/**
 * Waits in milliseconds: the first is about `baseMs`, each further one `factor` (2) times longer, none over `maxMs`.
 */
export interface BackoffOptions {
  readonly baseMs: number;
  readonly maxMs: number;
  readonly factor?: number;
}

/**
 * The wait before try number `attempt` (0 is the first retry), whole milliseconds. Half of it is fixed and half random,
 * so that many clients that lost the same server do not come back in step, and none comes back at once.
 */
export function backoffDelayMs(attempt: number, options: BackoffOptions, random: Random): number {
  const factor = options.factor ?? 2;
  const ceiling = Math.min(options.maxMs, options.baseMs * factor ** Math.max(0, attempt));
  return Math.round(ceiling / 2 + (ceiling / 2) * random.next());
}
