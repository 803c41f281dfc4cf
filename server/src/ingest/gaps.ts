import type { ChainLog, Hole, LogRecord } from "../log/index.ts";

type GapRecord = Extract<LogRecord, { kind: "gap" }>;

interface OpenHole {
  readonly hole: Hole;
  readonly sinceMs: number;
  isTold: boolean;
}

export interface GapsOptions {
  /** GAP_AFTER, in milliseconds. */
  readonly gapAfterMs: number;
}

export interface GapsDependencies {
  readonly log: Pick<ChainLog, "holes" | "reached">;
  /** A hole that has not become smaller for `warnAfterMs`; told once. */
  readonly onUnavailable: (hole: Hole) => void;
}

/** After this, operators are told of a block that no node gives. */
const warnAfterMs = 30_000;
/** Reasons that the log shows. */
export const gapReasons = { unavailable: "unavailable", skipped: "skipped by an operator" } as const;

/**
 * Holes that nothing fills. A hole is looked at by what is right above and below it: as long as blocks arrive in it, it
 * changes and its time begins anew. After `gapAfterMs` it becomes a gap, if what is below it is final: what a follower
 * was told before a gap cannot be undone after it.
 */
export class Gaps {
  readonly #options: GapsOptions;
  readonly #dependencies: GapsDependencies;
  #open = new Map<string, OpenHole>();

  constructor(options: GapsOptions, dependencies: GapsDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
  }

  /** Slots in holes that have been open for long enough to be told. */
  get unavailableSlots(): bigint {
    let slots = 0n;
    for (const { hole, isTold } of this.#open.values()) {
      if (isTold && hole.below !== null) slots += hole.missing.slot - hole.below.slot;
    }
    return slots;
  }

  /** The gaps that are to be recorded now. */
  due(nowMs: number): GapRecord[] {
    const before = this.#open;
    this.#open = new Map();
    const due: GapRecord[] = [];
    for (const hole of this.#dependencies.log.holes()) {
      const key = `${hole.below?.blockhash} ${hole.above.blockhash}`;
      const open = before.get(key) ?? { hole, sinceMs: nowMs, isTold: false };
      this.#open.set(key, open);
      const ageMs = nowMs - open.sinceMs;
      if (ageMs >= warnAfterMs && !open.isTold) {
        open.isTold = true;
        this.#dependencies.onUnavailable(hole);
      }
      if (ageMs < this.#options.gapAfterMs || hole.below === null) continue;
      // The lowest hole is the first; what is below the others cannot be final before it is filled.
      if (this.#dependencies.log.reached("finalized")?.blockhash !== hole.below.blockhash) continue;
      const from = (hole.below.slot + 1n) as typeof hole.below.slot;
      due.push({ kind: "gap", from, to: hole.missing.slot, reason: gapReasons.unavailable });
    }
    return due;
  }
}
