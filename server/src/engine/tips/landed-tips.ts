import { maxU64 } from "@sluice/wire/identifiers";

/** Blocks whose tips count as landed lately: the life of a blockhash, a minute of a chain with slots of 400 ms. */
const blocksMax = 150;
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
    while (this.#blocks.length > blocksMax || this.#count > tipsMax) this.#count -= this.#blocks.shift()?.length ?? 0;
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
