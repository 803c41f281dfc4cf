import { engineLimits } from "@sluice/contract/engine";
import { maxU64 } from "@sluice/wire/identifiers";

/** The floor looks at this many blocks (decisions: Block engine, tip). */
const computeBlocksMax = 20;

interface Use {
  /** Units of the whole block, and of our bundles in it. */
  readonly all: number;
  readonly bundles: number;
}

/**
 * How much of the bundle compute of the last 20 blocks bundles used. The bundle compute of a block is what bundles could
 * have used of it: the most units that a block may have, less those of the transactions that came into it by other ways.
 * That most is the contract's, or the largest block seen where the chain evidently takes more. Blocks that have not been
 * seen yet count as unused.
 */
export class BundleCompute {
  readonly #blocks: Use[] = [];

  add(all: number, bundles: number): void {
    this.#blocks.push({ all: Math.max(all, bundles), bundles });
    if (this.#blocks.length > computeBlocksMax) this.#blocks.shift();
  }

  /** 0 to 1. Also 0 where other transactions left no room at all, since no bundle competed for any then. */
  get utilization(): number {
    const most = this.#blocks.reduce<number>((high, { all }) => Math.max(high, all), engineLimits.computeUnitsBlock);
    let used = 0;
    let room = (computeBlocksMax - this.#blocks.length) * most;
    for (const { all, bundles } of this.#blocks) {
      used += bundles;
      room += most - (all - bundles);
    }
    return room > 0 ? used / room : 0;
  }
}

/** Blocks whose tips count as landed lately: the life of a blockhash, a minute of a chain with slots of 400 ms. */
const tipBlocksMax = 150;
/** Tips that are kept; the oldest blocks go first, and of a single block no more than these are looked at. */
const tipsMax = 16_384;
/** The median's average forgets half of what it knew in as many blocks. */
const averageHalfLifeBlocks = 150;
const averageStep = 1 - 0.5 ** (1 / averageHalfLifeBlocks);

/** The tips of the last blocks, and their distribution. Lamports. */
export class LandedTips {
  readonly #blocks: BigUint64Array[] = [];
  #count = 0;
  #sorted = new BigUint64Array(0);
  #averageMedian: number | null;

  constructor(averageMedian: number | null) {
    this.#averageMedian = averageMedian;
  }

  /** The moving average of the median, over blocks; null before any tip has landed. */
  get averageMedian(): number | null {
    return this.#averageMedian;
  }

  /** Takes in one block's tips, one for each transaction that paid any. */
  add(tips: readonly bigint[]): void {
    const block = BigUint64Array.from(tips.slice(0, tipsMax).filter((tip) => tip > 0n && tip <= maxU64));
    this.#blocks.push(block);
    this.#count += block.length;
    while (this.#blocks.length > tipBlocksMax || this.#count > tipsMax)
      this.#count -= this.#blocks.shift()?.length ?? 0;
    const sorted = new BigUint64Array(this.#count);
    let at = 0;
    for (const each of this.#blocks) {
      sorted.set(each, at);
      at += each.length;
    }
    this.#sorted = sorted.sort();
    const median = this.percentile(50);
    if (median === null) return;
    const before = this.#averageMedian ?? Number(median);
    this.#averageMedian = before + (Number(median) - before) * averageStep;
  }

  /** The least tip that so many of a hundred do not exceed (nearest rank); null when none landed lately. */
  percentile(percent: number): bigint | null {
    const rank = Math.ceil((percent / 100) * this.#sorted.length);
    return this.#sorted[Math.max(0, rank - 1)] ?? null;
  }
}

const hourMs = 3_600_000;
/** The average goes back this far. */
const hoursKept = 24;

/** An hour's share of the average: which hour since 1970, the mean floor in it, and for how long it was known. */
export interface FloorHour {
  readonly hour: number;
  /** Lamports. */
  mean: number;
  /** Milliseconds. */
  known: number;
}

/**
 * The mean of the floor over the last 24 hours, weighted by time. It is kept by the hour, so that it fits into a small
 * value that survives a restart; the hour that is 24 hours old counts with the part of it that lies within.
 */
export class FloorAverage {
  readonly #hours: FloorHour[];
  /** Until when the floor has been counted; null before the first time. */
  #until: number | null = null;

  constructor(hours: readonly FloorHour[] = []) {
    this.#hours = hours.map((each) => ({ ...each }));
  }

  get hours(): readonly FloorHour[] {
    return this.#hours;
  }

  /** The floor has been this one since the last call. The first call only sets the time; so does a clock that goes back. */
  hold(floor: bigint, now: number): void {
    const until = this.#until;
    this.#until = now;
    if (until === null || now <= until) return;
    let from = Math.max(until, now - hoursKept * hourMs);
    while (from < now) {
      const hour = Math.floor(from / hourMs);
      const to = Math.min(now, (hour + 1) * hourMs);
      this.#add(hour, Number(floor), to - from);
      from = to;
    }
    const oldest = Math.floor(now / hourMs) - hoursKept;
    while ((this.#hours[0]?.hour ?? oldest) < oldest) this.#hours.shift();
  }

  #add(hour: number, floor: number, duration: number): void {
    const last = this.#hours.at(-1);
    if (last !== undefined && last.hour >= hour) {
      // A clock that was set back adds to the newest hour, so that hours stay in order.
      last.mean += ((floor - last.mean) * duration) / (last.known + duration);
      last.known = Math.min(hourMs, last.known + duration);
    } else this.#hours.push({ hour, mean: floor, known: duration });
  }

  /** Lamports; null before any time has passed. */
  mean(now: number): number | null {
    const begin = now - hoursKept * hourMs;
    let sum = 0;
    let known = 0;
    for (const hour of this.#hours) {
      const inside = Math.min(1, Math.max(0, ((hour.hour + 1) * hourMs - begin) / hourMs));
      sum += hour.mean * hour.known * inside;
      known += hour.known * inside;
    }
    return known > 0 ? sum / known : null;
  }
}
