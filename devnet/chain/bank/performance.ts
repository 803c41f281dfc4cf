import type { BankSlot } from "../model/index.ts";

const sampleSeconds = 60n;
/** Samples kept: twelve hours. */
const samplesMax = 720;

interface PerformanceSample {
  readonly slot: bigint;
  readonly numTransactions: bigint;
  readonly numNonVoteTransactions: bigint;
  readonly numSlots: bigint;
  readonly samplePeriodSecs: number;
}

/** Transactions and slots of each minute, by the chain's own clock. */
export class PerformanceSamples {
  #start: BankSlot;
  #samples: PerformanceSample[] = [];

  constructor(genesis: BankSlot) {
    this.#start = genesis;
  }

  frozen(bank: BankSlot): void {
    const seconds = bank.time - this.#start.time;
    if (seconds < sampleSeconds) return;
    const numTransactions = bank.transactionCount - this.#start.transactionCount;
    this.#samples.unshift({
      slot: bank.slot,
      numTransactions,
      numNonVoteTransactions: numTransactions - (bank.voteCount - this.#start.voteCount),
      numSlots: bank.slot - this.#start.slot,
      samplePeriodSecs: Math.min(Number(seconds), 65_535),
    });
    this.#samples = this.#samples.slice(0, samplesMax);
    this.#start = bank;
  }

  /** Slots after `parent` are abandoned: nothing is counted from them. */
  abandoned(parent: BankSlot): void {
    if (this.#start.slot > parent.slot) this.#start = parent;
    this.#samples = this.#samples.filter(({ slot }) => slot <= parent.slot);
  }

  /** Newest first. */
  newest(limit: number): readonly PerformanceSample[] {
    return this.#samples.slice(0, limit);
  }
}
