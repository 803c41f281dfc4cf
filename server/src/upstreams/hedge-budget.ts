/** Calls beyond the clients' own, as a share of them (decisions: Upstream choice). */
const share = 0.05;
/** What may be saved up: a burst of slow answers gets this many hedges at once. */
const savedMax = 20;

/** Bounds hedges to 5% of the reads, so that a slow network is not made slower by them. */
export class HedgeBudget {
  #tokens = savedMax / 2;

  /** A client's own read was made. */
  earned(): void {
    this.#tokens = Math.min(savedMax, this.#tokens + share);
  }

  /** Whether one hedge may be made; it is paid then. */
  take(): boolean {
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }
}
