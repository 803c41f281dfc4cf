import type { Clock } from "@sluice/lib";

/** The chain's present position, by a node's answer. */
export interface ChainPosition {
  readonly slot: bigint;
  readonly blockHeight: bigint;
  readonly transactionCount: bigint;
}

export interface Pulse {
  readonly slot: bigint | null;
  readonly blockHeight: bigint | null;
  /** Over the last seconds; null until two readings have been made. */
  readonly transactionsPerSecond: number | null;
}

interface Reading extends ChainPosition {
  readonly atMs: number;
}

const windowMs = 10_000;
const unknown: Pulse = { slot: null, blockHeight: null, transactionsPerSecond: null };

/**
 * The chain's beat for people: position and transactions a second from readings of the last ten seconds. It reads only
 * when it is asked, and once for all who ask at the same time.
 */
export class ChainPulse {
  readonly #read: () => Promise<ChainPosition>;
  readonly #clock: Clock;
  #readings: Reading[] = [];
  #reading: Promise<Pulse> | null = null;

  constructor(read: () => Promise<ChainPosition>, clock: Clock) {
    this.#read = read;
    this.#clock = clock;
  }

  /** Never rejects: a chain that cannot be read has no pulse. */
  now(): Promise<Pulse> {
    this.#reading ??= this.#take().finally(() => {
      this.#reading = null;
    });
    return this.#reading;
  }

  async #take(): Promise<Pulse> {
    try {
      const reading = { ...(await this.#read()), atMs: this.#clock.monotonic() };
      // A chain that went back has been started anew: what was counted before says nothing of it.
      const last = this.#readings.at(-1);
      if (last !== undefined && reading.transactionCount < last.transactionCount) this.#readings = [];
      this.#readings = [...this.#readings.filter((each) => reading.atMs - each.atMs <= windowMs), reading];
      return { slot: reading.slot, blockHeight: reading.blockHeight, transactionsPerSecond: this.#rate(reading) };
    } catch {
      this.#readings = [];
      return unknown;
    }
  }

  #rate(last: Reading): number | null {
    const first = this.#readings[0];
    if (first === undefined || last.atMs - first.atMs < 500) return null;
    const transactions = Number(last.transactionCount - first.transactionCount);
    return Math.round((transactions / (last.atMs - first.atMs)) * 10_000) / 10;
  }
}
