/** Bucket bounds grow by a fifth from 0.1 ms to beyond a minute; a quantile is right to within that fifth. */
const firstMs = 0.1;
const growth = 1.2;
const buckets = 76;
/** After this many samples all counts are halved: a method's latency is that of its last thousand or so calls. */
const halveAt = 2_000;
/** Fewer samples than this give no quantile. */
const samplesMin = 20;
const refreshEvery = 32;

const logGrowth = Math.log(growth);
const bucketOf = (ms: number): number =>
  ms <= firstMs ? 0 : Math.min(buckets - 1, Math.ceil(Math.log(ms / firstMs) / logGrowth));
const upperMs = (bucket: number): number => firstMs * growth ** bucket;

/** The latencies of one method, in which old samples lose weight. */
class LatencyHistogram {
  readonly #counts = new Float64Array(buckets);
  #total = 0;
  #sinceRefresh = 0;
  median: number | null = null;
  p95: number | null = null;

  add(ms: number): void {
    const bucket = bucketOf(ms);
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
    this.#total += 1;
    if (this.#total >= halveAt) {
      for (let at = 0; at < buckets; at += 1) this.#counts[at] = (this.#counts[at] ?? 0) / 2;
      this.#total /= 2;
    }
    this.#sinceRefresh += 1;
    if (this.#total < samplesMin || (this.#sinceRefresh < refreshEvery && this.p95 !== null)) return;
    this.#sinceRefresh = 0;
    this.median = this.#quantile(0.5);
    this.p95 = this.#quantile(0.95);
  }

  #quantile(share: number): number {
    let left = share * this.#total;
    for (let bucket = 0; bucket < buckets; bucket += 1) {
      left -= this.#counts[bucket] ?? 0;
      if (left <= 0) return upperMs(bucket);
    }
    return upperMs(buckets - 1);
  }
}

/** Methods with a histogram each; all others share one, so that unknown method names take no memory. */
const histogramsMax = 128;

/** How long a call of each method is waited for before another node is asked as well: one histogram a method. */
export class MethodLatencies {
  readonly #histograms = new Map<string, LatencyHistogram>();
  readonly #others = new LatencyHistogram();

  add(method: string, ms: number): void {
    this.#of(method).add(ms);
  }

  /**
   * The method's 95th percentile, and at least half as much again as its median: where latencies lie close together one
   * call in twenty is over the former without being slow. Null with fewer than twenty samples.
   */
  hedgeAfterMs(method: string): number | null {
    const { median, p95 } = this.#of(method);
    if (median === null || p95 === null) return null;
    return Math.max(p95, median * 1.5, hedgeMsMin);
  }

  /** A call that takes this long counts as lost, whatever the budget for hedges allows. */
  stalledAfterMs(method: string): number {
    const { p95 } = this.#of(method);
    return Math.min(Math.max((p95 ?? 0) * 10, stalledMsMin), stalledMsMax);
  }

  #of(method: string): LatencyHistogram {
    const known = this.#histograms.get(method);
    if (known !== undefined) return known;
    if (this.#histograms.size >= histogramsMax) return this.#others;
    const histogram = new LatencyHistogram();
    this.#histograms.set(method, histogram);
    return histogram;
  }
}

/** Below this the jitter of the machine itself would cause hedges. */
const hedgeMsMin = 5;
const stalledMsMin = 2_000;
const stalledMsMax = 10_000;
