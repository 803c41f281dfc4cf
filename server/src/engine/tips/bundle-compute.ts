import { engineLimits } from "@sluice/contract/engine";

/** The floor looks at this many blocks (decisions: Block engine, tip). */
const blocksMax = 20;

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
    if (this.#blocks.length > blocksMax) this.#blocks.shift();
  }

  /** 0 to 1. Also 0 where other transactions left no room at all, since no bundle competed for any then. */
  get utilization(): number {
    const most = this.#blocks.reduce<number>((high, { all }) => Math.max(high, all), engineLimits.computeUnitsBlock);
    let used = 0;
    let room = (blocksMax - this.#blocks.length) * most;
    for (const { all, bundles } of this.#blocks) {
      used += bundles;
      room += most - (all - bundles);
    }
    return room > 0 ? used / room : 0;
  }
}
