import type { Random } from "@sluice/lib";

/** What happens in one schedule. */
export interface StreamsPlan {
  readonly slots: number;
  readonly forks: number;
  /** Blocks in a row that nobody has. */
  readonly unavailable: number;
  /** Share of blocks that come late. */
  readonly late: number;
  readonly hosts: number;
  readonly clients: number;
  readonly cuts: number;
  readonly kills: number;
  readonly drains: number;
  readonly stalls: number;
  readonly slow: number;
  readonly changes: number;
  readonly revocations: number;
  readonly trims: number;
  /** Whether the ledger holds what the log no longer does. */
  readonly hasPast: boolean;
  readonly isReplaced: boolean;
  /** Milliseconds that a write takes at most. */
  readonly writeMs: number;
}

export function drawStreamsPlan(random: Random): StreamsPlan {
  const pick = <T>(...of: readonly T[]): T => of[Math.floor(random.next() * of.length)] as T;
  return {
    slots: pick(25, 35, 50),
    forks: pick(0, 1, 2, 3),
    unavailable: random.next() < 0.2 ? pick(1, 3) : 0,
    late: pick(0, 0.1, 0.3),
    hosts: pick(2, 2, 3),
    clients: pick(2, 3, 4),
    cuts: pick(2, 5, 12),
    kills: pick(0, 1, 2),
    drains: pick(0, 1, 2),
    stalls: random.next() < 0.2 ? 1 : 0,
    slow: pick(0, 0, 1, 2),
    changes: pick(0, 2, 6),
    revocations: random.next() < 0.2 ? 1 : 0,
    trims: random.next() < 0.4 ? pick(1, 3) : 0,
    hasPast: random.next() < 0.5,
    isReplaced: random.next() < 0.1,
    writeMs: pick(0, 0, 100, 400),
  };
}
