const seconds = 60;

interface Second {
  second: number;
  requests: number;
  failures: number;
  latencyMs: number;
}

/** Requests of the last minute, by the second: sixty cells, whatever the traffic. */
export class RequestStats {
  readonly #clock: { monotonic(): number };
  readonly #cells: Second[] = Array.from({ length: seconds }, () => ({
    second: -1,
    requests: 0,
    failures: 0,
    latencyMs: 0,
  }));
  readonly #startedSecond: number;

  constructor(dependencies: { readonly clock: { monotonic(): number } }) {
    this.#clock = dependencies.clock;
    this.#startedSecond = this.#second();
  }

  add(status: number, latencyMs: number): void {
    const second = this.#second();
    const cell = this.#cells[second % seconds];
    if (cell === undefined) return;
    if (cell.second !== second) Object.assign(cell, { second, requests: 0, failures: 0, latencyMs: 0 });
    cell.requests += 1;
    cell.latencyMs += latencyMs;
    if (status >= 500) cell.failures += 1;
  }

  /** Mean time of an answer, answers a second, and the share of internal errors in percent. */
  lastMinute(): { averageLatencyMs: number; requestRate: number; errorRate: number } {
    const now = this.#second();
    let [requests, failures, latencyMs] = [0, 0, 0];
    for (const cell of this.#cells) {
      if (cell.second <= now - seconds) continue;
      requests += cell.requests;
      failures += cell.failures;
      latencyMs += cell.latencyMs;
    }
    const lasted = Math.min(seconds, Math.max(1, now - this.#startedSecond));
    return {
      averageLatencyMs: requests === 0 ? 0 : latencyMs / requests,
      requestRate: requests / lasted,
      errorRate: requests === 0 ? 0 : (100 * failures) / requests,
    };
  }

  #second(): number {
    return Math.floor(this.#clock.monotonic() / 1_000);
  }
}
