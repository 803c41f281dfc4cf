/** A histogram of a server's metrics, whose quantiles lie within its buckets. */
export class Histogram {
  /** Upper bounds, rising, with how many values are not above. */
  readonly #buckets: readonly (readonly [bound: number, count: number])[];

  private constructor(buckets: readonly (readonly [number, number])[]) {
    this.#buckets = buckets;
  }

  /** Summed over its labels. */
  static parse(text: string, name: string): Histogram {
    const counts = new Map<number, number>();
    for (const [, bound = "", count] of text.matchAll(
      new RegExp(`^${name}_bucket\\{.*le="([^"]+)".*\\} (\\S+)$`, "gm"),
    )) {
      const upper = bound === "+Inf" ? Number.POSITIVE_INFINITY : Number(bound);
      counts.set(upper, (counts.get(upper) ?? 0) + Number(count));
    }
    return new Histogram([...counts].sort(([one], [other]) => one - other));
  }

  /** What was added since. */
  since(before: Histogram): Histogram {
    const earlier = new Map(before.#buckets);
    return new Histogram(this.#buckets.map(([bound, count]) => [bound, count - (earlier.get(bound) ?? 0)]));
  }

  /** Between the bounds of its bucket in proportion; NaN without values. */
  quantile(share: number): number {
    const wanted = (this.#buckets.at(-1)?.[1] ?? 0) * share;
    let [below, countBelow] = [0, 0];
    for (const [bound, count] of this.#buckets) {
      if (count >= wanted && count > countBelow)
        return bound === Number.POSITIVE_INFINITY
          ? below
          : below + ((bound - below) * (wanted - countBelow)) / (count - countBelow);
      [below, countBelow] = [bound, count];
    }
    return Number.NaN;
  }
}
