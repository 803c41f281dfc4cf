import { engineLimits } from "@sluice/contract/engine";
import { BackgroundTask, type Clock } from "@sluice/lib";
import { maxU64, parseU64, type Slot } from "@sluice/wire/identifiers";
import type { CursorStore } from "../../state/index.ts";
import type { TipFloorFigures } from "../model/service.ts";

/** Bundles that use more than this share of the bundle compute raise the floor. */
const fullAbove = 0.9;
/** A block moves the floor by at most one part in this many, 12.5%. */
const stepDivisor = 8n;
/**
 * Blocks are read again after a restart, but not so many slots back: a block that far below is of a chain begun anew.
 */
const readAgainSlotsMax = 512n;

/** What the floor learns of a confirmed block. */
export interface TippedBlock {
  readonly slot: Slot;
  /** Units of all its transactions, and of those that came in bundles of this engine. */
  readonly computeUnits: number;
  readonly bundleComputeUnits: number;
  /** Lamports that the tip accounts gained, for each transaction by which they gained any, from any sender. */
  readonly tips: readonly bigint[];
}

/**
 * The floor after one more block. While bundles fill what they may use it goes towards the 25th percentile of landed
 * tips, up or down; else it goes towards the minimum. Either way by at most an eighth of itself, and never below the
 * minimum. So it cannot only rise: without a fullness that lasts it comes back to the minimum, and while it lasts it
 * stops where a quarter of those who land pay no more.
 */
export function nextFloor(floor: bigint, bundleShare: number, quarter: bigint | null): bigint {
  const minimum = engineLimits.tipMinimum;
  const target = bundleShare > fullAbove && quarter !== null && quarter > minimum ? quarter : minimum;
  const step = floor / stepDivisor;
  if (target > floor) return target - floor < step ? target : floor + step;
  return floor - target < step ? target : floor - step;
}

/** What a restart must not forget, as text of at most 1,000 characters. */
interface Remembered {
  readonly slot: bigint;
  readonly floor: bigint;
  readonly averageMedian: number | null;
  readonly hours: readonly FloorHour[];
}

/** The tip floor, block by block. Pure: blocks and times are handed in. */
export class TipFloor {
  readonly #compute = new BlockCompute();
  readonly #landed: LandedTips;
  readonly #average: FloorAverage;
  #floor: bigint;
  #slot: bigint;

  /** `remembered` is what `write` gave; the floor begins anew at the minimum without it, or where it is damaged. */
  constructor(remembered: string | null = null) {
    const before = remembered === null ? null : read(remembered);
    this.#floor = before?.floor ?? engineLimits.tipMinimum;
    this.#slot = before?.slot ?? -1n;
    this.#landed = new LandedTips(before?.averageMedian ?? null);
    this.#average = new FloorAverage(before?.hours);
  }

  /** Lamports that a bundle must pay at least. */
  get floor(): bigint {
    return this.#floor;
  }

