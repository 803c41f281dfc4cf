import { type Asset, marketAssets } from "../model/assets.ts";
import { exponential, seedOf } from "../model/hash.ts";
import { blockSeconds, Path } from "./path.ts";
import { Recent } from "./recent.ts";

/** Blocks of 33 KB each, of all assets and their paths: a day of 15 series is 330 blocks. */
const blocksMax = 512;

/** What every asset is worth in US dollars at every second. Exchanges only add their own noise to it. */
export class Truth {
  readonly #common: Path;
  readonly #own: readonly Path[];
  readonly #blocks = new Recent<Float64Array>(blocksMax);

  constructor(options: { readonly seed: string }) {
    this.#common = new Path({ seed: seedOf(`${options.seed}/common`), deviationPerYear: 1 });
    this.#own = marketAssets.map(
      ({ symbol }) => new Path({ seed: seedOf(`${options.seed}/asset/${symbol}`), deviationPerYear: 1 }),
    );
  }

  /** US dollars at a whole Unix second. */
  usd(asset: number, second: number): number {
    return this.block(asset, Math.floor(second / blockSeconds))[second % blockSeconds] ?? 0;
  }

  /** The prices of a whole block, for those who walk through it. `asset` is an index of ASSETS. */
  block(asset: number, index: number): Float64Array {
    return this.#blocks.get(index * 64 + asset, () => {
      const of = marketAssets[asset];
      const own = this.#own[asset];
      if (of === undefined || own === undefined) throw new RangeError(`no asset ${asset}`);
      return price(of, this.#commonBlock(index), own.block(index));
    });
  }

  #commonBlock(index: number): Float64Array {
    return this.#blocks.get(index * 64 + 63, () => this.#common.block(index));
  }
}

/** Log-normal around the asset's price of the table, with the median there. */
function price(asset: Asset, common: Float64Array, own: Float64Array): Float64Array {
  const shared = asset.deviationPerYear * asset.common;
  const alone = asset.deviationPerYear * Math.sqrt(1 - asset.common * asset.common);
  const prices = new Float64Array(common.length);
  for (let at = 0; at < prices.length; at += 1) {
    prices[at] = asset.usd * exponential(shared * (common[at] ?? 0) + alone * (own[at] ?? 0));
  }
  return prices;
}
