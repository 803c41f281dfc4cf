/** The weight of a new sample in the moving averages: the last ten or so calls decide. */
const sampleWeight = 0.2;
/** What a latency or an error is worth when so long has passed since it was measured: half. */
const halfLifeMs = 5_000;
const faded = (ageMs: number): number => 2 ** (-ageMs / halfLifeMs);
/** A share of errors below this is none; some sixty good calls after one that failed. */
const errorRateMin = 1e-6;
/** The share of passing calls below which a node is not counted as worse still. */
const passesMin = 0.01;

/** What came of a node's last calls. All moments are monotonic milliseconds. */
export class NodeAverages {
  #latencyMs: number | null = null;
  #errorRate = 0;
  /** When a latency was last measured, and when anything came of a call. */
  #sampledAtMs = 0;
  #askedAtMs = 0;

  get latencyMs(): number | null {
    return this.#latencyMs;
  }

  get errorRate(): number {
    return this.#errorRate;
  }

  /** One call more; without a latency where it tells nothing of how quick the node is. */
  add(latencyMs: number | null, error: 0 | 1, nowMs: number): void {
    const errorRate = this.#errorRate + sampleWeight * (error - this.#errorRate);
    this.#errorRate = errorRate < errorRateMin ? 0 : errorRate;
    this.#askedAtMs = nowMs;
    if (latencyMs === null) return;
    this.#sampledAtMs = nowMs;
    this.#latencyMs =
      this.#latencyMs === null ? latencyMs : this.#latencyMs + sampleWeight * (latencyMs - this.#latencyMs);
  }

  /**
   * Latency, made worse by load and by errors. What is known of a node that was not asked for a while counts less and less,
   * so that one slow answer does not shut it out.
   *
   * Errors weigh more than any load does: a node that fails at once never has calls under way, and looks idle beside the
   * ones that do the work. Measured with one of three nodes that fails every call, 24 readers (bench/failover): 46% of the
   * reads went there while errors made it five times dearer at most, 0.2% with this factor.
   */
  cost(load: number, nowMs: number): number {
    const latencyMs = (this.#latencyMs ?? 1) * faded(nowMs - this.#sampledAtMs);
    const errors = this.recentErrors(nowMs);
    return latencyMs * load * ((1 + 4 * errors) / Math.max(1 - errors, passesMin));
  }

  recentErrors(nowMs: number): number {
    return this.#errorRate === 0 ? 0 : this.#errorRate * faded(nowMs - this.#askedAtMs);
  }
}