  /** Takes in a block, in order of slots; one that was seen before changes nothing. `now` in Unix milliseconds. */
  observe(block: TippedBlock, now: number): void {
    if (block.slot <= this.#slot && this.#slot - block.slot < readAgainSlotsMax) return;
    this.#slot = block.slot;
    this.#average.hold(this.#floor, now);
    this.#compute.add(block.computeUnits, block.bundleComputeUnits);
    this.#landed.add(block.tips);
    this.#floor = nextFloor(this.#floor, this.#compute.bundleShare, this.#landed.percentile(25));
  }

  figures(now: number): TipFloorFigures {
    this.#average.hold(this.#floor, now);
    const at = (percent: number): bigint => this.#landed.percentile(percent) ?? 0n;
    return {
      floor: this.#floor,
      average24h: BigInt(Math.round(this.#average.mean(now) ?? Number(this.#floor))),
      utilization: this.#compute.utilization,
      bundleShare: this.#compute.bundleShare,
      landedBlocks: tipBlocksMax,
      landedTips: this.#landed.count,
      landed: {
        p25: at(25),
        p50: at(50),
        p75: at(75),
        p95: at(95),
        p99: at(99),
        emaP50: BigInt(Math.round(this.#landed.averageMedian ?? 0)),
      },
      at: now,
    };
  }

  /** What the constructor takes after a restart: at most 1,000 characters. */
  write(now: number): string {
    this.#average.hold(this.#floor, now);
    const average = this.#landed.averageMedian;
    return JSON.stringify([
      1,
      this.#slot < 0n ? "" : this.#slot.toString(),
      this.#floor.toString(),
      average === null ? null : Math.round(average),
      this.#average.hours.map(({ hour, mean, known }) => [hour, Math.round(mean), Math.round(known)]),
    ]);
  }
}

const amount = (value: unknown): value is number => typeof value === "number" && value >= 0 && value < 2 ** 64;

function read(text: string): Remembered | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  if (!Array.isArray(value)) return null;
  const [version, slotText, floorText, averageMedian, rows]: unknown[] = value;
  const slot = slotText === "" ? -1n : parseU64(slotText);
  const floor = parseU64(floorText);
  if (version !== 1 || slot === null || floor === null || floor < engineLimits.tipMinimum) return null;
  if ((averageMedian !== null && !amount(averageMedian)) || !Array.isArray(rows)) return null;
  const hours: FloorHour[] = [];
  for (const row of rows) {
    const [hour, mean, known]: unknown[] = Array.isArray(row) ? row : [];
    if (!amount(hour) || !amount(mean) || !amount(known) || hour <= (hours.at(-1)?.hour ?? -1)) return null;
    hours.push({ hour, mean, known });
  }
  return { slot, floor, averageMedian, hours };
}

const name = "engine-tip-floor";
/** How often the floor is written. A kill loses the changes since; new blocks make up for them. */
const writeMs = 5_000;

export interface TipFloorStoreDependencies {
  readonly values: Pick<CursorStore, "get" | "set">;
  readonly clock: Clock;
  readonly retryableError: (what: string, error: unknown) => void;
}

/** The tip floor over restarts. */
export class TipFloorStore implements AsyncDisposable {
  readonly #dependencies: TipFloorStoreDependencies;
  readonly #floor: TipFloor;
  readonly #writing: BackgroundTask;
  #written: string;

  private constructor(remembered: string | null, dependencies: TipFloorStoreDependencies) {
    const { clock, retryableError } = dependencies;
    this.#dependencies = dependencies;
    this.#floor = new TipFloor(remembered);
    this.#written = remembered ?? "";
    this.#writing = new BackgroundTask(
      { everyMs: writeMs },
      { clock, work: () => this.#write(), onError: (error) => retryableError("tip floor", error) },
    );
  }

  static async open(dependencies: TipFloorStoreDependencies): Promise<TipFloorStore> {
    return new TipFloorStore(await dependencies.values.get(name), dependencies);
  }

  /** Lamports that a bundle must pay at least. */
  get floor(): bigint {
    return this.#floor.floor;
  }

  figures(): TipFloorFigures {
    return this.#floor.figures(this.#dependencies.clock.now());
  }

  observe(block: TippedBlock): void {
    this.#floor.observe(block, this.#dependencies.clock.now());
  }

  async #write(): Promise<void> {
    const text = this.#floor.write(this.#dependencies.clock.now());
    if (text === this.#written) return;
    await this.#dependencies.values.set(name, text);
    this.#written = text;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#writing[Symbol.asyncDispose]();
    await this.#writing.run();
  }
}

/** The floor looks at this many blocks (decisions: Block engine, tip). */
const computeBlocksMax = 20;

interface Use {
  /** Units of the whole block, and of our bundles in it. */
  readonly all: number;
  readonly bundles: number;
}

/**
 * The compute of the last 20 blocks: how much of it was used by all, and how much of the bundle compute by bundles. The
 * bundle compute of a block is what bundles could have used of it: the most units that a block may have, less those of
 * the transactions that came into it by other ways. That most is the contract's, or the largest block seen where the
 * chain evidently takes more.
 */
export class BlockCompute {
  readonly #blocks: Use[] = [];

  add(all: number, bundles: number): void {
    this.#blocks.push({ all: Math.max(all, bundles), bundles });
    if (this.#blocks.length > computeBlocksMax) this.#blocks.shift();
  }

  /** The share of the blocks' units that was used, 0 to 1; 0 before the first block. */
  get utilization(): number {
    if (this.#blocks.length === 0) return 0;
    return this.#blocks.reduce((sum, { all }) => sum + all, 0) / (this.#blocks.length * this.#most);
  }

  get #most(): number {
    return this.#blocks.reduce<number>((high, { all }) => Math.max(high, all), engineLimits.computeUnitsBlock);
  }

  /**
   * The share of the bundle compute that bundles used, 0 to 1. Also 0 where other transactions left no room at all,
   * since no bundle competed for any then. Blocks that have not been seen yet count as unused.
   */
  get bundleShare(): number {
    const most = this.#most;
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
/** Tips that are kept; the oldest blocks go first, and of a single block no more than these are read. */
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

  /** Tips of the last blocks. */
  get count(): number {
    return this.#count;
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

  /**
   * The floor has been this one since the last call. The first call only sets the time; so does a clock that goes back.
   */
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
