interface Bucket {
  readonly index: number;
  upMs: number;
  totalMs: number;
  readonly counts: Map<string, number>;
}

const bucketMs = 15 * 60_000;
const buckets = (24 * 3_600_000) / bucketMs;

/**
 * Counts and the share of time up over the last 24 hours, in steps of a quarter of an hour; its memory is bounded by
 * them.
 */
export class DayCounters {
  #buckets: Bucket[] = [];

  count(name: string, nowMs: number): void {
    const { counts } = this.#bucketAt(nowMs);
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }

  elapse(durationMs: number, isUp: boolean, nowMs: number): void {
    const bucket = this.#bucketAt(nowMs);
    bucket.totalMs += durationMs;
    if (isUp) bucket.upMs += durationMs;
  }

  sum(name: string, nowMs: number): number {
    this.#bucketAt(nowMs);
    return this.#buckets.reduce((total, bucket) => total + (bucket.counts.get(name) ?? 0), 0);
  }

  /** Percent of the time that was up; 0 while no time has passed. */
  uptimePercent(nowMs: number): number {
    this.#bucketAt(nowMs);
    const totalMs = this.#buckets.reduce((total, bucket) => total + bucket.totalMs, 0);
    const upMs = this.#buckets.reduce((total, bucket) => total + bucket.upMs, 0);
    return totalMs === 0 ? 0 : (upMs / totalMs) * 100;
  }

  #bucketAt(nowMs: number): Bucket {
    const index = Math.floor(nowMs / bucketMs);
    const newest = this.#buckets.at(-1);
    if (newest !== undefined && newest.index >= index) return newest;
    const bucket = { index, upMs: 0, totalMs: 0, counts: new Map<string, number>() };
    this.#buckets = [...this.#buckets.filter((each) => each.index > index - buckets), bucket];
    return bucket;
  }
}
